import { Badge, Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { AppClient } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApp } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Loaded } from '../ui/states.tsx'

/** A kind of provider as data: its operations and what they take. */
interface Kind {
  readonly label: string
  /** Below `/notifications`, such as `push/v1/providers/fcm`. */
  readonly path: string
  readonly fields: readonly Field[]
  readonly initial?: Values
  /** There can be several, told apart by `providerId`. */
  readonly isSeveral?: boolean
  /** Updates take the whole of it, and there is nothing to create. */
  readonly isSwitch?: boolean
  readonly trial: readonly Field[]
  readonly hasSecret?: boolean
}

const enabled: Field = { name: 'isEnabled', label: 'Is used', kind: 'yes' }
const custom: readonly Field[] = [
  enabled,
  { name: 'webhookURL', label: 'Address', hint: 'https, at a public address', required: true },
  { name: 'useBasicAuth', label: 'Sends user name and password', kind: 'yes' },
  { name: 'basicAuthUsername', label: 'User name' },
  { name: 'basicAuthPassword', label: 'Password', kind: 'password' },
]
const customStart: Values = { isEnabled: true, useBasicAuth: false, basicAuthUsername: '', basicAuthPassword: '' }

const kinds: Readonly<Record<string, readonly Kind[]>> = {
  Push: [
    {
      label: 'FCM',
      path: 'push/v1/providers/fcm',
      isSeveral: true,
      fields: [
        { name: 'providerId', label: 'ID', required: true },
        {
          name: 'serviceAccountCreds',
          label: 'Service account',
          kind: 'json',
          hint: 'The file that Google gives',
          required: true,
        },
        { name: 'notificationInPayload', label: 'What the system shows by itself', kind: 'json' },
      ],
      trial: [{ name: 'pushToken', label: 'Registered token of a device', required: true }],
    },
    {
      label: 'APNs',
      path: 'push/v1/providers/apns',
      isSeveral: true,
      fields: [
        { name: 'providerId', label: 'ID', required: true },
        { name: 'keyId', label: 'Key ID', required: true },
        { name: 'teamId', label: 'Team ID', required: true },
        { name: 'bundleId', label: 'Bundle ID', required: true },
        { name: 'p8Key', label: 'Key', kind: 'long', hint: 'What is in the .p8 file', required: true },
        { name: 'productionMode', label: 'Production, not the sandbox', kind: 'yes' },
        { name: 'includeContentAvailable', label: 'content-available', kind: 'yes' },
        { name: 'includeMutableContent', label: 'mutable-content', kind: 'yes' },
      ],
      trial: [{ name: 'pushToken', label: 'Registered token of a device', required: true }],
    },
    {
      label: 'Web Push',
      path: 'push/v1/providers/web_push',
      isSwitch: true,
      fields: [enabled],
      trial: [{ name: 'subscription', label: 'Subscription of a browser', kind: 'json', required: true }],
    },
    {
      label: 'An address of yours',
      path: 'push/v1/providers/custom',
      hasSecret: true,
      fields: [...custom, { name: 'batchSize', label: 'Notifications in one request', kind: 'number', min: 1 }],
      initial: customStart,
      trial: [],
    },
  ],
  'E-mail': [
    {
      label: 'SendGrid',
      path: 'email/v1/providers/sendgrid',
      fields: [
        enabled,
        { name: 'sendGridApiKey', label: 'API key', kind: 'password', required: true },
        { name: 'sendGridTemplateID', label: 'Template ID', required: true },
        { name: 'sendGridUnsubscribeGroupID', label: 'Unsubscribe group ID', required: true },
        { name: 'senderName', label: 'Name of the sender', required: true },
        { name: 'senderEmail', label: 'Address of the sender', kind: 'email', required: true },
        { name: 'allowEmailReplies', label: 'Replies become messages', kind: 'yes' },
        { name: 'senderEmailForReplies', label: 'Address for replies', kind: 'email' },
      ],
      initial: { isEnabled: true },
      trial: [{ name: 'email', label: 'E-mail address', kind: 'email', required: true }],
    },
    {
      label: 'Mail server (SMTP)',
      path: 'email/v1/providers/smtp',
      isSwitch: true,
      fields: [enabled],
      trial: [{ name: 'email', label: 'E-mail address', kind: 'email', required: true }],
    },
    {
      label: 'An address of yours',
      path: 'email/v1/providers/custom',
      hasSecret: true,
      fields: [...custom, { name: 'useStoredEmailID', label: 'Only for users whose address is stored', kind: 'yes' }],
      initial: { ...customStart, useStoredEmailID: false },
      trial: [],
    },
  ],
  SMS: [
    {
      label: 'Twilio',
      path: 'sms/v1/providers/twilio',
      fields: [
        enabled,
        { name: 'twilioAccountSID', label: 'Account SID', required: true },
        { name: 'twilioAuthToken', label: 'Auth token', kind: 'password', required: true },
        {
          name: 'twilioSenderPhoneNumber',
          label: 'Sender',
          hint: 'A number with +, a name, or a messaging service',
          required: true,
        },
      ],
      initial: { isEnabled: true },
      trial: [{ name: 'phno', label: 'Phone number with +', required: true }],
    },
    {
      label: 'An address of yours',
      path: 'sms/v1/providers/custom',
      hasSecret: true,
      fields: [...custom, { name: 'useStoredPhNo', label: 'Only for users whose number is stored', kind: 'yes' }],
      initial: { ...customStart, useStoredPhNo: false },
      trial: [],
    },
  ],
}

/** Operations of providers, which the table above names by their paths: there is one of each kind. */
type AnyCall = (key: string, input?: object) => Promise<Record<string, unknown>>
const callOf = ({ call }: AppClient) => call as unknown as AnyCall
/** What is set up of one kind. */
function rowsIn(answer: Record<string, unknown>): readonly Values[] {
  if (Array.isArray(answer.pushProviders)) return answer.pushProviders as Values[]
  return Object.keys(answer).length === 0 ? [] : [answer]
}

/** By whom notifications are sent, by channel. */
export function Providers() {
  return (
    <Stack>
      {Object.entries(kinds).map(([channel, kinds]) => (
        <Section key={channel} title={channel}>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            {kinds.map((kind) => (
              <Provider key={kind.path} kind={kind} />
            ))}
          </SimpleGrid>
        </Section>
      ))}
    </Stack>
  )
}

function Provider({ kind }: { readonly kind: Kind }) {
  const { appId, client } = useApp()
  const save = useSave()
  const call = callOf(client)
  const [secret, setSecret] = useState<string>()
  const { label, path, fields, initial = {}, isSeveral = false, isSwitch = false } = kind
  const key = ['provider', appId, path]
  const address = `/notifications/${path}`
  const query = useQuery({ queryKey: key, queryFn: async () => rowsIn(await call(`GET ${address}`)) })
  const create = (values: Values) =>
    save({
      run: async () => {
        // What may be empty is sent as such.
        const made = await call(`POST ${address}`, { ...initial, ...values })
        if (typeof made.secret === 'string') setSecret(made.secret)
      },
      done: `${label} was set up`,
      refresh: [key],
    })
  return (
    <Card withBorder component="article" aria-label={label}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fw={600}>{label}</Text>
          {!isSwitch && (isSeveral || query.data?.length === 0) && (
            <FormButton
              button="Set up"
              size="compact-sm"
              variant="default"
              title={`Set up ${label}`}
              fields={fields}
              initial={initial}
              onSubmit={create}
            />
          )}
        </Group>
        {secret !== undefined && (
          <Secret label="Secret of signatures" value={secret} onDone={() => setSecret(undefined)} />
        )}
        <Loaded query={query}>
          {(rows) =>
            rows.length === 0 && isSwitch ? (
              <NotAskedYet kind={kind} />
            ) : rows.length === 0 ? (
              <Text size="sm" c="dimmed">
                Not set up
              </Text>
            ) : (
              rows.map((row) => (
                <OneProvider key={String(row.providerId ?? path)} kind={kind} row={row} onSecret={setSecret} />
              ))
            )
          }
        </Loaded>
      </Stack>
    </Card>
  )
}

/** Web Push is on without being set up: its keys are made when a browser asks for them. */
function NotAskedYet({ kind }: { readonly kind: Kind }) {
  const { appId, client } = useApp()
  const act = useAct()
  const { label, path } = kind
  return (
    <Group>
      <Text size="sm" c="dimmed">
        On. No browser has asked for its key yet.
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        onClick={() =>
          void act({
            run: () => callOf(client)(`PUT /notifications/${path}`, { isEnabled: false }),
            done: `${label} is off`,
            refresh: [['provider', appId, path]],
          })
        }
      >
        Turn off
      </Button>
    </Group>
  )
}

function OneProvider({
  kind,
  row,
  onSecret,
}: {
  readonly kind: Kind
  readonly row: Values
  readonly onSecret: (secret: string) => void
}) {
  const { appId, client } = useApp()
  const act = useAct()
  const save = useSave()
  const call = callOf(client)
  const { label, path, fields, trial, isSeveral = false, isSwitch = false, hasSecret = false } = kind
  const address = `/notifications/${path}`
  const refresh = [['provider', appId, path]]
  const id = isSeveral ? { providerId: row.providerId } : {}
  const inPath = isSeveral ? '/{providerId}' : ''
  const attempt = async (values: Values) => {
    const outcome = await call(`POST ${address}/test${inPath}`, { ...id, ...values })
    const { success, error, status, answer } = outcome as {
      success: boolean
      error?: string
      status?: number
      answer?: string
    }
    if (!success) throw new Error([error, status, answer].filter((one) => one !== undefined).join(' '))
  }
  const shown = Object.entries(row).filter(([, value]) => typeof value !== 'object')
  return (
    <Stack gap={4}>
      <Facts
        facts={Object.fromEntries(
          shown.map(([name, value]) => [labelOf(name, fields), <Shown key={name} value={value} />]),
        )}
      />
      <Group gap={4}>
        <FormButton
          button="Change"
          size="compact-sm"
          variant="default"
          title={`Change ${label}`}
          fields={isSeveral ? fields.filter(({ name }) => name !== 'providerId') : fields}
          initial={row}
          changesOnly={!isSwitch}
          onSubmit={(values) =>
            save({
              run: () => call(`PUT ${address}`, { ...id, ...(isSwitch && { isEnabled: false }), ...values }),
              done: `${label} was changed`,
              refresh,
            })
          }
        />
        {trial.length > 0 ? (
          <FormButton
            button="Try it"
            size="compact-sm"
            variant="default"
            title={`Try ${label}`}
            verb="Try it"
            fields={trial}
            onSubmit={(values) => save({ run: () => attempt(values), done: 'The provider has taken it' })}
          />
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => void act({ run: () => attempt({}), done: 'It was taken' })}
          >
            Try it
          </Button>
        )}
        {isSeveral && row.isDefault !== true && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() =>
              void act({
                run: () => call(`PUT ${address}/default/{providerId}`, id),
                done: 'It is the default now',
                refresh,
              })
            }
          >
            Make it the default
          </Button>
        )}
        {hasSecret && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={async () => {
              const renewed = await act({
                run: () => call(`POST ${address}/secret`),
                done: 'There is a new secret',
                question: {
                  title: 'Make a new secret?',
                  text: 'Requests are signed with it at once, and no longer with the old one: who checks that refuses them until they have the new one.',
                  label: 'New secret',
                },
              })
              if (typeof renewed?.secret === 'string') onSecret(renewed.secret)
            }}
          >
            New secret
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          onClick={() =>
            void act({
              run: () => call(`DELETE ${address}${inPath}`, id),
              done: `${label} was removed`,
              refresh,
              question: { title: `Remove ${label}?`, text: 'Nothing is sent by it any more.', label: 'Remove' },
            })
          }
        >
          Remove
        </Button>
      </Group>
    </Stack>
  )
}

const otherLabels: Readonly<Record<string, string>> = {
  isAvailable: 'The deployment has one',
  isDefault: 'Is the default',
  providerId: 'ID',
  publicKey: 'Public key',
}

function labelOf(name: string, fields: readonly Field[]): string {
  return fields.find((field) => field.name === name)?.label ?? otherLabels[name] ?? name
}

function Shown({ value }: { readonly value: unknown }) {
  if (typeof value === 'boolean') {
    return (
      <Badge variant="light" color={value ? 'teal' : 'gray'} tt="none">
        {value ? 'yes' : 'no'}
      </Badge>
    )
  }
  return (
    <Text size="sm" span>
      {String(value)}
    </Text>
  )
}
