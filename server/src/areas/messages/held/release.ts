import { systemUid } from '../../../chat/apps.ts'
import { raiseReceipts } from '../../../chat/conversations/group-receipts.ts'
import type { App } from '../../../chat/identity.ts'
import { unknownMessage } from '../../../chat/messages/read.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import { showMessages } from '../../../chat/messages/show.ts'
import { isHeld, traits } from '../../../chat/messages/traits.ts'
import { moderationTraits } from '../../../chat/moderation/verdict.ts'
import { placeOf } from '../../../chat/place.ts'
import { readUsers } from '../../../chat/users/rows.ts'
import { messageKindOf, sendKeyOf } from '../../../chat/writing/deeds.ts'
import { requireMayWrite } from '../../../chat/writing/may-write.ts'
import type { Context } from '../../../context.ts'
import type { ChatEvent, Place } from '../../../events/types.ts'
import type { Queryable, Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { inTurn, type Turn } from '../in-turn.ts'
import { replaceEntry } from '../search/entries.ts'
import { growThreads } from '../threads/grow.ts'
import {
  type Deciding,
  decided,
  deleted,
  forbidden,
  type Held,
  isLate,
  late,
  lateForReview,
  type Refused,
  underLock,
} from './holding.ts'
import { keepDecision, logDecision } from './log.ts'
import { reappear } from './restore.ts'

export interface Releasing extends Deciding {
  /**
   * Where it appears: at the end, as a message that was sent now (the default), or at its old place, published to nobody and never
   * countable.
   */
  readonly asNew?: boolean
}

export interface Released {
  readonly released: true
  /** Epoch seconds: where it stands now. */
  readonly sentAt: number
}

const moveToEnd = statement(`
  with released as (
    update messages m
    set sent_at = p.sent_at,
      updated_at = p.sent_at,
      edited_at = null,
      edited_by = null,
      traits = m.traits & ~${moderationTraits} | ${traits.moderated | traits.released},
      countable = true
    from (
      select case
          when greatest($3::bigint, c.last_sent_at) = c.last_sent_at and c.last_id >= $2 then c.last_sent_at + 1
          else greatest($3::bigint, c.last_sent_at)
        end as sent_at
      from conversations c
      where c.app_id = $1
      and c.key = $4
    ) p
    where m.app_id = $1
    and m.id = $2
    returning m.sent_at
  )
  update conversations c
  set last_sent_at = r.sent_at,
    last_id = $2,
    last_sender = null,
    listed_sent_at = r.sent_at,
    listed_id = $2
  from released r
  where c.app_id = $1
  and c.key = $4
  returning r.sent_at as "sentAt"`)

/**
 * Lets everybody see a message that is held, under its conversation's lock. It keeps its id and gets a new position at the
 * end, so that nobody finds something new before what they have read; a message that had been seen before it was blocked goes
 * back to its old place. The rules of writing are asked anew: what may no longer be written stays held.
 */
export function releaseMessage(
  context: Context,
  app: App,
  id: number,
  releasing: Releasing,
): Promise<Released | Refused> {
  const { appId } = app
  return inTurn(context, appId, (turn) =>
    underLock(context, app, id, async (tx, message, row) => {
      const now = Math.floor(Date.now() / 1000)
      if (releasing.by === 'engine' && (isLate(releasing, row) || message.deletedAt !== null)) {
        await logDecision(tx, appId, id, releasing, 'late', now)
        return late(id)
      }
      return release(context, tx, app, { message, row }, releasing, turn)
    }),
  )
}

/** As `releaseMessage`, in a transaction that has the lock. */
export async function release(
  context: Context,
  tx: Transaction,
  app: App,
  { message, row }: Held,
  releasing: Releasing,
  turn: Turn,
): Promise<Released | Refused> {
  const { appId } = app
  const { id, deletedAt, sentAt } = message
  const now = Math.floor(Date.now() / 1000)
  if (deletedAt !== null) return deleted(id)
  if (!isHeld(message)) return decided(id, 'is not held')
  const wasVisible = row?.wasVisible === true
  const refused =
    lateForReview(message, releasing) ?? (wasVisible ? undefined : await refusalOf(context, tx, app, message))
  if (refused !== undefined) return refused

  await keepDecision(tx, appId, message, releasing, { status: 'approved', wasVisible }, now)
  if (wasVisible || releasing.asNew === false) {
    await reappear(tx, appId, message, row ?? { wasVisible, wasCountable: false })
    await raiseApproval(context, tx, appId, message, releasing)
    await releasing.within?.(tx, 'approved')
    return { released: true, sentAt }
  }
  const newSentAt = await appear(context, tx, app, message, now, turn)
  await raiseApproval(context, tx, appId, message, releasing)
  await releasing.within?.(tx, 'approved')
  return { released: true, sentAt: newSentAt }
}

/** Why a message may no longer be written; undefined where it may. */
async function refusalOf(
  context: Context,
  tx: Transaction,
  { appId }: App,
  message: StoredMessage,
): Promise<Refused | undefined> {
  const { sender, kind, receiver, parentId } = message
  try {
    if (parentId !== null) await requireParent(tx, appId, parentId)
    const deed = { key: sendKeyOf(parentId), says: messageKindOf(message) }
    const asApp = sender === systemUid
    await requireMayWrite(context, tx, { appId, sender, kind, receiver, deed, isNew: true, conversation: 'any', asApp })
    return undefined
  } catch (error) {
    return forbidden(error)
  }
}

async function requireParent(on: Queryable, appId: number, parentId: number): Promise<void> {
  const parent = (await readMessages(on, appId, [parentId])).get(parentId)
  if (parent === undefined || isHeld(parent)) throw unknownMessage(parentId)
}

/**
 * The staircase of a group goes by the marks of all its members, and one who reads nothing of others by it has nothing against
 * their own message: then their marks move past it, as far as nothing of others lies between.
 */
const moveOwnMarks = statement(`
  update conversation_states s
  set delivered_sent_at = case when w.has_all then $4 else s.delivered_sent_at end,
    delivered_id = case when w.has_all then $5 else s.delivered_id end,
    read_sent_at = case when w.has_read_all then $4 else s.read_sent_at end,
    read_id = case when w.has_read_all then $5 else s.read_id end
  from (
    select not exists (
      select from messages m
      where m.app_id = o.app_id
      and m.conversation = o.conversation
      and m.countable
      and m.sender <> o.uid
      and (m.sent_at, m.id) > (o.delivered_sent_at, o.delivered_id)
    ) as has_all,
    not exists (
      select from messages m
      where m.app_id = o.app_id
      and m.conversation = o.conversation
      and m.countable
      and m.sender <> o.uid
      and (m.sent_at, m.id) > (o.read_sent_at, o.read_id)
    ) as has_read_all
    from conversation_states o
    where o.app_id = $1
    and o.uid = $2
    and o.conversation = $3
  ) w
  where s.app_id = $1
  and s.uid = $2
  and s.conversation = $3
  and w.has_all`)

/** Puts a message at the end, with all that follows from one that is sent. @returns its `sentAt` */
async function appear(
  context: Context,
  tx: Transaction,
  { appId }: App,
  message: StoredMessage,
  now: number,
  turn: Turn,
): Promise<number> {
  const { id, conversation, sender, kind, receiver, parentId, data } = message
  const [moved] = await tx.query<{ sentAt: number }>(moveToEnd, [appId, id, now, conversation])
  if (moved === undefined) throw new Error(`the message ${id} has no conversation`)
  const { sentAt } = moved
  if (parentId !== null) await tx.query(growThreads, [[appId], [parentId], now])
  await replaceEntry(tx, { appId, id, conversation, data })
  if (kind === 'group') {
    await tx.query(moveOwnMarks, [appId, sender, conversation, sentAt, id])
    await raiseReceipts(context.events, tx, appId, [receiver], now)
  }
  const happened = await eventsOfRelease(context, tx, appId, message, placeOf(message))
  await context.events.record(tx, appId, happened)
  turn.publish(tx, conversation, { sentAt, id }, happened)
  tx.afterCommit(() => context.usage.sent(appId))
  return sentAt
}

/** The verdict of an engine is an event of its own; what reviewers decide is published by those who ask them. */
async function raiseApproval(
  { events }: Context,
  tx: Transaction,
  appId: number,
  message: StoredMessage,
  { by }: Deciding,
): Promise<void> {
  if (by !== 'engine') return
  const place = placeOf(message)
  await events.raise(tx, appId, [{ trigger: 'moderation_engine_approved', place, messageId: message.id }])
}

const selectRevision = statement(`
  select revision
  from groups
  where app_id = $1
  and guid = $2`)

/** The events of a message that is released, as those of one that is sent: with the message as those who listen see it. */
async function eventsOfRelease(
  { events }: Context,
  tx: Transaction,
  appId: number,
  { id: messageId, kind, receiver, mentioned }: StoredMessage,
  place: Place,
): Promise<ChatEvent[]> {
  const isMention = mentioned !== null && (await readUsers(tx, appId, mentioned)).size > 0
  const mention = isMention ? [{ trigger: 'user_mentioned', place, messageId } as const] : []
  const sent = { trigger: 'message_sent', place, messageId } as const
  if (!events.bus.isHeard) return [sent, ...mention]
  const [message] = await showMessages(tx, appId, [...(await readMessages(tx, appId, [messageId])).values()], {
    withTags: true,
  })
  const [group] = await (kind === 'group' ? tx.query<{ revision: number }>(selectRevision, [appId, receiver]) : [])
  return [{ ...sent, ...(message && { message }), ...(group && { groupRevision: group.revision }) }, ...mention]
}
