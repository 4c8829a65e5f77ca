import { Anchor, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import type { NotificationLog, Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useApp, useCan } from '../shell/session.tsx'
import { AddressInput } from '../ui/AddressInput.tsx'
import { useAct } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { userAddress } from '../ui/addresses.ts'
import { FormButton, type Values } from '../ui/Form.tsx'
import { useRows } from '../ui/lists.ts'
import { OpenedDrawer, useOpened } from '../ui/Opened.tsx'
import { Facts, Section, SmallTable, Status, Time } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'
import { Table } from '../ui/Table.tsx'

const channels = ['push', 'email', 'sms'] as const
const outcomes = [
  { value: 'true', label: 'Taken by the provider' },
  { value: 'false', label: 'Failed' },
  { value: 'stopped', label: 'Not sent: a gate stopped it' },
]
const providers = ['fcm', 'apns', 'web_push', 'sendgrid', 'smtp', 'twilio', 'custom'] as const
type Provider = (typeof providers)[number]

function outcomeOf({ success, reason, notificationTriggered }: NotificationLog): string {
  if (success === true) return 'delivered'
  if (success === false) return 'failed'
  return notificationTriggered ? 'waiting' : (reason ?? 'stopped')
}

/** What was looked at, newest first. */
export function Log() {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const [{ channel = '', provider = '', success = '', receiver = '', message = '' }, change] = useAddress()
  const opened = useOpened('entry')
  const list = useRows<NotificationLog>(
    ['notification-log', appId, channel, provider, success, receiver, message],
    (place) =>
      client.notifications.log.list({
        limit: 100,
        ...(channel !== '' && { channel: channel as NotificationLog['channel'] }),
        ...(provider !== '' && { provider: provider as Provider }),
        ...(success === 'stopped' && { notificationTriggered: false }),
        ...(success !== '' && success !== 'stopped' && { success: success === 'true' }),
        ...(receiver !== '' && { receiver }),
        ...(/^\d+$/.test(message) && { messageId: Number(message) }),
        ...place,
      }),
    { isBackwards: true, refetchInterval: 10_000 },
  )
  const newestFirst = {
    ...list,
    rows: [...list.rows].sort((a, b) => b.processingStartedAtMS - a.processingStartedAtMS),
  }
  const again = (logId: string) =>
    act({
      run: () => client.notifications.log.redeliver({ logId }),
      done: 'It is decided and sent again',
      of: logId,
      refresh: [['notification-log', appId]],
    })
  return (
    <Stack>
      <Group>
        <Select
          aria-label="Channel"
          placeholder="Any channel"
          data={[...channels]}
          clearable
          value={channel || null}
          onChange={(next) => change({ channel: next ?? undefined })}
          w={140}
        />
        <Select
          aria-label="Outcome"
          placeholder="Any outcome"
          data={outcomes}
          clearable
          value={success || null}
          onChange={(next) => change({ success: next ?? undefined })}
          w={220}
        />
        <Select
          aria-label="Provider"
          placeholder="Any provider"
          data={[...providers]}
          clearable
          value={provider || null}
          onChange={(next) => change({ provider: next ?? undefined })}
          w={150}
        />
        <AddressInput aria-label="Receiver" placeholder="User or group ID" name="receiver" />
        <AddressInput aria-label="Message" placeholder="Message ID" name="message" />
        {can('configure') && <SendAgain />}
      </Group>
      <Table
        label="Log of notifications"
        list={newestFirst}
        idOf={({ _id }) => _id}
        onOpen={({ _id }) => opened.open(_id)}
        empty="No notification was looked at."
        columns={[
          {
            label: 'When',
            width: '11rem',
            cell: (entry) => (
              <Anchor component="button" type="button" size="sm" onClick={() => opened.open(entry._id)}>
                <Time at={entry.processingStartedAtMS / 1000} />
              </Anchor>
            ),
          },
          { label: 'To', cell: ({ uid }) => uid },
          { label: 'Channel', width: '5rem', cell: ({ channel }) => channel },
          { label: 'Provider', width: '7rem', cell: ({ provider }) => provider },
          { label: 'Because of', cell: ({ trigger }) => trigger },
          { label: 'Outcome', width: '12rem', cell: (entry) => <Status of={outcomeOf(entry)} /> },
          { label: 'Attempts', width: '5rem', cell: ({ attempts }) => attempts },
        ]}
      />
      <OpenedDrawer
        of={opened}
        title="Notification"
        queryKey={['notification-log', appId, 'entry']}
        ask={async (id) => {
          // There is no operation for one: it is the newest up to its ID.
          const isId = /^\d{1,15}$/.test(id)
          const { data } = isId
            ? await client.notifications.log.list({ affix: 'prepend', logId: String(Number(id) + 1), limit: 1 })
            : { data: [] }
          const entry = data.find(({ _id }) => _id === id)
          if (entry === undefined) throw new Error(`There is no notification with the ID ${id}, or no longer.`)
          return entry
        }}
        known={list.rows.find(({ _id }) => _id === opened.id)}
        refetchInterval={(entry) => (entry !== undefined && outcomeOf(entry) === 'waiting' ? 3_000 : false)}
      >
        {(entry) => (
          <Stack>
            {can('configure') && entry.channel === 'push' && (
              <Group>
                <Button size="xs" variant="default" onClick={() => void again(entry._id)}>
                  Send again
                </Button>
              </Group>
            )}
            <Facts
              facts={{
                Outcome: <Status of={outcomeOf(entry)} />,
                Reason: entry.reason,
                To: (
                  <Anchor component={Link} to={userAddress(appId, entry.uid)} size="sm">
                    {entry.uid}
                  </Anchor>
                ),
                Device: entry.pushToken && `${entry.tokenType} ${entry.pushToken}`,
                Provider: [entry.provider, entry.providerId].filter(Boolean).join(' '),
                Message: entry.messageId,
                Sender: entry.sender,
                Receiver: `${entry.receiverType} ${entry.receiver}`,
                'Next attempt': entry.nextAttemptAtMS && <Time at={entry.nextAttemptAtMS / 1000} />,
                'The provider said': entry.answer && `${entry.answer.status ?? ''} ${entry.answer.text ?? ''}`,
                Error: entry.error,
              }}
            />
            {entry.messageId !== undefined && <Explanation uid={entry.uid} messageId={entry.messageId} />}
          </Stack>
        )}
      </OpenedDrawer>
    </Stack>
  )
}

type Explained = Result<'GET /notifications/v1/explain'>

/** Every gate that was looked at, with its value and who set it. */
function Explanation({ uid, messageId }: { readonly uid: string; readonly messageId: number }) {
  const { appId, client } = useApp()
  const explanation = useQuery({
    queryKey: ['explain', appId, String(messageId), uid],
    queryFn: () => client.notifications.explain({ uid, messageId }),
  })
  return (
    <Section title="What was looked at">
      <Loaded query={explanation}>
        {({ notifications, unplanned, gates, channels: others = [] }) => (
          <Stack gap="xs">
            {unplanned !== undefined && (
              <Text size="sm">
                Not notified: {unplanned}. {unplannedWords[unplanned]}
              </Text>
            )}
            {gates !== undefined && <Gates label="Before anything was planned" gates={gates} />}
            {notifications.map((one) => (
              <Gates key={one._id} label={`${one.channel} by ${one.provider}: ${outcomeOf(one)}`} gates={one.gates} />
            ))}
            {others.map((one) => (
              <Text key={one.channel} size="sm">
                Not by {one.channel}: {one.unplanned}. {unplannedWords[one.unplanned]}
              </Text>
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

export function Gates({
  label,
  gates,
}: {
  readonly label: string
  readonly gates: Explained['notifications'][number]['gates']
}) {
  return (
    <Section title={label}>
      <SmallTable
        label={label}
        rows={gates}
        idOf={({ gate }) => gate}
        empty="Nothing was looked at yet."
        columns={[
          { label: 'Gate', cell: ({ gate }) => gate },
          { label: 'Value', cell: ({ value }) => String(value) },
          { label: 'Set by', cell: ({ setBy }) => setBy },
          { label: 'Lets it pass', cell: ({ passes }) => (passes ? 'yes' : <b>no</b>) },
        ]}
      />
    </Section>
  )
}

const unplannedWords: Readonly<Record<NonNullable<Explained['unplanned']>, string>> = {
  ERASED: 'The message was removed for good.',
  HELD: 'Moderation holds the message.',
  DELETED: 'The message is deleted.',
  HIDDEN: 'The message is hidden from them.',
  NOT_NOTIFYING: 'Nobody is notified of such a message, such as a custom one without sendNotification.',
  NO_EVENT: 'No event of it is in the log.',
  NO_PROVIDER: 'The app has no provider that is enabled.',
  OWN_ACTION: 'They did it themselves.',
  NOT_A_PARTICIPANT: 'They are not in the conversation, as things are now.',
  DEACTIVATED: 'They are deactivated.',
  GROUP_TOO_LARGE: 'The group has more members than the app notifies at most.',
  NOT_CHOSEN: 'Only who chose so is notified of this.',
  NO_DEVICE: 'No device of theirs is registered.',
  MESSAGES_ONLY: 'E-mails and SMS tell of new messages only.',
  NOTHING_SHOWN: 'The message that was edited or deleted was not sent to any device.',
  NOT_LISTED: 'It was read by then, or not wanted: it is not listed.',
  NOT_PLANNED: 'It was not planned then, or waits for it.',
}

/** Why a user was notified of a message, or was not. */
export function Explain() {
  const [{ message = '', uid = '' }, change] = useAddress()
  const [typed, setTyped] = useState({ message, uid })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change({ message: typed.message.trim(), uid: typed.uid.trim() })
  }
  const isAsked = uid !== '' && /^[1-9]\d{0,15}$/.test(message)
  return (
    <Stack>
      <Group component="form" onSubmit={submit} align="flex-end">
        <TextInput
          label="Message ID"
          required
          pattern="[1-9][0-9]*"
          inputMode="numeric"
          value={typed.message}
          onChange={(event) => setTyped({ ...typed, message: event.currentTarget.value })}
        />
        <TextInput
          label="User ID"
          required
          value={typed.uid}
          onChange={(event) => setTyped({ ...typed, uid: event.currentTarget.value })}
        />
        <Button type="submit">Explain</Button>
      </Group>
      {isAsked && <Explanation uid={uid} messageId={Number(message)} />}
    </Stack>
  )
}

/** Has many pushes decided and sent again: by what became of them, and when. */
function SendAgain() {
  const { appId, client } = useApp()
  const act = useAct()
  const onSubmit = async ({ status, uid, provider, from, to }: Values) => {
    const { count } = await client.notifications.log.redeliverSeveral({
      status: status as 'failed',
      ...(uid !== undefined && { uid: uid as string }),
      ...(provider !== undefined && { provider: provider as Provider }),
      ...(from !== undefined && { from: new Date(String(from)).getTime() }),
      ...(to !== undefined && { to: new Date(String(to)).getTime() }),
    })
    await act({
      run: async () => count,
      done: count === 1 ? 'One push is decided and sent again' : `${count} pushes are decided and sent again`,
      refresh: [['notification-log', appId]],
    })
  }
  return (
    <FormButton
      button="Send pushes again"
      variant="default"
      title="Send pushes again"
      verb="Send again"
      fields={[
        {
          ...{ name: 'status', label: 'Which', kind: 'choice', required: true },
          options: ['failed', 'stopped', 'delivered'],
          hint: 'What a gate stops now is not sent',
        },
        { name: 'uid', label: 'Of the user', hint: 'User ID' },
        { name: 'provider', label: 'By the provider', kind: 'choice', options: providers },
        { name: 'from', label: 'From', kind: 'datetime-local' },
        { name: 'to', label: 'Until', kind: 'datetime-local' },
      ]}
      initial={{ status: 'failed' }}
      onSubmit={onSubmit}
    />
  )
}

/** What a user has unsubscribed from by the link in e-mails. */
export function Unsubscriptions() {
  const { appId, client } = useApp()
  const [{ uid = '' }, change] = useAddress()
  const [typed, setTyped] = useState(uid)
  const query = useQuery({
    queryKey: ['unsubscriptions', appId, uid],
    queryFn: () => client.notifications.unsubscriptions.list({}, { onBehalfOf: uid }),
    enabled: uid !== '',
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change({ uid: typed.trim() })
  }
  return (
    <Stack>
      <Group component="form" onSubmit={submit} align="flex-end">
        <TextInput label="User ID" required value={typed} onChange={(event) => setTyped(event.currentTarget.value)} />
        <Button type="submit">Show</Button>
      </Group>
      <Text size="sm" c="dimmed">
        By the link in e-mails. Operators do not act as users: who asks to be subscribed again is so by your server.
      </Text>
      {uid !== '' && (
        <Loaded query={query}>
          {({ unsubscriptions }) => (
            <SmallTable
              label="Unsubscriptions"
              rows={unsubscriptions}
              idOf={(one) => `${one.channel} ${one.conversationId}`}
              empty="They have not unsubscribed from anything."
              columns={[
                { label: 'Channel', cell: ({ channel }) => channel },
                { label: 'Of', cell: ({ conversationId }) => conversationId ?? 'all conversations' },
                { label: 'Since', cell: ({ since }) => <Time at={since / 1000} /> },
              ]}
            />
          )}
        </Loaded>
      )}
    </Stack>
  )
}
