import { Anchor, Button, Group, Select, Stack, Text } from '@mantine/core'
import type { AuditEntry } from '@parley/client'
import { auditActions } from '@parley/contract/audit-actions'
import { useRef, useState } from 'react'
import { admin } from '../api.ts'
import { useApp } from '../shell/session.tsx'
import { Actor, useOperators } from '../ui/Actor.tsx'
import { AddressInput } from '../ui/AddressInput.tsx'
import { useAddress } from '../ui/address.ts'
import { saveFile } from '../ui/files.ts'
import { type Page as ListPage, useRows } from '../ui/lists.ts'
import { notify, notifyError } from '../ui/notices.tsx'
import { OpenedDrawer, useOpened } from '../ui/Opened.tsx'
import { Facts, Json, Page, Time } from '../ui/page.tsx'
import { Table } from '../ui/Table.tsx'

const targets = [
  'app',
  'apikey',
  'user',
  'group',
  'role',
  'webhook',
  'provider',
  'engine',
  'rule',
  'list',
  'reason',
  'message',
  'conversation',
  'operator',
  'session',
  'doctor',
  'master_key',
]

const filters = ['action', 'targetType', 'target', 'operator', 'key', 'uid'] as const

/** What was done in an app: with its keys, by its users, by operators. */
export function AuditLog() {
  const { appId, client } = useApp()
  return (
    <Log
      name={appId}
      title="Audit log"
      hint="What was changed in this app, by whom and from where. Nobody can change it."
      ask={(input) => client.auditLog.list(input as never)}
    />
  )
}

/** What operators did to the deployment. */
export function OperatorAuditLog() {
  return (
    <Log
      name="operators"
      title="Audit log of operators"
      hint="Sign-ins, accounts, invitations, tokens, apps. What was done in an app is in its own audit log."
      ask={(input) => admin('GET /audit-log', input as never)}
    />
  )
}

type Ask = (input: object) => Promise<ListPage<AuditEntry>>

function Log(props: { readonly name: string; readonly title: string; readonly hint: string; readonly ask: Ask }) {
  const { name, title, hint, ask } = props
  const [address, change] = useAddress()
  const opened = useOpened('entry')
  const wanted = readFilters(address)
  const list = useRows<AuditEntry>(['audit-log', name, wanted], (place) => ask({ limit: 100, ...wanted, ...place }))
  return (
    <Page title={title} hint={hint} actions={<Export name={name} ask={(place) => ask({ ...wanted, ...place })} />}>
      <Group>
        <Select
          aria-label="Action"
          placeholder="Any action"
          data={auditActions}
          clearable
          searchable
          value={address.action ?? null}
          onChange={(next) => change({ action: next ?? undefined })}
          w={190}
        />
        <Select
          aria-label="About"
          placeholder="About anything"
          data={targets}
          clearable
          value={address.targetType ?? null}
          onChange={(next) => change({ targetType: next ?? undefined })}
          w={160}
        />
        <Word label="ID of the target" name="target" />
        <ByOperator />
        <Word label="Acting user" name="uid" placeholder="Acting user: ID" />
        <Word label="API key" name="key" placeholder="API key: its 8 digits" />
        <When label="From" name="from" />
        <When label="Until" name="to" />
      </Group>
      <Table
        label={title}
        list={list}
        idOf={(entry) => entry.id}
        onOpen={(entry) => opened.open(placeOf(entry))}
        empty="Nothing is recorded."
        columns={[
          {
            label: 'When',
            width: '11rem',
            cell: (entry) => (
              <Anchor component="button" type="button" size="sm" onClick={() => opened.open(placeOf(entry))}>
                <Time at={entry.createdAt} />
              </Anchor>
            ),
          },
          { label: 'What', cell: (entry) => entry.action },
          { label: 'On', width: '1.5fr', cell: ({ target }) => `${target.type} ${target.id}` },
          { label: 'By', cell: (entry) => <Actor of={entry} /> },
          { label: 'From', width: '9rem', cell: ({ actor }) => actor.address },
        ]}
      />
      <OpenedDrawer
        of={opened}
        title={(entry) => entry?.action ?? title}
        queryKey={['audit-log', name, 'entry']}
        ask={(place) => entryAt(place, ask)}
        known={list.rows.find((entry) => placeOf(entry) === opened.id)}
      >
        {({ createdAt, target, actor, details, ...entry }) => (
          <Stack>
            <Facts
              facts={{
                When: <Time at={createdAt} />,
                On: `${target.type} ${target.id}`,
                By: <Actor of={{ createdAt, target, actor, ...entry }} />,
                'By the personal token': actor.token,
                'On behalf of': actor.operator === undefined ? undefined : actor.uid,
                From: actor.address,
              }}
            />
            {details !== undefined && <Json value={details} />}
          </Stack>
        )}
      </OpenedDrawer>
    </Page>
  )
}

/** Where an entry stands in the log, as `before` has it: by that it is found again. */
const placeOf = ({ createdAt, id }: AuditEntry) => `${createdAt}_${id}`

/** There is no operation for one entry: it is the newest up to its place. @throws where it is there no longer */
async function entryAt(place: string, ask: Ask): Promise<AuditEntry> {
  const [, createdAt, id] = /^(\d{1,12})_(\d{1,15})$/.exec(place) ?? []
  const { data } = id === undefined ? { data: [] } : await ask({ before: `${createdAt}_${Number(id) + 1}`, limit: 1 })
  const entry = data.find((one) => placeOf(one) === place)
  if (entry === undefined) throw new Error('There is no such entry, or no longer: entries are kept for some time.')
  return entry
}

/** What the address asks for, as far as the service would take it. */
function readFilters(address: Readonly<Record<string, string>>): Record<string, unknown> {
  const words = filters.flatMap((name) => {
    const value = address[name]?.trim() ?? ''
    const isWhole = name !== 'key' || /^[0-9a-f]{8}$/.test(value)
    const isKnown = name !== 'action' || (auditActions as readonly string[]).includes(value)
    return value === '' || !isWhole || !isKnown ? [] : [[name, value] as const]
  })
  const times = (['from', 'to'] as const).flatMap((name) => {
    const at = address[name] ?? ''
    return isEpoch.test(at) ? [[name, Number(at)] as const] : []
  })
  return Object.fromEntries([...words, ...times])
}

interface FilterProps {
  readonly label: string
  readonly name: string
  readonly placeholder?: string
}

function Word({ label, name, placeholder = label }: FilterProps) {
  return <AddressInput aria-label={label} placeholder={placeholder} name={name} w={190} />
}

/** A time as the clock here shows it. In the address it is in seconds, which are the same for a colleague in another time zone. */
function When({ label, name }: FilterProps) {
  return (
    <AddressInput
      aria-label={label}
      title={label}
      type="datetime-local"
      name={name}
      keptOf={epochOf}
      typedOf={localTimeOf}
    />
  )
}

const isEpoch = /^\d{1,10}$/

/** @returns '' as long as it is no time */
function epochOf(localTime: string): string {
  const at = String(Math.floor(Date.parse(localTime) / 1000))
  return isEpoch.test(at) ? at : ''
}

function localTimeOf(epoch: string): string {
  if (!isEpoch.test(epoch)) return ''
  const at = new Date(Number(epoch) * 1000)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Of operators who see others, a choice; else by the ID. */
function ByOperator() {
  const [{ operator = '' }, change] = useAddress()
  const operators = useOperators()
  if (operators.data === undefined) return null
  return (
    <Select
      aria-label="Operator"
      placeholder="By anybody"
      data={operators.data.map(({ id, email }) => ({ value: id, label: email }))}
      clearable
      searchable
      value={operator || null}
      onChange={(next) => change({ operator: next ?? undefined })}
      w={200}
    />
  )
}

const mostExported = 200_000

/** All that is found, as a file of one JSON object a line. It is read page after page, and can be stopped. */
function Export({ name, ask }: { readonly name: string; readonly ask: Ask }) {
  const [count, setCount] = useState<number>()
  const stopping = useRef<AbortController>(undefined)
  const run = async () => {
    const stop = new AbortController()
    stopping.current = stop
    const lines: string[] = []
    setCount(0)
    try {
      for (let place: object | undefined = {}; place !== undefined && lines.length < mostExported; ) {
        const { data, meta } = await ask({ limit: 1000, ...place })
        if (stop.signal.aborted) return
        for (const entry of data) lines.push(`${JSON.stringify(entry)}\n`)
        setCount(lines.length)
        place = (meta as { next?: object } | undefined)?.next
      }
      saveFile(`audit-log-${name}.ndjson`, lines, 'application/x-ndjson')
      if (lines.length >= mostExported) notify(`The first ${mostExported}. For all of them use “parley audit --all”.`)
    } catch (error) {
      notifyError(error)
    } finally {
      setCount(undefined)
    }
  }
  if (count === undefined) {
    return (
      <Button variant="default" onClick={() => void run()}>
        Export
      </Button>
    )
  }
  return (
    <Group gap="xs">
      <Text size="sm" role="status">
        {count} entries
      </Text>
      <Button variant="light" color="red" onClick={() => stopping.current?.abort()}>
        Stop
      </Button>
    </Group>
  )
}
