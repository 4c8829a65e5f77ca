import { Button, Code, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import type { AdminResult } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { admin } from '../api.ts'
import { useMe } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { appsInWords } from '../ui/apps.ts'
import { type Field, Form, FormButton, type Values } from '../ui/Form.tsx'
import { Facts, Page, Section, SmallTable, Time } from '../ui/page.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Loaded } from '../ui/states.tsx'

/** The own account: password, second factor, sessions, personal tokens. */
export function Account() {
  const me = useMe()
  return (
    <Page title="Your account">
      <Paper withBorder p="sm" maw={640}>
        <Facts
          facts={{
            Name: me.name,
            'E-mail address': me.email,
            Role: me.role,
            Apps: appsInWords(me.apps),
            'Reads texts': me.mayRead ? 'yes, for a reason' : 'no',
            'Second factor': me.hasTotp ? 'authenticator app' : 'none',
            'OpenID Connect': me.issuer,
          }}
        />
      </Paper>
      {me.hasPassword ? (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
          <Password />
          <SecondFactor />
          <Link />
        </SimpleGrid>
      ) : (
        <Text size="sm">You sign in by {me.issuer}. Your password and second factor are there.</Text>
      )}
      <Sessions />
      <Tokens />
    </Page>
  )
}

function Password() {
  const save = useSave()
  const [count, setCount] = useState(0)
  const fields: readonly Field[] = [
    { name: 'current', label: 'Password of now', kind: 'password', required: true },
    { name: 'password', label: 'New password', kind: 'password', hint: 'At least 12 characters', required: true },
  ]
  const change = async (values: Values) => {
    await save({
      run: () => admin('PUT /password', values as never),
      done: 'The password was changed; your other sessions ended',
      refresh: [['own-sessions']],
    })
    setCount(count + 1)
  }
  return (
    <Section title="Password">
      <Form key={count} fields={fields} label="Change the password" onSubmit={change} />
    </Section>
  )
}

function SecondFactor() {
  const me = useMe()
  const save = useSave()
  const [begun, setBegun] = useState<AdminResult<'POST /totp'>>()
  const password: Field = { name: 'password', label: 'Your password', kind: 'password', required: true }
  const refresh = [['me']]
  if (me.hasTotp) {
    return (
      <Section title="Second factor">
        <Text size="sm">You are asked for a code of your authenticator app when you sign in.</Text>
        <Form
          fields={[password]}
          label="Stop using it"
          onSubmit={(values) =>
            save({ run: () => admin('DELETE /totp', values as never), done: 'The second factor is off', refresh })
          }
        />
      </Section>
    )
  }
  if (begun === undefined) {
    return (
      <Section title="Second factor">
        <Text size="sm">With an authenticator app, a password alone lets nobody in.</Text>
        <Form
          fields={[password]}
          label="Set one up"
          onSubmit={async (values) => setBegun(await admin('POST /totp', values as never))}
        />
      </Section>
    )
  }
  return (
    <Section title="Second factor">
      <Stack gap="xs">
        <Text size="sm">Put this secret into your authenticator app, then type the code that it shows.</Text>
        <Code>{begun.secret}</Code>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {begun.address}
        </Text>
        <Form
          fields={[{ name: 'code', label: 'Code', required: true, max: 6 }]}
          label="Confirm"
          onSubmit={async (values) => {
            await save({
              run: () => admin('POST /totp/confirm', values as never),
              done: 'The second factor is on',
              refresh,
            })
            setBegun(undefined)
          }}
        />
      </Stack>
    </Section>
  )
}

/** The own account at the provider by which one can sign in, where there is one. */
function Link() {
  const me = useMe()
  const save = useSave()
  const provider = useQuery({ queryKey: ['sign-in-provider'], queryFn: () => admin('GET /sign-in/provider') })
  const password: Field = { name: 'password', label: 'Your password', kind: 'password', required: true }
  const name = provider.data?.name
  if (me.issuer !== undefined) {
    return (
      <Section title="OpenID Connect">
        <Text size="sm">You can sign in by {me.issuer}, which then asks for no code of your authenticator app.</Text>
        <Form
          fields={[password]}
          label="Unlink it"
          onSubmit={(values) =>
            save({
              run: () => admin('DELETE /link', values as never),
              done: 'You sign in by your password only',
              refresh: [['me']],
            })
          }
        />
      </Section>
    )
  }
  if (name === undefined) return null
  return (
    <Section title="OpenID Connect">
      <Text size="sm">Link your account at {name}, to sign in by it instead of your password.</Text>
      <Form
        fields={[password]}
        label={`Link with ${name}`}
        onSubmit={async (values) => location.assign((await admin('POST /link', values as never)).address)}
      />
    </Section>
  )
}

function Sessions() {
  const act = useAct()
  const sessions = useQuery({ queryKey: ['own-sessions'], queryFn: () => admin('GET /sessions') })
  return (
    <Section title="Sessions">
      <Loaded query={sessions}>
        {(sessions) => (
          <SmallTable
            label="Sessions"
            rows={sessions}
            idOf={({ id }) => id}
            empty="There is none."
            columns={[
              { label: 'Browser', cell: ({ agent }) => agent ?? 'unknown' },
              { label: 'From', cell: ({ address }) => address },
              { label: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
              { label: 'Last used', cell: ({ usedAt }) => <Time at={usedAt} /> },
              {
                label: 'Action',
                cell: ({ id, isThis }) =>
                  isThis ? (
                    'this one'
                  ) : (
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() =>
                        void act({
                          run: () => admin('DELETE /sessions/{id}', { id }),
                          done: 'The session was ended',
                          of: id,
                          refresh: [['own-sessions']],
                        })
                      }
                    >
                      End
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Tokens() {
  const me = useMe()
  const act = useAct()
  const save = useSave()
  const tokens = useQuery({ queryKey: ['own-tokens'], queryFn: () => admin('GET /tokens') })
  const [made, setMade] = useState<string>()
  const refresh = [['own-tokens']]
  const fields: readonly Field[] = [
    { name: 'name', label: 'What it is for', required: true, max: 100 },
    { name: 'rights', label: 'Rights', kind: 'choices', options: me.rights, required: true },
    { name: 'apps', label: 'Only for these apps', kind: 'apps', hint: 'None chosen: all of yours' },
    { name: 'days', label: 'Valid for days', kind: 'number', min: 1, max: 366, required: true },
  ]
  return (
    <Section
      title="Personal tokens"
      actions={
        <FormButton
          button="Create a token"
          size="xs"
          title="Create a personal token"
          fields={fields}
          initial={{ days: 90, rights: ['look'] }}
          onSubmit={async ({ apps: of, ...values }) => {
            const isOfSome = Array.isArray(of) && of.length > 0
            const run = () => admin('POST /tokens', { ...values, ...(isOfSome && { apps: of }) } as never)
            setMade((await save({ run, done: 'The token was created', refresh })).token)
          }}
        />
      }
    >
      <Text size="sm" c="dimmed">
        For scripts that call the admin API: <Code>Authorization: Bearer …</Code>
      </Text>
      {made !== undefined && <Secret label="Your token" value={made} onDone={() => setMade(undefined)} />}
      <Loaded query={tokens}>
        {(tokens) => (
          <SmallTable
            label="Personal tokens"
            rows={tokens}
            idOf={({ id }) => id}
            empty="You have none."
            columns={[
              { label: 'Name', cell: ({ name }) => name },
              { label: 'Rights', cell: ({ rights }) => rights.join(', ') },
              { label: 'Apps', cell: ({ apps }) => appsInWords(apps, 'all of yours') },
              { label: 'Valid until', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
              { label: 'Last used', cell: ({ usedAt }) => <Time at={usedAt} /> },
              {
                label: 'Action',
                cell: ({ id, name }) => (
                  <Button
                    size="compact-xs"
                    variant="default"
                    onClick={() =>
                      void act({
                        run: () => admin('DELETE /tokens/{id}', { id }),
                        done: 'The token was deleted',
                        of: id,
                        refresh,
                        question: {
                          title: `Delete the token ${name}?`,
                          text: 'Scripts that use it are refused at once, and need another one.',
                          label: 'Delete',
                        },
                      })
                    }
                  >
                    Delete
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
