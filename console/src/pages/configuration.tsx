import { Button, Code, Text } from '@mantine/core'
import type { Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { limitsOf, settingsOf } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { type Field, Form, FormButton, type Values } from '../ui/Form.tsx'
import { shownValue } from '../ui/figures.ts'
import { useRows } from '../ui/lists.ts'
import { Facts, Page, Section, SmallTable, Time } from '../ui/page.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Loaded } from '../ui/states.tsx'
import { Table } from '../ui/Table.tsx'

type AppSettings = Result<'GET /apps/{appId}/settings'>

const choices: Readonly<Record<string, readonly string[]>> = {
  authKeys: ['full', 'createOnly'],
  addMembers: ['everybody', 'friends', 'nobody'],
  messageRetention: ['delete', 'strip'],
  personExports: ['onRelease', 'atOnce'],
  fileLinks: ['permanent', 'signed'],
}

const hints: Readonly<Record<string, string>> = {
  authKeys: 'What authOnly keys can do: full is for development',
  addMembers: 'Who can add another user to a group',
  timezone: 'Of users who have not set their own',
  pushGroupSize: 'Members of the largest group whose messages are pushed; 0: no limit',
  emailGroupSize: 'Members of the largest group whose unread messages go by e-mail; 0: no limit',
  smsGroupSize: 'Members of the largest group whose unread messages go by SMS; 0: no limit',
  tokenLifetime: 'Seconds for which an auth token is valid; 0: no limit',
  tokenIdleTimeout: 'Seconds without use after which an auth token ends; 0: no limit',
  jwtIssuer: 'Who signs tokens of users beside auth tokens: iss of these JWTs. All three are needed; empty: nobody',
  jwtAudience: 'What aud of these JWTs must hold; each app should have its own',
  jwtKeysUrl: 'https address of the public keys (JWKS)',
  fileLinkSeconds: 'For how long a signed address of a file is valid at most',
  messageRetentionDays: 'Days that messages are kept, unless a group has set otherwise; 0: for ever',
  messageRetention: 'What becomes of older ones: delete removes them, strip leaves deleted messages',
  personExports: 'When the data of a person is put together after they asked for it',
  notificationLogDays: 'Days that the logs of notifications are kept',
  uploadMegabytesPerDay: 'Of one user on one day; 0: no limit',
  mediaMegabytes: 'All files of the app together; 0: no limit',
}

/** Settings of the app. */
export function Settings() {
  const { appId, client } = useApp()
  const can = useCan()
  const save = useSave()
  const settings = useQuery(settingsOf(appId))
  const [saves, setSaves] = useState(0)
  const change = async (values: Values) => {
    await save({
      run: () => client.app.updateSettings({ appId, ...values } as never),
      done: 'The settings were saved',
      refresh: [['settings', appId]],
    })
    // The form begins again with what holds now, such as the default of a number that was emptied.
    setSaves((before) => before + 1)
  }
  return (
    <Page
      title="Settings"
      hint="Of this app. What is not set here is as the service is configured, as is a number that is emptied."
    >
      <Loaded query={settings}>
        {(settings) =>
          can('configure') ? (
            <Form
              key={saves}
              fields={fieldsOf(settings)}
              initial={{ ...settings }}
              changesOnly
              label="Save"
              onSubmit={change}
            />
          ) : (
            <Facts
              facts={Object.fromEntries(
                Object.entries(settings).map(([name, value]) => [labelOf(name), shownValue(value)]),
              )}
            />
          )
        }
      </Loaded>
      <Limits />
    </Page>
  )
}

function fieldsOf(settings: AppSettings): readonly Field[] {
  return Object.entries(settings).map(([name, value]): Field => {
    const options = choices[name]
    const hint = hints[name]
    const kind =
      options !== undefined
        ? 'choice'
        : typeof value === 'number'
          ? 'number'
          : typeof value === 'boolean'
            ? 'yes'
            : 'text'
    return {
      ...{ name, label: labelOf(name), kind, required: kind === 'choice' },
      ...(options !== undefined && { options }),
      ...(hint !== undefined && { hint }),
      ...(kind === 'number' && { min: 0 }),
    }
  })
}

const labels: Readonly<Record<string, string>> = {
  jwtIssuer: 'JWT: issuer',
  jwtAudience: 'JWT: audience',
  jwtKeysUrl: 'JWT: address of the keys',
}

/** `maxGroupMembers` as words. */
function labelOf(name: string): string {
  const label = labels[name]
  if (label !== undefined) return label
  const words = name.replaceAll(/([A-Z])/g, ' $1').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const limited: Readonly<Record<string, string>> = {
  address: 'of one address',
  user: 'of one user',
  operator: 'of one operator',
  core: 'of the app: logging in, users and groups made and deleted, joining and leaving',
  standard: 'of the app: everything else',
  import: 'of the app: imports',
  sendPerUser: 'of one user: messages sent',
  markUnreadPerUser: 'of one user: conversations marked as unread',
}

/** The rate limits that hold, and how long things are kept: as the deployment is configured. */
function Limits() {
  const { appId } = useApp()
  const limits = useQuery(limitsOf(appId))
  return (
    <Loaded query={limits}>
      {({ rateLimits, keptDays }) => (
        <>
          <Section title="Rate limits">
            <Text size="sm" c="dimmed">
              Set for the whole deployment, by RATE_LIMITS. Those that are defaults do not count fullAccess keys.
            </Text>
            <SmallTable
              label="Rate limits"
              rows={rateLimits}
              idOf={({ name }) => name}
              empty="Nothing is limited."
              columns={[
                { label: 'Name', cell: ({ name }) => name },
                { label: 'Of', cell: ({ name }) => limited[name] },
                { label: 'Requests a minute', cell: ({ perMinute }) => perMinute },
                { label: 'At once', cell: ({ burst }) => burst },
                { label: 'Set by', cell: ({ isDefault }) => (isDefault ? 'default' : 'the deployment') },
              ]}
            />
          </Section>
          <Section title="How long things are kept">
            <Facts
              facts={{
                Events: `${keptDays.events} days (EVENTS_RETENTION_DAYS)`,
                'Audit log': `${keptDays.auditLog} days (AUDIT_RETENTION_DAYS)`,
                'Logs of notifications': `${keptDays.notificationLogs} days (a setting of the app)`,
              }}
            />
          </Section>
        </>
      )}
    </Loaded>
  )
}

type Key = Result<'GET /apikeys'>['data'][number]

/** API keys of the app. A new one is shown once. */
export function ApiKeys() {
  const { appId, client } = useApp()
  const act = useAct()
  const save = useSave()
  const [made, setMade] = useState<string>()
  const list = useRows<Key>(['keys', appId], (place) => client.apiKeys.list({ perPage: 100, ...place }))
  const refresh = [['keys', appId]]
  const create = async (values: Values) => {
    const run = () => client.apiKeys.create(values as never)
    setMade((await save({ run, done: 'The key was created', refresh })).apiKey)
  }
  const remove = ({ apiKey, name }: Key) =>
    act({
      run: () => client.apiKeys.delete({ apiKey }),
      done: 'The key was deleted',
      refresh,
      question: {
        title: `Delete the key ${name}?`,
        text: 'Requests with it are refused from now on.',
        label: 'Delete',
        typed: name,
      },
    })
  return (
    <Page
      title="API keys"
      hint="fullAccess keys stay on your servers; authOnly keys can be in front ends."
      actions={
        <FormButton
          button="Create a key"
          title="Create an API key"
          fields={[
            { name: 'name', label: 'Name', required: true },
            { name: 'scope', label: 'Scope', kind: 'choice', options: ['fullAccess', 'authOnly'], required: true },
          ]}
          initial={{ scope: 'fullAccess' }}
          onSubmit={create}
        />
      }
    >
      {made !== undefined && <Secret label="The new key" value={made} onDone={() => setMade(undefined)} />}
      <Table
        label="API keys"
        list={list}
        idOf={(key) => key.apiKey}
        empty={<Text>There is no key.</Text>}
        columns={[
          { label: 'Name', cell: (key) => key.name },
          { label: 'Key', cell: (key) => <Code>{`${key.apiKey.slice(0, 4)}…${key.apiKey.slice(-4)}`}</Code> },
          { label: 'Scope', width: '8rem', cell: (key) => key.scope },
          { label: 'Created', width: '11rem', cell: (key) => <Time at={key.createdAt} /> },
          {
            label: 'Action',
            width: '6rem',
            cell: (key) => (
              <Button size="compact-xs" variant="light" color="red" onClick={() => void remove(key)}>
                Delete
              </Button>
            ),
          },
        ]}
      />
    </Page>
  )
}
