import { sql } from 'kysely'
import type { FoundConversation } from '../../chat/conversations/find.ts'
import { groupReceiptSubscriptions } from '../../chat/conversations/group-receipts.ts'
import { lockConversation } from '../../chat/conversations/membership.ts'
import { insertIntoEvents, storedData } from '../../chat/events/stored.ts'
import { kindSql } from '../../chat/kind.ts'
import type { Position } from '../../chat/sight/condition.ts'
import { notCleared, notClearedSql, notHeldIn } from '../../chat/sight/participation.ts'
import { identifyViewer, mayOpen, type PlacedFacts, readConditions } from '../../chat/sight/sight.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import { allOf, statement } from '../../store/statement.ts'
import { notInThisConversation } from './errors.ts'

/** One user's state of one conversation. */
export interface ParticipantOf {
  readonly appId: number
  readonly uid: string
  readonly conversation: FoundConversation
  /** Permissions were set in the group, which may hide messages of it. */
  readonly isRestricted?: boolean
}

const higher = (column: string) => `case when (s.${column}_sent_at, s.${column}_id) < ($4::bigint, $5::bigint)`
const raise = (column: string) => `
    ${column}_sent_at = ${higher(column)} then $4 else s.${column}_sent_at end,
    ${column}_id = ${higher(column)} then $5 else s.${column}_id end`

/** What a mark did, and what is published of it. */
export interface Marked {
  readonly deliveredRose: boolean
  readonly readRose: boolean
  /** The newest message of others that it covers and the one before did not, where somebody hears of that. */
  readonly messageId: number | null
}

const rose = (column: string) => `(b.${column}_sent_at, b.${column}_id) < ($4::bigint, $5::bigint)`

/**
 * Gives a row of `Marked`. What is published is not looked for where nobody hears of it. More parameters of a mark: does anybody
 * hear, the trigger if its events are kept, their `data`.
 */
const publishedBy = (column: string) => `
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
    ${insertIntoEvents}
    select $1::int, $8::text, $3::bigint, id, $9::json, $6::bigint
    from published
    where $8::text is not null
  )
  select ${rose('delivered')} as "deliveredRose",
    ${column === 'read' ? rose('read') : 'false'} as "readRose",
    (select id from published) as "messageId"
  from before b`

/**
 * Everything up to a position was delivered: the mark rises, never falls, and the staircase gets a step, so that every
 * message below answers with this moment. Constant in the number of messages.
 * Parameters: app, uid, conversation, position (time, id), epoch seconds, and those of `publishedBy`.
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
  ),${publishedBy('delivered')}`)

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
  ),${publishedBy('read')}`)

/**
 * Moves the user's unread pointer back to just before a message, unless it is further back already, or a reset has hidden the
 * message since it was looked up: counts go by the pointer, and what is hidden is not unread. The next message that
 * they send must move it up again, so the conversation forgets that they may have been the last sender.
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
    and ${notCleared('($4, $5)')}
    returning s.conversation
  )
  update conversations c
  set last_sender = null
  where c.app_id = $1
  and c.key in (select conversation from marked)`)

const selectPlaced = statement(`
  select m.id, m.conversation, ${kindSql('m.kind')} as kind, m.sender, m.category, m.type, m.traits, m.sent_at as "sentAt"
  from messages m
  join conversation_states s on s.app_id = m.app_id and s.uid = $4 and s.conversation = m.conversation
  where m.app_id = $1
  and m.id = $2
  and m.conversation = $3
  and not m.purged
  and ${notHeldIn('m')}
  and ${notCleared('(m.sent_at, m.id)')}`)

/**
 * Marks what others sent as delivered to, or read by, a user. Reading implies delivery, which is not published by itself then.
 * @param messageId up to this message; everything where it is absent
 * @param device that marks, and so is not notified
 * @param viaSocket the mark came by a socket
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` for a message of another conversation, or one that they do not see
 */
export async function markReceived(
  context: Pick<Context, 'database' | 'groupMarks' | 'events' | 'policies' | 'usage'>,
  receipt: 'delivered' | 'read',
  state: ParticipantOf,
  messageId: number | undefined,
  device: string | undefined,
  viaSocket = false,
): Promise<void> {
  const { database, groupMarks, events, usage } = context
  const { appId, uid, conversation } = state
  const [position, kept] = await Promise.all([positionOf(context, state, messageId), events.listens(appId)])
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
    isKept ? storedData(trigger, { kind, first, second, uid, at, ...(viaSocket && { viaSocket }) }) : null,
  ]
  const marked =
    kind === 'user'
      ? // By sockets as well: where it has to wait, it is one of this user's.
        (await database.readAs({ appId, uid }).query<Marked>(mark, values))[0]
      : await groupMarks.write({
          appId,
          guid: first,
          conversation: key,
          statement: mark,
          values,
          subscribed: await groupReceiptSubscriptions(events, appId),
        })
  if (marked === undefined) return
  usage.received(appId, { delivered: marked.deliveredRose, read: marked.readRose })
  if (marked.messageId === null) return
  const place = { conversation: key, kind, first, second }
  events.publish(appId, { trigger, place, messageId: marked.messageId, uid, at, device })
}

/**
 * Makes a message and all after it unread again for a user; receipts that others saw stay.
 * @param messageId absent: the newest message of others that they see, if there is one
 * @throws 404 as `markReceived`
 */
export async function markUnreadFrom(
  context: Pick<Context, 'database' | 'policies'>,
  state: ParticipantOf,
  messageId: number | undefined,
): Promise<void> {
  const { database } = context
  const { appId, uid, conversation } = state
  const position =
    messageId === undefined ? await findNewestOfOthers(context, state) : await positionOf(context, state, messageId)
  if (position === undefined) return
  await database.transaction(async (tx) => {
    await lockConversation(tx, appId, conversation.key)
    await tx.query(markUnread, [appId, uid, conversation.key, position.sentAt, position.id])
  })
}

type Asking = Pick<Context, 'database' | 'policies'>

async function findNewestOfOthers({ database, policies }: Asking, state: ParticipantOf): Promise<Position | undefined> {
  const { appId, uid, conversation } = state
  const viewer = await identifyViewer(database, policies, appId, uid)
  const guids = conversation.kind === 'group' ? [conversation.first] : []
  const hidden = await readConditions(database, appId, viewer, guids)
  const [newest] = await database.run(sql<Position>`
    select m.sent_at as "sentAt", m.id
    from conversation_states s
    join messages m on m.app_id = s.app_id and m.conversation = s.conversation
    where s.app_id = ${appKey(appId)}
    and s.uid = ${uid}
    and s.conversation = ${conversation.key}
    and m.countable
    and m.sender <> ${uid}
    and m.deleted_at is null
    and ${allOf([notClearedSql, ...hidden])}
    order by m.sent_at desc, m.id desc
    limit 1`)
  return newest
}

/** Where a message stands in the conversation; without one, the end of it. */
async function positionOf(
  { database, policies }: Asking,
  state: ParticipantOf,
  messageId: number | undefined,
): Promise<Position> {
  const { appId, uid, conversation, isRestricted = false } = state
  const { key, lastSentAt, lastId } = conversation
  if (messageId === undefined) return { sentAt: lastSentAt ?? 0, id: lastId ?? 0 }
  const [message] = await database.query<PlacedFacts>(selectPlaced, [appId, messageId, key, uid])
  const viewer = await identifyViewer(database, policies, appId, uid)
  const mayBeHidden = isRestricted || viewer.policy !== undefined
  if (message === undefined || (mayBeHidden && !(await mayOpen(database, appId, viewer, message)))) {
    throw notInThisConversation(messageId)
  }
  return message
}
