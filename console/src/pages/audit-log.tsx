import { Group, Modal, Select, TextInput } from '@mantine/core'
import type { AuditEntry } from '@parley/client'
import { useState } from 'react'
import { admin } from '../api.ts'
import { useApp } from '../shell/session.tsx'
import { Actor } from '../ui/Actor.tsx'
import { useAddress } from '../ui/address.ts'
import { type Page as ListPage, useRows } from '../ui/lists.ts'
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
]

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
      name=""
      title="Audit log of operators"
      hint="Sign-ins, accounts, invitations, tokens, apps. What was done in an app is in its own audit log."
      ask={(input) => admin('GET /audit-log', input as never)}
    />
  )
}

function Log(props: {
  readonly name: string
  readonly title: string
  readonly hint: string
  readonly ask: (input: object) => Promise<ListPage<AuditEntry>>
}) {
  const { name, title, hint, ask } = props
  const [{ type = '', target = '' }, change] = useAddress()
  const [open, setOpen] = useState<AuditEntry>()
  const list = useRows<AuditEntry>(['audit-log', name, type, target], (place) =>
    ask({ limit: 100, ...(type !== '' && { targetType: type }), ...(target !== '' && { target }), ...place }),
  )
  return (
    <Page title={title} hint={hint}>
      <Group>
        <Select
          aria-label="About"
          placeholder="About anything"
          data={targets}
          clearable
          value={type || null}
          onChange={(next) => change({ type: next ?? undefined })}
          w={180}
        />
        <TextInput
          aria-label="ID of the target"
          placeholder="ID of the target"
          defaultValue={target}
          onChange={(event) => change({ target: event.currentTarget.value })}
        />
      </Group>
      <Table
        label={title}
        list={list}
        idOf={(entry) => entry.id}
        onOpen={setOpen}
        empty="Nothing is recorded."
        columns={[
          { label: 'When', width: '11rem', cell: (entry) => <Time at={entry.createdAt} /> },
          { label: 'What', cell: (entry) => entry.action },
          { label: 'On', width: '1.5fr', cell: ({ target }) => `${target.type} ${target.id}` },
          { label: 'By', cell: (entry) => <Actor of={entry} /> },
          { label: 'From', width: '9rem', cell: ({ actor }) => actor.address },
        ]}
      />
      <Modal opened={open !== undefined} onClose={() => setOpen(undefined)} title={open?.action} size="lg">
        {open !== undefined && (
          <>
            <Facts
              facts={{
                When: <Time at={open.createdAt} />,
                On: `${open.target.type} ${open.target.id}`,
                By: <Actor of={open} />,
                'On behalf of': open.actor.operator === undefined ? undefined : open.actor.uid,
                From: open.actor.address,
              }}
            />
            {open.details !== undefined && <Json value={open.details} />}
          </>
        )}
      </Modal>
    </Page>
  )
}
