import { Alert, Anchor, Badge, Button, Code, Group, Select, Stack, Switch, Text } from '@mantine/core'
import type { Delivery, Result, Webhook } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { texts } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { EventView } from '../ui/EventView.tsx'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { useRows } from '../ui/lists.ts'
import { useFollowing } from '../ui/live.ts'
import { type Opened, OpenedDrawer, useOpened } from '../ui/Opened.tsx'
import { Facts, Page, Section, Status, Time } from '../ui/page.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Loaded } from '../ui/states.tsx'
import { Table } from '../ui/Table.tsx'
import { isLegacy, isSilent, useTriggers } from '../ui/triggers.ts'

const pendingMs = 3_000
/** A delivery begins a moment after its event, and ends when the endpoint has answered. */
const againMs = [400, 1_500, 4_000]
const states = ['pending', 'delivered', 'failed'] as const

function useFields(version: number): readonly Field[] {
  const triggers = useTriggers().data ?? []
  return [
    { name: 'name', label: 'Name', required: true, max: 50 },
    { name: 'webhookURL', label: 'Address', required: true, hint: 'An https address that is reachable from outside' },
    {
      ...{ name: 'triggers', label: 'Triggers', kind: 'choices', hint: 'The events that it is called for' },
      options: triggers
        .filter(({ id, category }) => (version === 1 ? isLegacy(id) : category !== 'legacy'))
        .map(({ id, category, description }) => ({
          value: id,
          label: `${id}: ${description}`,
          group: isSilent(category) ? `${category} (never fires in this service)` : category,
        })),
    },
    { name: 'retryOnFailure', label: 'Retry what fails', kind: 'yes' },
    { name: 'useBasicAuth', label: 'Send a user name and a password', kind: 'yes' },
    { name: 'username', label: 'User name', max: 50 },
    { name: 'password', label: 'Password', kind: 'password', hint: 'It is never shown. Leave it empty to keep it.' },
  ]
}

function webhookAddress(appId: string, id: string): string {
  return `/apps/${encodeURIComponent(appId)}/webhooks/${encodeURIComponent(id)}`
}

/** The webhooks of an app. */
export function Webhooks() {
  const { appId, client } = useApp()
  const can = useCan()
  const save = useSave()
  const navigate = useNavigate()
  const [made, setMade] = useState<Webhook>()
  const fields = useFields(2)
  const list = useRows<Webhook>(['webhooks', appId], (place) => client.webhooks.list({ perPage: 100, ...place }))
  const create = async (values: Values) => {
    const run = () => client.webhooks.create(values as never)
    setMade(await save({ run, done: 'The webhook was created', refresh: [['webhooks', appId]] }))
  }
  return (
    <Page
      title="Webhooks"
      hint="Addresses of your own services that are called for each event."
      actions={
        can('configure') && (
          <FormButton
            button="Create a webhook"
            title="Create a webhook"
            fields={[
              { name: 'id', label: 'ID', required: true, max: 50, hint: 'Letters, digits, - and _. It stays.' },
              ...fields,
            ]}
            initial={{ retryOnFailure: true, useBasicAuth: false }}
            onSubmit={create}
          />
        )
      }
    >
      {made?.secret !== undefined && (
        <Secret
          label={`Secret that signs what ${made.name} gets`}
          value={made.secret}
          onDone={() => setMade(undefined)}
        />
      )}
      <Table
        label="Webhooks"
        list={list}
        idOf={(webhook) => webhook.id}
        onOpen={(webhook) => void navigate({ to: webhookAddress(appId, webhook.id) })}
        empty="There is no webhook."
        columns={[
          {
            label: 'Name',
            cell: ({ id, name }) => (
              <Anchor component={Link} to={webhookAddress(appId, id)} size="sm">
                {name}
              </Anchor>
            ),
          },
          { label: 'Address', width: '2fr', cell: (webhook) => webhook.webhookURL },
          { label: 'Triggers', width: '6rem', cell: (webhook) => webhook.triggers.length },
          { label: 'State', width: '8rem', cell: (webhook) => <Status of={stateOf(webhook)} /> },
          { label: 'Changed', width: '11rem', cell: (webhook) => <Time at={webhook.updatedAt} /> },
        ]}
      />
    </Page>
  )
}

function stateOf({ enabled, failingSince }: Webhook): string {
  if (!enabled) return 'disabled'
  return failingSince === undefined ? 'enabled' : 'failing'
}

/** One webhook: how it is set up, and what became of its deliveries. */
export function WebhookPage() {
  const { appId, client } = useApp()
  const { webhookId } = useParams({ strict: false }) as { webhookId: string }
  const [made, setMade] = useState<string>()
  const opened = useOpened('delivery')
  const webhook = useQuery({
    queryKey: ['webhook', appId, webhookId],
    queryFn: () => client.webhooks.get({ webhookId }),
  })
  return (
    <Loaded query={webhook}>
      {(webhook) => (
        <Page
          title={webhook.name}
          hint={
            <Group gap="xs">
              {webhook.id} <Status of={stateOf(webhook)} />
            </Group>
          }
          actions={<Actions webhook={webhook} onSecret={setMade} onTested={opened.open} />}
        >
          {made !== undefined && <Secret label="The new secret" value={made} onDone={() => setMade(undefined)} />}
          {webhook.disabledReason !== undefined && (
            <Alert color="red" title="The service has disabled it">
              {webhook.disabledReason} <Time at={webhook.disabledAt} />
            </Alert>
          )}
          <Facts
            facts={{
              Address: webhook.webhookURL,
              Triggers: (
                <Group gap={4}>
                  {webhook.triggers.map((trigger) => (
                    <Badge key={trigger} variant="light" color="gray" tt="none">
                      {trigger}
                    </Badge>
                  ))}
                  {webhook.triggers.length === 0 && 'none: it is never called'}
                </Group>
              ),
              Envelope: webhook.version === 1 ? 'legacy' : 'current',
              'What fails': webhook.retryOnFailure ? 'is retried' : 'is not retried',
              'User name': webhook.useBasicAuth ? webhook.username : undefined,
              'Failing since': webhook.failingSince === undefined ? undefined : <Time at={webhook.failingSince} />,
              Created: <Time at={webhook.createdAt} />,
            }}
          />
          <Deliveries webhook={webhook} opened={opened} />
        </Page>
      )}
    </Loaded>
  )
}

function Actions(props: {
  readonly webhook: Webhook
  readonly onSecret: (secret: string) => void
  /** @param id of the delivery that came of it */
  readonly onTested: (id: string) => void
}) {
  const { webhook, onSecret, onTested } = props
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const navigate = useNavigate()
  const fields = useFields(webhook.version)
  const { id: webhookId, name, enabled } = webhook
  const lists = [
    ['webhook', appId, webhookId],
    ['webhooks', appId],
  ]
  const refresh = [...lists, ['deliveries', appId, webhookId]]
  if (!can('configure')) return null
  const renew = async ({ hours }: Values) => {
    const run = () => client.webhooks.renewSecret({ webhookId, oldValidForSeconds: Math.round(Number(hours) * 3_600) })
    onSecret((await save({ run, done: 'The secret was renewed' })).secret)
  }
  return (
    <>
      <TestButton webhookId={webhookId} onTested={onTested} />
      <FormButton
        button="Edit"
        variant="default"
        title={`Edit ${name}`}
        fields={fields}
        initial={{ ...webhook }}
        changesOnly
        onSubmit={(values) =>
          save({
            run: () => client.webhooks.update({ webhookId, ...values }),
            done: 'The webhook was changed',
            refresh,
          })
        }
      />
      <FormButton
        button="New secret"
        variant="default"
        title={`A new secret for ${name}`}
        fields={[
          {
            ...{ name: 'hours', label: 'Hours that the old one is used as well', kind: 'number', required: true },
            ...{ min: 0, max: 168, hint: 'Until then deliveries are signed with both' },
          },
        ]}
        initial={{ hours: 24 }}
        onSubmit={renew}
      />
      <Button
        variant="light"
        color={enabled ? 'orange' : 'teal'}
        onClick={() =>
          void act({
            run: () => client.webhooks.update({ webhookId, enabled: !enabled }),
            done: enabled ? `${name} was disabled` : `${name} was enabled`,
            refresh,
            ...(enabled && {
              question: {
                title: `Disable ${name}?`,
                text: 'It is called no more. What waits is sent once it is enabled again.',
                label: 'Disable',
              },
            }),
          })
        }
      >
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <Button
        variant="light"
        color="red"
        onClick={() =>
          void act({
            run: () => client.webhooks.delete({ webhookId }),
            done: `${name} was deleted`,
            question: {
              title: `Delete ${name}?`,
              text: 'It goes for good, with what waits and the record of its deliveries.',
              label: 'Delete',
              typed: webhookId,
            },
          }).then((done) => {
            if (done !== undefined) void navigate({ to: `/apps/${encodeURIComponent(appId)}/webhooks` })
          })
        }
      >
        Delete
      </Button>
    </>
  )
}

function TestButton({ webhookId, onTested }: { readonly webhookId: string; readonly onTested: (id: string) => void }) {
  const { appId, client } = useApp()
  const act = useAct()
  const [isBusy, setBusy] = useState(false)
  const test = async () => {
    setBusy(true)
    const run = () => client.webhooks.test({ webhookId })
    const tested = await act({ run, done: 'A test event was sent', refresh: [['deliveries', appId, webhookId]] })
    if (tested !== undefined) onTested(tested.id)
    setBusy(false)
  }
  return (
    <Button variant="default" loading={isBusy} onClick={() => void test()}>
      Test
    </Button>
  )
}

function Deliveries({ webhook, opened }: { readonly webhook: Webhook; readonly opened: Opened }) {
  const { id: webhookId, triggers } = webhook
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const [{ status = '', trigger = '', live = '' }, change] = useAddress()
  const key = ['deliveries', appId, webhookId]
  const list = useRows<Delivery>([...key, status, trigger], (place) =>
    client.webhooks.deliveries.list({
      webhookId,
      limit: 100,
      ...(status !== '' && { status: status as Delivery['status'] }),
      ...(trigger !== '' && { trigger }),
      ...place,
    }),
  )
  const ask = async () => {
    await list.query.refetch()
    return false
  }
  useFollowing({ appId, isOn: live !== '', ask, againMs, atLeastEvery: 3 })
  const sendAgain = ({ id: deliveryId }: Delivery) =>
    act({
      run: () => client.webhooks.deliveries.redeliver({ webhookId, deliveryId }),
      done: 'It is sent again',
      of: deliveryId,
      refresh: [key],
    })
  return (
    <Section title="Deliveries" actions={can('configure') && <SendAgain webhookId={webhookId} triggers={triggers} />}>
      <Group>
        <Select
          aria-label="State"
          placeholder="Any state"
          data={states}
          clearable
          value={status || null}
          onChange={(next) => change({ status: next ?? undefined })}
          w={150}
        />
        <Select
          aria-label="Trigger"
          placeholder="Any trigger"
          data={[...new Set([...triggers, ...(trigger === '' ? [] : [trigger])])]}
          clearable
          searchable
          value={trigger || null}
          onChange={(next) => change({ trigger: next ?? undefined })}
          w={240}
        />
        <Switch
          label="Live"
          checked={live !== ''}
          onChange={(event) => change({ live: event.currentTarget.checked ? 'yes' : undefined })}
        />
      </Group>
      <Table
        label="Deliveries"
        list={list}
        idOf={(delivery) => delivery.id}
        onOpen={({ id }) => opened.open(id)}
        empty="Nothing was delivered, and nothing waits."
        height="max(16rem, calc(100dvh - 30rem))"
        columns={[
          {
            label: 'Event',
            width: '1.5fr',
            cell: (delivery) => (
              <Anchor component="button" size="sm" onClick={() => opened.open(delivery.id)}>
                {delivery.trigger}
                {delivery.test === true && ' (test)'}
              </Anchor>
            ),
          },
          { label: 'State', width: '8rem', cell: (delivery) => <Status of={delivery.status} /> },
          { label: 'Answer', width: '6rem', cell: ({ answer }) => answer?.status },
          { label: 'Attempts', width: '6rem', cell: ({ attempts }) => attempts },
          { label: 'When', width: '11rem', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { label: 'Took', width: '6rem', cell: ({ durationMs }) => durationMs !== undefined && `${durationMs} ms` },
          {
            label: 'Action',
            width: '8rem',
            isShown: can('configure'),
            cell: (delivery) =>
              delivery.test !== true && (
                <Button size="compact-xs" variant="default" onClick={() => void sendAgain(delivery)}>
                  Send again
                </Button>
              ),
          },
        ]}
      />
      <OpenedDrawer<DeliveryWithBody>
        of={opened}
        title={(delivery) => (delivery?.test === true ? 'What came of the test' : 'Delivery')}
        queryKey={[texts, appId, 'delivery', webhookId]}
        ask={(deliveryId) => client.webhooks.deliveries.get({ webhookId, deliveryId })}
        refetchInterval={(delivery) => (delivery?.status === 'pending' ? pendingMs : false)}
      >
        {(delivery) => <DeliveryView delivery={delivery} />}
      </OpenedDrawer>
    </Section>
  )
}

/** Sends many again: by their state, trigger and time. */
function SendAgain({ webhookId, triggers }: { readonly webhookId: string; readonly triggers: readonly string[] }) {
  const { appId, client } = useApp()
  const act = useAct()
  const onSubmit = async ({ status, trigger, from, to }: Values) => {
    const { count } = await client.webhooks.deliveries.redeliverSeveral({
      webhookId,
      status: status as Delivery['status'],
      ...(trigger !== undefined && { trigger: trigger as string }),
      ...(from !== undefined && { from: secondsOf(from) }),
      ...(to !== undefined && { to: secondsOf(to) }),
    })
    await act({
      run: async () => count,
      done: count === 1 ? 'One delivery is sent again' : `${count} deliveries are sent again`,
      refresh: [['deliveries', appId, webhookId]],
    })
  }
  return (
    <FormButton
      button="Send again"
      size="xs"
      variant="default"
      title="Send deliveries again"
      verb="Send again"
      fields={[
        { name: 'status', label: 'Which', kind: 'choice', options: states, required: true },
        { name: 'trigger', label: 'Trigger', kind: 'choice', options: triggers },
        { name: 'from', label: 'Events from', kind: 'datetime-local' },
        { name: 'to', label: 'Events until', kind: 'datetime-local' },
      ]}
      initial={{ status: 'failed' }}
      onSubmit={onSubmit}
    />
  )
}

function secondsOf(local: unknown): number {
  return Math.floor(new Date(String(local)).getTime() / 1000)
}

type DeliveryWithBody = Result<'GET /webhooks/{webhookId}/deliveries/{deliveryId}'>

function DeliveryView({ delivery }: { readonly delivery: DeliveryWithBody }) {
  const { answer, body } = delivery
  return (
    <Stack>
      <Facts
        facts={{
          State: <Status of={delivery.status} />,
          Trigger: delivery.trigger,
          'Event ID': delivery.eventId,
          'Header webhook-id': delivery.id,
          'Happened at': <Time at={delivery.createdAt} />,
          Attempts: delivery.attempts,
          'Last attempt': <Time at={delivery.attemptedAt} />,
          'Next attempt': delivery.nextAttemptAt === undefined ? 'none' : <Time at={delivery.nextAttemptAt} />,
          Took: delivery.durationMs === undefined ? undefined : `${delivery.durationMs} ms`,
          'Answered with': answer?.status,
          'What was wrong': delivery.error,
        }}
      />
      {answer?.excerpt !== undefined && (
        <Section title="Start of the answer">
          <Code block className="code">
            {answer.excerpt}
          </Code>
        </Section>
      )}
      <Section title="Body">
        {body === undefined ? (
          <Text size="sm">The event is no longer stored.</Text>
        ) : (
          <>
            <Text size="sm" c="dimmed">
              Bodies are not stored: this is what an attempt would send now.
            </Text>
            <EventView event={body} />
          </>
        )}
      </Section>
    </Stack>
  )
}
