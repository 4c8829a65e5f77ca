import { sql } from 'kysely'
import type { Queryable } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import { type Fragment, inOrder, statement } from '../../store/statement.ts'
import { everyMember, type StepKind, stepKinds } from '../conversations/receipt-steps.ts'
import type { JsonText } from '../json.ts'
import { type ConversationKind, kindSql, storedKind } from '../kind.ts'
import { packMessages, unpackMessages } from './packed.ts'

/**
 * Of a message `m`, that it is there. What is read of a conversation has to say so in the words of the index
 * `messages_there_by_conversation` (or say `countable` or `not purged`): else all messages of the app are read.
 */
export const isIndexedSql = '(m.countable or not m.purged)'

/** A message as the database keeps it, with the times at which it was delivered and read. */
export interface StoredMessage<Data = Record<string, unknown>> {
  readonly id: number
  readonly conversation: number
  readonly sender: string
  readonly kind: ConversationKind
  readonly receiver: string
  readonly category: string
  readonly type: string
  readonly data: Data
  readonly parentId: number | null
  readonly quotedId: number | null
  readonly muid: string | null
  readonly tags: string[] | null
  /** Bits, see traits.ts. */
  readonly traits: number
  /** uids that the text mentions. */
  readonly mentioned: string[] | null
  /** The message that an action of type message is about. */
  readonly subjectId: number | null
  readonly sentAt: number
  readonly updatedAt: number
  readonly deliveredAt: number | null
  readonly readAt: number | null
  readonly editedAt: number | null
  readonly editedBy: string | null
  readonly deletedAt: number | null
  readonly deletedBy: string | null
}

/** A stored message whose `data` is not looked into, parsed or as text. */
export type MessageRow = StoredMessage<unknown>

/**
 * Columns of `StoredMessage`, of the table `messages` (or a page of it) under the alias `m`, beside `receiptJoins`.
 * A message was delivered and read at the time of the first step of the staircase at or above it: that of its receiver,
 * or of the whole group. Explicit times of an import win.
 */
const receiptTimes = {
  deliveredAt: 'coalesce(m.delivered_at, least(d.at, r.at), m.read_at)',
  readAt: 'coalesce(m.read_at, r.at)',
}

const columnsWith = (data: string) =>
  `m.id, m.conversation, m.sender, ${kindSql('m.kind')} as kind, m.receiver, m.category, m.type, ${data}, m.parent_id as "parentId",
  m.quoted_id as "quotedId", m.subject_id as "subjectId", m.muid, m.tags, m.traits, m.mentioned, m.sent_at as "sentAt", m.updated_at as "updatedAt",
  ${receiptTimes.deliveredAt} as "deliveredAt", ${receiptTimes.readAt} as "readAt",
  m.edited_at as "editedAt", m.edited_by as "editedBy", m.deleted_at as "deletedAt", m.deleted_by as "deletedBy"`

const columns = columnsWith('m.data')

/** The time of the first step of a kind at or above a message `m`. */
const selectStep = (kind: StepKind) => `
    select s.at
    from receipt_steps s
    where s.app_id = m.app_id
    and s.conversation = m.conversation
    and s.uid = case m.kind when 2 then '${everyMember}' else m.receiver end
    and s.kind = ${kind}
    and (s.sent_at, s.id) >= (m.sent_at, m.id)
    and (m.kind = 2 or m.sender <> m.receiver)
    order by s.sent_at, s.id
    limit 1`

/** The steps that `receiptTimes` are of, of messages `m`. */
export const receiptJoins = `
  left join lateral (${selectStep(stepKinds.delivered)}
  ) d on true
  left join lateral (${selectStep(stepKinds.read)}
  ) r on true`

/** The same as columns beside those of messages `m`, for aggregates, which a join would make dearer. */
export const receiptColumns = `(${selectStep(stepKinds.delivered)}
  ) as stepped_delivered_at, (${selectStep(stepKinds.read)}
  ) as stepped_read_at`

/** As `receiptTimes`, of messages with `receiptColumns`. */
export const steppedTimes = {
  deliveredAt: 'coalesce(m.delivered_at, least(m.stepped_delivered_at, m.stepped_read_at), m.read_at)',
  readAt: 'coalesce(m.read_at, m.stepped_read_at)',
}

/** Reads whole messages out of a page of message rows, in the order given. What was sent stays as it is stored. */
export function selectStored(page: Fragment, order: Fragment): Fragment<StoredMessage<JsonText>> {
  return sql<StoredMessage<JsonText>>`
  with page as materialized (${page})
  select ${sql.raw(columnsWith('m.data::text as data'))}
  from page m${sql.raw(receiptJoins)}
  order by ${order}`
}

const selectByIds = lookup<StoredMessage>(
  statement(`
  select ${columns}
  from messages m${receiptJoins}
  where m.app_id = $1
  and m.id = any($2::bigint[])
  and not m.purged`),
  ({ id }) => [id],
)

/** Reads messages by id; unknown and purged ones are missing from the map. */
export async function readMessages(
  on: Queryable,
  appId: number,
  ids: Iterable<number>,
): Promise<Map<number, StoredMessage>> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const rows = await on.query<StoredMessage>(selectByIds, [appId, wanted])
  return new Map(rows.map((row) => [row.id, row]))
}

const selectPackedByIds = inOrder(
  statement(`
  select ${packMessages(receiptTimes)}
  from messages m${receiptJoins}
  where m.app_id = $1
  and m.id = any($2::bigint[])
  and not m.purged`),
)

/** As `readMessages`, of messages that are written out again: what was sent stays as it is stored. */
export async function readMessageTexts(
  on: Queryable,
  appId: number,
  ids: Iterable<number>,
): Promise<Map<number, StoredMessage<JsonText>>> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const [row] = await on.query<readonly [string | null]>(selectPackedByIds, [appId, wanted])
  return new Map(unpackMessages(row?.[0] ?? null).map((message) => [message.id, message]))
}

/** In two halves, since live and imported messages have an index of their own each. */
const selectByMuid = statement(`
  select ${columns}
  from (
    select * from messages where app_id = $1 and muid = $2 and sender = $3 and not imported
    union all
    select * from messages where app_id = $1 and muid = $2 and sender = $3 and imported
  ) m${receiptJoins}
  where m.kind = $4
  and m.receiver = $5
  and not m.purged`)

/** The message that a sender has stored with this muid in the conversation with a user or group. */
export async function readByMuid(
  on: Queryable,
  appId: number,
  { muid, sender, kind, receiver }: { muid: string; sender: string; kind: ConversationKind; receiver: string },
): Promise<StoredMessage | undefined> {
  const [row] = await on.query<StoredMessage>(selectByMuid, [appId, muid, sender, storedKind(kind), receiver])
  return row
}
