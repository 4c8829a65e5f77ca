import { stepKinds } from '../../../chat/conversations/receipt-steps.ts'
import { storedKind } from '../../../chat/kind.ts'
import { plainArray } from '../../../store/arrays.ts'
import type { Transaction } from '../../../store/database.ts'
import { createRecordset } from '../../../store/recordset.ts'
import { statement } from '../../../store/statement.ts'
import type { Gap, Mark, MovedConversation, NumberedMessage, Steps } from './effects.ts'

// The writes of a batch of imported messages, each one statement for all its rows. All of them run under the locks of
// the conversations.

const list = (values: readonly string[]) => (values.length === 0 ? null : values)

const insertedRows = createRecordset<NumberedMessage>([
  ['app_id', 'int', ({ row }) => row.appId],
  ['id', 'bigint', ({ id }) => id],
  ['conversation', 'bigint', ({ conversation }) => conversation.key],
  ['sender', 'text', ({ row }) => row.sender],
  ['kind', 'smallint', ({ row }) => storedKind(row.kind)],
  ['receiver', 'text', ({ row }) => row.receiver],
  ['category', 'text', ({ row }) => row.category],
  ['type', 'text', ({ row }) => row.type],
  ['data', 'text', ({ row }) => row.data],
  ['parent_id', 'bigint', ({ parentId }) => parentId],
  ['subject_id', 'bigint', ({ subjectId }) => subjectId],
  ['quoted_id', 'bigint', ({ quotedId }) => quotedId],
  ['muid', 'text', ({ row }) => row.muid],
  ['tags', 'text[]', ({ row }) => list(row.tags)],
  ['mentioned', 'text[]', ({ row }) => list(row.mentioned)],
  ['traits', 'int', ({ row }) => row.traits],
  ['countable', 'boolean', ({ row }) => row.countable],
  ['sent_at', 'bigint', ({ row }) => row.sentAt],
  ['delivered_at', 'bigint', ({ row }) => row.deliveredAt],
  ['read_at', 'bigint', ({ row }) => row.readAt],
  ['edited_at', 'bigint', ({ row }) => row.editedAt],
  ['edited_by', 'text', ({ row }) => row.editedBy],
  ['deleted_at', 'bigint', ({ row }) => row.deletedAt],
  ['deleted_by', 'text', ({ row }) => row.deletedBy],
])

const insertRows = statement(`
  insert into messages (
    app_id, id, conversation, sender, kind, receiver, category, type, data, parent_id, subject_id, quoted_id, muid, tags,
    mentioned, traits, countable, imported, sent_at, updated_at, delivered_at, read_at, edited_at, edited_by, deleted_at, deleted_by
  )
  select r.app_id, r.id, r.conversation, r.sender, r.kind, r.receiver, r.category, r.type, r.data::json, r.parent_id,
    r.subject_id, r.quoted_id, r.muid, r.tags::text[], r.mentioned::text[], r.traits, r.countable, true, r.sent_at,
    greatest(r.sent_at, r.edited_at, r.deleted_at), r.delivered_at, r.read_at, r.edited_at,
    r.edited_by, r.deleted_at, r.deleted_by
  from ${insertedRows.sql}`)

/** Characters of what is sent to the database at once: to write out more would keep everybody else waiting. */
const portion = 1024 * 1024

/**
 * Messages as they are to be inserted, cut where they say too much for one statement. In the order of their muids, so that
 * two batches that have some in common (in different conversations) wait for each other and do not hold each other up.
 */
export function portionsOf(messages: readonly NumberedMessage[]): NumberedMessage[][] {
  const portions: NumberedMessage[][] = []
  let left = 0
  for (const message of messages.toSorted((a, b) => (a.row.muid < b.row.muid ? -1 : 1))) {
    const { length } = message.row.data
    if (length > left || portions.length === 0) {
      portions.push([])
      left = portion
    }
    portions.at(-1)?.push(message)
    left -= length
  }
  return portions
}

/** Stores messages. */
export async function insertMessages(tx: Transaction, messages: readonly NumberedMessage[]): Promise<void> {
  await tx.query(insertRows, insertedRows.values(messages))
}

const movedRows = createRecordset<MovedConversation>([
  ['app_id', 'int', ({ conversation }) => conversation.appId],
  ['key', 'bigint', ({ conversation }) => conversation.key],
  ['created_at', 'bigint', ({ createdAt }) => createdAt],
  ['last_sent_at', 'bigint', ({ last }) => last.sentAt],
  ['last_id', 'bigint', ({ last }) => last.id],
  ['listed_sent_at', 'bigint', ({ listed }) => listed?.sentAt ?? null],
  ['listed_id', 'bigint', ({ listed }) => listed?.id ?? null],
  ['timed_sent_at', 'bigint', ({ timedSentAt }) => timedSentAt],
])

const updateConversations = statement(`
  update conversations c
  set created_at = r.created_at,
    last_sent_at = r.last_sent_at,
    last_id = r.last_id,
    last_sender = null,
    listed_sent_at = r.listed_sent_at,
    listed_id = r.listed_id,
    timed_sent_at = greatest(c.timed_sent_at, r.timed_sent_at),
    version = c.version + 1
  from ${movedRows.sql}
  where c.app_id = r.app_id
  and c.key = r.key`)

/** Moves the ends of conversations. Their past has changed, so remembered unread counts are counted anew. */
export async function writeConversations(tx: Transaction, moved: readonly MovedConversation[]): Promise<void> {
  await tx.query(updateConversations, movedRows.values(moved))
}

const raise = (mark: string, by: string) =>
  ['sent_at', 'id']
    .map(
      (part) => `
    ${mark}_${part} = case when (s.${mark}_sent_at, s.${mark}_id) < (r.${by}_sent_at, r.${by}_id)
      then r.${by}_${part} else s.${mark}_${part} end`,
    )
    .join(',')

const markRows = createRecordset<Mark>([
  ['app_id', 'int', ({ appId }) => appId],
  ['uid', 'text', ({ uid }) => uid],
  ['conversation', 'bigint', ({ conversation }) => conversation],
  ['delivered_sent_at', 'bigint', ({ delivered }) => delivered.sentAt],
  ['delivered_id', 'bigint', ({ delivered }) => delivered.id],
  ['read_sent_at', 'bigint', ({ read }) => read.sentAt],
  ['read_id', 'bigint', ({ read }) => read.id],
])

const raiseMarks = statement(`
  update conversation_states s
  set ${raise('delivered', 'delivered')},${raise('read', 'read')},${raise('unread', 'read')}
  from ${markRows.sql}
  where s.app_id = r.app_id
  and s.uid = r.uid
  and s.conversation = r.conversation`)

/** Raises marks, and unread pointers with them; none falls. */
export async function writeMarks(tx: Transaction, marks: readonly Mark[]): Promise<void> {
  if (marks.length === 0) return
  await tx.query(raiseMarks, markRows.values(marks))
}

const stepRows = createRecordset<Steps>([
  ['app_id', 'int', ({ appId }) => appId],
  ['conversation', 'bigint', ({ conversation }) => conversation],
  ['uid', 'text', ({ uid }) => uid],
  ['sent_at', 'bigint', ({ sentAt }) => sentAt],
  ['id', 'bigint', ({ id }) => id],
  ['delivered_at', 'bigint', ({ deliveredAt }) => deliveredAt],
  ['read_at', 'bigint', ({ readAt }) => readAt],
  ['sender', 'text', ({ ifUntimedBelowOf }) => ifUntimedBelowOf],
])

const insertSteps = statement(`
  insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
  select r.app_id, r.conversation, r.uid, k.kind, r.sent_at, r.id, k.at
  from ${stepRows.sql}
  left join lateral (
    select m.delivered_at, m.read_at, true as is_there
    from messages m
    where r.sender is not null
    and m.app_id = r.app_id
    and m.conversation = r.conversation
    and m.sender = r.sender
    and not m.purged
    and (m.sent_at, m.id) < (r.sent_at, r.id)
    order by m.sent_at desc, m.id desc
    limit 1
  ) below on true
  cross join lateral (
    values (${stepKinds.delivered}, r.delivered_at, below.delivered_at), (${stepKinds.read}, r.read_at, below.read_at)
  ) k(kind, at, at_below)
  where k.at is not null
  and (r.sender is null or (below.is_there and k.at_below is null))
  on conflict do nothing`)

/**
 * Adds steps to staircases. After the marks: one that is being set live holds the row of the mark, then adds its step,
 * and two that wait for each other the other way round would be a deadlock.
 */
export async function writeSteps(tx: Transaction, steps: readonly Steps[]): Promise<void> {
  if (steps.length === 0) return
  await tx.query(insertSteps, stepRows.values(steps))
}

const gapRows = createRecordset<Gap>([
  ['app_id', 'int', ({ appId }) => appId],
  ['conversation', 'bigint', ({ conversation }) => conversation],
  ['uid', 'text', ({ uid }) => uid],
  ['kind', 'smallint', ({ kind }) => kind],
  ['sender', 'text', ({ sender }) => sender],
  ['sent_at', 'bigint', ({ sentAt }) => sentAt],
  ['id', 'bigint', ({ id }) => id],
])

const bridgeGaps = statement(`
  insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
  select distinct r.app_id, r.conversation, r.uid, r.kind, above.sent_at, above.id, above.at
  from ${gapRows.sql}
  join conversation_states s on s.app_id = r.app_id and s.uid = r.uid and s.conversation = r.conversation
  join conversations c on c.app_id = r.app_id and c.key = r.conversation and c.timed_sent_at >= r.sent_at
  cross join lateral (
    select m.sent_at, m.id, case r.kind when 1 then m.delivered_at else m.read_at end as at
    from messages m
    where m.app_id = r.app_id
    and m.conversation = r.conversation
    and m.sender = r.sender
    and not m.purged
    and (m.sent_at, m.id) > (r.sent_at, r.id)
    and m.sent_at <= c.timed_sent_at
    and case r.kind when 1 then m.delivered_at else m.read_at end is not null
    order by m.sent_at, m.id
    limit 1
  ) above
  where case r.kind
    when 1 then (s.delivered_sent_at, s.delivered_id)
    else (s.read_sent_at, s.read_id)
  end > (r.sent_at, r.id)
  on conflict do nothing`)

/**
 * Adds the steps that messages without times now need which landed in the past: the next message above each that has a
 * time was stored when a message with a time lay below it, so it has none. Nothing is above the marks, so nobody looks
 * there, nor above the last message with a time: what was sent live since may be long.
 */
export async function writeBridges(tx: Transaction, gaps: readonly Gap[]): Promise<void> {
  if (gaps.length === 0) return
  await tx.query(bridgeGaps, gapRows.values(gaps))
}

const insertReactions = statement(`
  insert into reactions (app_id, message_id, reaction, uid, reacted_at)
  select r.app_id, r.message_id, r.reaction, r.uid, r.reacted_at
  from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::bigint[]) with ordinality
    as r(app_id, message_id, reaction, uid, reacted_at, place)
  order by r.place`)

/** Stores the reactions that came with messages. */
export async function writeReactions(tx: Transaction, messages: readonly NumberedMessage[]): Promise<void> {
  const given = messages.flatMap(({ row, id }) => row.reactions.map((reaction) => ({ ...reaction, id, row })))
  if (given.length === 0) return
  await tx.query(insertReactions, [
    plainArray(given.map(({ row }) => row.appId)),
    plainArray(given.map(({ id }) => id)),
    given.map(({ reaction }) => reaction),
    given.map(({ uid }) => uid),
    plainArray(given.map(({ reactedAt }) => reactedAt)),
  ])
}

const insertPins = statement(`
  insert into pinned_messages (app_id, conversation, message_id, pinned_by, pinned_at)
  select r.app_id, r.conversation, r.message_id, r.pinned_by, r.pinned_at
  from unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
    as r(app_id, conversation, message_id, pinned_by, pinned_at)`)

const insertSaves = statement(`
  insert into saved_messages (app_id, uid, message_id, saved_at)
  select r.app_id, r.uid, r.message_id, r.saved_at
  from unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[]) as r(app_id, uid, message_id, saved_at)`)

/** Stores who pinned and who saved the messages. */
export async function writeKept(tx: Transaction, messages: readonly NumberedMessage[]): Promise<void> {
  const pins = messages.flatMap(({ row, id, conversation }) =>
    row.pin === null ? [] : [{ ...row.pin, id, appId: row.appId, conversation: conversation.key }],
  )
  const saves = messages.flatMap(({ row, id }) => row.saves.map((save) => ({ ...save, id, appId: row.appId })))
  if (pins.length > 0) {
    await tx.query(insertPins, [
      plainArray(pins.map(({ appId }) => appId)),
      plainArray(pins.map(({ conversation }) => conversation)),
      plainArray(pins.map(({ id }) => id)),
      pins.map(({ by }) => by),
      plainArray(pins.map(({ at }) => at)),
    ])
  }
  if (saves.length > 0) {
    await tx.query(insertSaves, [
      plainArray(saves.map(({ appId }) => appId)),
      saves.map(({ uid }) => uid),
      plainArray(saves.map(({ id }) => id)),
      plainArray(saves.map(({ at }) => at)),
    ])
  }
}
