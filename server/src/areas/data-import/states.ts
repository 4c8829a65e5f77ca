import { type ImportOther, readOptionalTime } from '@parley/contract'
import { raiseGroupReceipts } from '../../chat/conversations/group-receipts.ts'
import { isBefore, type Position } from '../../chat/sight/condition.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import * as errors from './errors.ts'
import { conversationName, type Known, type NamedMessage } from './named.ts'
import { type Failure, refuse } from './outcomes.ts'

type StateRecord = Extract<ImportOther, { kind: 'conversation' }>

/** One user's state of a conversation, as far as imports write it. */
interface State {
  readonly delivered: Position
  readonly read: Position
  readonly unread: Position
  readonly cleared: Position
  readonly joined: Position | null
  readonly hidden: boolean
  readonly tags: readonly string[]
  readonly pinnedAt: number | null
}

const position = (name: string) => `json_build_object('sentAt', ${name}_sent_at, 'id', ${name}_id) as ${name}`

const select = statement(`
  select ${['delivered', 'read', 'unread', 'cleared'].map(position).join(', ')},
    case when joined_id is not null then json_build_object('sentAt', joined_sent_at, 'id', joined_id) end as joined,
    hidden, tags, pinned_at as "pinnedAt"
  from conversation_states
  where app_id = $1
  and uid = $2
  and conversation = $3
  for update`)

/** What was remembered of unread messages is counted anew: from nothing, as of the conversation's version. */
const write = statement(`
  update conversation_states s
  set delivered_sent_at = $4, delivered_id = $5, read_sent_at = $6, read_id = $7, unread_sent_at = $8, unread_id = $9,
    cleared_sent_at = $10, cleared_id = $11, joined_sent_at = $12, joined_id = $13, hidden = $14, tags = $15, pinned_at = $16,
    counted_sent_at = $8, counted_id = $9, counted_unread = 0, counted_version = c.version
  from conversations c
  where s.app_id = $1
  and s.uid = $2
  and s.conversation = $3
  and c.app_id = $1
  and c.key = $3`)

/** Their next message must move the unread pointer up again. */
const forgetSender = statement(`
  update conversations
  set last_sender = null
  where app_id = $1
  and key = $2`)

const insertStep = statement(`
  insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict do nothing`)

const later = (a: Position, b: Position) => (isBefore(a, b) ? b : a)
const at = ({ sentAt, id }: NamedMessage): Position => ({ sentAt, id })

/**
 * Writes what a record tells of a user's state of a conversation, under its lock: marks with the steps of their staircases,
 * the unread pointer, a reset, the place from which they are in it.
 * @returns why not: they have no part in such a conversation, a message is not in it, or all of it is there already
 */
export async function writeState(tx: Transaction, known: Known, record: StateRecord): Promise<Failure | undefined> {
  const uid = record.uid.toLowerCase()
  const conversation = known.conversations.get(conversationName(record))
  const [state] = conversation === undefined ? [] : await tx.query<State>(select, [known.appId, uid, conversation])
  if (conversation === undefined || state === undefined) return refuse(errors.noState(record))

  const places = {} as Record<'delivered' | 'read' | 'unreadFrom' | 'reset' | 'joined', NamedMessage | undefined>
  for (const name of ['delivered', 'read', 'unreadFrom', 'reset', 'joined'] as const) {
    const place = record[name]
    if (place === undefined) continue
    places[name] = known.message(place)
    if (places[name]?.conversation !== conversation) return refuse(errors.noSuchMessage(place, name))
  }
  const changed = changeState(state, record, places)
  if (JSON.stringify(changed) === JSON.stringify(state)) return refuse(errors.othersExist(record.kind))
  await tx.query(write, [
    ...[known.appId, uid, conversation],
    ...[changed.delivered, changed.read, changed.unread, changed.cleared].flatMap(({ sentAt, id }) => [sentAt, id]),
    ...[changed.joined?.sentAt ?? null, changed.joined?.id ?? null],
    ...[changed.hidden, changed.tags, changed.pinnedAt],
  ])
  await tx.query(forgetSender, [known.appId, conversation])
  await addSteps(tx, known, uid, conversation, state, record, places)
  if (record.receiverType === 'group')
    await tx.query(raiseGroupReceipts, [[known.appId], [record.receiver.toLowerCase()], known.now])
  return undefined
}

function changeState(
  state: State,
  record: StateRecord,
  { delivered, read, unreadFrom, reset, joined }: Record<string, NamedMessage | undefined>,
): State {
  const isRead = read === undefined ? state.read : later(state.read, at(read))
  // Who has read has received, and what is hidden is not unread.
  const isDelivered = [delivered, read].reduce(
    (mark, to) => (to === undefined ? mark : later(mark, at(to))),
    state.delivered,
  )
  const cleared = reset === undefined ? state.cleared : later(state.cleared, at(reset))
  const raised = [read, reset].reduce((mark, to) => (to === undefined ? mark : later(mark, at(to))), state.unread)
  const unread = unreadFrom === undefined ? raised : { sentAt: unreadFrom.sentAt, id: unreadFrom.id - 1 }
  return {
    delivered: isDelivered,
    read: isRead,
    unread,
    cleared,
    joined: joined === undefined ? state.joined : at(joined),
    hidden: record.reset?.isHidden ?? state.hidden,
    tags: record.tags === undefined ? state.tags : [...new Set(record.tags)],
    pinnedAt: readOptionalTime(record.pinnedAt) ?? state.pinnedAt,
  }
}

async function addSteps(
  tx: Transaction,
  { appId }: Known,
  uid: string,
  conversation: number,
  state: State,
  record: StateRecord,
  { delivered, read }: Record<string, NamedMessage | undefined>,
): Promise<void> {
  const readAt = read && (readOptionalTime(record.read?.at) ?? read.sentAt)
  const deliveredAt = delivered && (readOptionalTime(record.delivered?.at) ?? delivered.sentAt)
  const steps = [
    { kind: 1, mark: state.delivered, to: delivered, time: deliveredAt },
    { kind: 1, mark: state.delivered, to: read, time: readAt },
    { kind: 2, mark: state.read, to: read, time: readAt },
  ]
  for (const { kind, mark, to, time } of steps) {
    if (to === undefined || time === undefined || !isBefore(mark, at(to))) continue
    await tx.query(insertStep, [appId, conversation, uid, kind, to.sentAt, to.id, time])
  }
}
