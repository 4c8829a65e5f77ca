import { Button, Group, Stack, Text } from '@mantine/core'
import type { AdminResult } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { admin } from '../api.ts'
import { useMe } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { appsInWords } from '../ui/apps.ts'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { Page, Section, Status, Time } from '../ui/page.tsx'
import { SearchedTable } from '../ui/SearchedTable.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Loaded } from '../ui/states.tsx'

const roles = [
  { value: 'owner', label: 'Owner: everything' },
  { value: 'developer', label: 'Developer: all of an app, without accounts' },
  { value: 'moderator', label: 'Moderator: decisions and rules' },
  { value: 'support', label: 'Support: looks, without texts' },
]

const whichApps = [
  { value: 'all', label: 'All, those to come included' },
  { value: 'some', label: 'Only some' },
]

const grantFields: readonly Field[] = [
  { name: 'role', label: 'Role', kind: 'choice', options: roles, required: true },
  { name: 'which', label: 'Apps', kind: 'choice', options: whichApps, required: true },
  { name: 'apps', label: 'Which apps', kind: 'apps', required: true, isShown: ({ which }) => which === 'some' },
]

const mayRead = { name: 'mayRead', label: 'May read what people wrote' }

const invitationFields: readonly Field[] = [
  { name: 'email', label: 'E-mail address', kind: 'email', required: true },
  ...grantFields,
  {
    ...{ ...mayRead, kind: 'choice', required: true },
    hint: 'For a reason that is recorded. Owners, developers and moderators may by their role, support may not',
    options: [
      { value: 'role', label: 'As the role has it' },
      { value: 'yes', label: 'Yes' },
      { value: 'no', label: 'No' },
    ],
  },
]

const operatorFields: readonly Field[] = [
  ...grantFields,
  { ...mayRead, kind: 'yes', hint: 'For a reason that is recorded' },
]

/** What the form says of apps, as it is asked for. @throws Error where it is some, and none is chosen */
function grantsIn({ which, apps, ...others }: Values): Values {
  if (which === 'all') return { ...others, apps: null }
  if (which === 'some' && apps === undefined) throw new Error('Which apps: choose at least one.')
  return { ...others, ...(apps !== undefined && { apps }) }
}

type Operator = AdminResult<'GET /operators'>[number]

/** Accounts of those who look after the service, and invitations. */
export function Operators() {
  const me = useMe()
  const act = useAct()
  const save = useSave()
  const operators = useQuery({ queryKey: ['operators'], queryFn: () => admin('GET /operators') })
  const invitations = useQuery({ queryKey: ['invitations'], queryFn: () => admin('GET /invitations') })
  const [link, setLink] = useState<string>()
  const refresh = [['operators'], ['invitations']]

  const invite = async ({ mayRead, ...values }: Values) => {
    const asked = { ...grantsIn(values), ...(mayRead !== 'role' && { mayRead: mayRead === 'yes' }) }
    const run = () => admin('POST /invitations', asked as never)
    const { token } = await save({ run, done: 'The invitation was made', refresh })
    setLink(`${location.origin}/console#invitation=${token}`)
  }
  const change =
    ({ id, mayRead }: Operator) =>
    (values: Values) => {
      // Reading may come with the role: with another one it stays what the form shows.
      const asked = { ...(values.role !== undefined && { mayRead }), ...grantsIn(values) }
      return save({
        run: () => admin('PUT /operators/{id}', { id, ...asked }),
        done: 'The account was changed',
        refresh,
      })
    }
  const remove = ({ id, email }: Operator) =>
    act({
      run: () => admin('DELETE /operators/{id}', { id }),
      done: 'The account was deleted',
      refresh,
      question: {
        title: `Delete the account of ${email}?`,
        text: 'Their sessions and tokens end at once. What they did stays in the audit logs.',
        label: 'Delete',
      },
    })
  const setDisabled = ({ id, email, disabledAt }: Operator) =>
    act({
      run: () => admin('PUT /operators/{id}', { id, disabled: disabledAt === undefined }),
      done: disabledAt === undefined ? 'The account was disabled' : 'The account was enabled',
      of: id,
      refresh,
      ...(disabledAt === undefined && {
        question: {
          title: `Disable the account of ${email}?`,
          text: 'Their sessions and readings end, and their personal tokens are deleted. Enabling it brings none of them back.',
          label: 'Disable',
        },
      }),
    })

  return (
    <Page
      title="Operators"
      actions={
        <FormButton
          button="Invite somebody"
          title="Invite somebody"
          verb="Invite"
          fields={invitationFields}
          initial={{ role: 'moderator', which: 'all', apps: [], mayRead: 'role' }}
          onSubmit={invite}
        />
      }
    >
      {link !== undefined && (
        <Secret
          label="One-time address of the invitation, valid for 7 days. Send it to them yourself."
          value={link}
          onDone={() => setLink(undefined)}
        />
      )}
      <Loaded query={operators}>
        {(operators) => (
          <SearchedTable
            label="Operators"
            name="q"
            textOf={({ name, email, role, apps }) => [name, email, role, ...(apps ?? [])].join(' ')}
            rows={operators}
            idOf={({ id }) => id}
            empty="There is none."
            columns={[
              {
                label: 'Who',
                cell: ({ name, email }) => (
                  <Stack gap={0}>
                    <Text size="sm">{name}</Text>
                    <Text size="xs" c="dimmed">
                      {email}
                    </Text>
                  </Stack>
                ),
              },
              { label: 'Role', cell: ({ role }) => role },
              { label: 'Apps', cell: ({ apps }) => appsInWords(apps) },
              { label: 'Reads', cell: ({ mayRead }) => (mayRead ? 'yes' : 'no') },
              { label: 'Second factor', cell: ({ hasTotp }) => (hasTotp ? 'yes' : 'no') },
              { label: 'OpenID Connect', cell: ({ issuer }) => (issuer === undefined ? 'no' : 'yes') },
              {
                label: 'Last seen',
                cell: ({ lastSeenAt, disabledAt }) =>
                  disabledAt === undefined ? <Time at={lastSeenAt} /> : <Status of="disabled" />,
              },
              {
                label: 'Actions',
                cell: (operator) =>
                  operator.id === me.id ? (
                    'you'
                  ) : (
                    <Group gap={4}>
                      <FormButton
                        button="Change"
                        size="compact-xs"
                        variant="default"
                        title={`Change ${operator.email}`}
                        fields={operatorFields}
                        initial={{
                          ...operator,
                          ...{ which: operator.apps === null ? 'all' : 'some', apps: operator.apps ?? [] },
                        }}
                        changesOnly
                        onSubmit={change(operator)}
                      />
                      <Button size="compact-xs" variant="default" onClick={() => void setDisabled(operator)}>
                        {operator.disabledAt === undefined ? 'Disable' : 'Enable'}
                      </Button>
                      <Button size="compact-xs" variant="light" color="red" onClick={() => void remove(operator)}>
                        Delete
                      </Button>
                    </Group>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <Section title="Open invitations">
        <Loaded query={invitations}>
          {(invitations) => (
            <SearchedTable
              label="Invitations"
              name="invited"
              textOf={({ email, role, apps }) => [email, role, ...(apps ?? [])].join(' ')}
              rows={invitations}
              idOf={({ id }) => id}
              empty="Nobody is invited at the moment."
              columns={[
                { label: 'E-mail address', cell: ({ email }) => email },
                { label: 'Role', cell: ({ role }) => role },
                { label: 'Apps', cell: ({ apps }) => appsInWords(apps) },
                { label: 'Reads', cell: ({ mayRead }) => (mayRead ? 'yes' : 'no') },
                { label: 'Valid until', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  label: 'Actions',
                  cell: ({ id }) => (
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() =>
                        void act({
                          run: () => admin('DELETE /invitations/{id}', { id }),
                          done: 'The invitation was withdrawn',
                          of: id,
                          refresh,
                        })
                      }
                    >
                      Withdraw
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}
