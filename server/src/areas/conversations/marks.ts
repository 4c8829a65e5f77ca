import { ApiError } from '@parley/contract'
import type { FoundConversation } from '../../chat/conversations/find.ts'
import { groupReceiptSubscriptions } from '../../chat/conversations/group-receipts.ts'
import { lockConversation } from '../../chat/conversations/membership.ts'
import type { Context } from '../../context.ts'
import type { Database, Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** One user's side of one conversation. */
export interface ParticipantOf {
  readonly appId: number
  readonly uid: string
  readonly conversation: FoundConversation
}

/** A place in a history: time and id of a message. */
interface Position {
  readonly sentAt: number
  readonly id: number
}

const higher = (column: string) => `case when (s.${column}_sent_at, s.${column}_id) < ($4::bigint, $5::bigint)`
const raise = (column: string) => `
    ${column}_sent_at = ${higher(column)} then $4 else s.${column}_sent_at end,
    ${column}_id = ${higher(column)} then $5 else s.${column}_id end`

/**
 * What a mark tells: the newest message of others that it covers and the one before did not. Nothing is looked for where
 * nobody hears of it. More parameters of a mark: does anybody hear, the trigger if its events are kept, their `data`.
 */
const telling = (column: string) => `
  published as materialized (
    select m.id
    from before b
    cross join lateral (
      select m.id
      from messages m
      where $7::boolean
      and m.app_id = $1
      and m.conversation = $3
      and m.countable
      and m.sender <> $2
      and (m.sent_at, m.id) > (b.${column}_sent_at, b.${column}_id)
      and (m.sent_at, m.id) <= ($4::bigint, $5::bigint)
      order by m.sent_at desc, m.id desc
      limit 1
    ) m
  ),
  kept as (
    insert into events (app_id, trigger, conversation, message, data, created_at)
    select $1::int, $8::text, $3::bigint, id, $9::json, $6::bigint
    from published
    where $8::text is not null
  )
  select id as "messageId"
  from published`

/**
 * Everything up to a position was delivered: the mark rises, never falls, and the staircase gets a step, so that every
 * message below answers with this moment. Constant in the number of messages.
 * Parameters: app, uid, conversation, position (time, id), epoch seconds, and those of `telling`.
 */
const markDelivered = statement(`
  with before as materialized (
    select s.delivered_sent_at, s.delivered_id
    from conversation_states s
    where s.app_id = $1 and s.uid = $2 and s.conversation = $3
    for update
  ),
  marked as (
    update conversation_states s
    set ${raise('delivered')}
    from before
    where s.app_id = $1 and s.uid = $2 and s.conversation = $3
  ),
  stepped as (
    insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
    select $1::int, $3::bigint, $2::text, 1, $4::bigint, $5::bigint, $6::bigint
    from before
    where (delivered_sent_at, delivered_id) < ($4, $5)
    on conflict do nothing
  ),${telling('delivered')}`)

/** Everything up to a position was read, and so delivered; the unread pointer rises with it. Parameters as above. */
const markRead = statement(`
  with before as materialized (
    select s.delivered_sent_at, s.delivered_id, s.read_sent_at, s.read_id
    from conversation_states s
    where s.app_id = $1 and s.uid = $2 and s.conversation = $3
    for update
  ),
  marked as (
    update conversation_states s
    set ${raise('delivered')}, ${raise('read')}, ${raise('unread')},
      counted_sent_at = ${higher('unread')} then $4 else s.counted_sent_at end,
      counted_id = ${higher('unread')} then $5 else s.counted_id end,
      counted_unread = ${higher('unread')} then 0 else s.counted_unread end,
      counted_version = ${higher('unread')} then c.version else s.counted_version end
    from before, conversations c
    where s.app_id = $1 and s.uid = $2 and s.conversation = $3
    and c.app_id = $1 and c.key = $3
  ),
  stepped as (
    insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
    select $1::int, $3::bigint, $2::text, 1, $4::bigint, $5::bigint, $6::bigint
    from before
    where (delivered_sent_at, delivered_id) < ($4, $5)
    union all
    select $1::int, $3::bigint, $2::text, 2, $4::bigint, $5::bigint, $6::bigint
    from before
    where (read_sent_at, read_id) < ($4, $5)
    on conflict do nothing
  ),${telling('read')}`)

/**
 * Puts the user's unread pointer right before a message, unless it stands further back. The next message that he sends
 * must move it up again, so the conversation forgets that he may have been the last to write.
 */
const markUnread = statement(`
  with marked as (
    update conversation_states s
    set unread_sent_at = $4, unread_id = $5::bigint - 1,
      counted_sent_at = $4, counted_id = $5::bigint - 1, counted_unread = 0, counted_version = c.version
    from conversations c
    where s.app_id = $1 and s.uid = $2 and s.conversation = $3
    and c.app_id = $1 and c.key = $3
    and (s.unread_sent_at, s.unread_id) >= ($4, $5)
    returning s.conversation
  )
  update conversations c
  set last_sender = null
  where c.app_id = $1
  and c.key in (select conversation from marked)`)

const selectPosition = statement(`
  select sent_at as "sentAt", id
  from messages
  where app_id = $1
  and id = $2
  and conversation = $3
  and not purged`)

const selectNewestOfOthers = statement(`
  select m.sent_at as "sentAt", m.id
  from messages m
  where m.app_id = $1
  and m.conversation = $2
  and m.countable
  and m.sender <> $3
  and m.deleted_at is null
  order by m.sent_at desc, m.id desc
  limit 1`)

/**
 * Marks what others sent as delivered to, or read by, a user. Reading implies delivery, which is not published by itself then.
 * @param messageId up to this message; everything where it is absent
 * @param device that marks, and so is not notified
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` for a message of another conversation
 */
export async function markReceived(
  { database, groupMarks, events }: Pick<Context, 'database' | 'groupMarks' | 'events'>,
  receipt: 'delivered' | 'read',
  state: ParticipantOf,
  messageId: number | undefined,
  device: string | undefined,
): Promise<void> {
  const { appId, uid, conversation } = state
  const [position, kept] = await Promise.all([positionOf(database, state, messageId), events.listens(appId)])
  const mark = receipt === 'delivered' ? markDelivered : markRead
  const trigger = receipt === 'delivered' ? 'message_delivery_receipt' : 'message_read_receipt'
  const { key, kind, first, second } = conversation
  const at = Math.floor(Date.now() / 1000)
  const isKept = kept.has(trigger)
  const values = [
    appId,
    uid,
    key,
    position.sentAt,
    position.id,
    at,
    isKept || events.bus.isHeard,
    isKept ? trigger : null,
    isKept ? JSON.stringify({ kind, first, second, uid, at }) : null,
  ]
  const receivedId =
    kind === 1
      ? (await database.query<{ messageId: number }>(mark, values))[0]?.messageId
      : await groupMarks.write({
          appId,
          guid: first,
          conversation: key,
          statement: mark,
          values,
          subscribed: await groupReceiptSubscriptions(events, appId),
        })
  if (receivedId === undefined) return
  const place = { conversation: key, kind, first, second }
  events.publish(appId, { trigger, place, messageId: receivedId, uid, at, device })
}

/**
 * Makes a message of others and all after it unread again for a user; receipts that others saw stay.
 * @param messageId absent: the newest message of others, if there is one
 */
export async function markUnreadFrom(
  database: Database,
  state: ParticipantOf,
  messageId: number | undefined,
): Promise<void> {
  const { appId, uid, conversation } = state
  const position =
    messageId === undefined
      ? (await database.query<Position>(selectNewestOfOthers, [appId, conversation.key, uid]))[0]
      : await positionOf(database, state, messageId)
  if (position === undefined) return
  await database.transaction(async (tx) => {
    await lockConversation(tx, appId, conversation.key)
    await tx.query(markUnread, [appId, uid, conversation.key, position.sentAt, position.id])
  })
}

/** Where a message stands in the conversation; without one, the end of it. */
async function positionOf(on: Queryable, state: ParticipantOf, messageId: number | undefined): Promise<Position> {
  const { key, lastSentAt, lastId } = state.conversation
  if (messageId === undefined) return { sentAt: lastSentAt ?? 0, id: lastId ?? 0 }
  const [position] = await on.query<Position>(selectPosition, [state.appId, messageId, key])
  if (position === undefined) {
    throw new ApiError('ERR_MESSAGE_ID_NOT_FOUND', `There is no message with the id ${messageId} in this conversation.`)
  }
  return position
}
