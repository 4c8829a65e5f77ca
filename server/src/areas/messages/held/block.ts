import type { Message } from '@parley/contract'
import { systemUid } from '../../../chat/apps.ts'
import type { App } from '../../../chat/identity.ts'
import { draftMessageAction } from '../../../chat/messages/actions.ts'
import { changedAt, showAction } from '../../../chat/messages/change.ts'
import { mediaKeysOf, releaseUses } from '../../../chat/messages/file-uses.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { showMessages } from '../../../chat/messages/show.ts'
import { isHeld, traits } from '../../../chat/messages/traits.ts'
import { leavesWork, moderationTraits, traitsOfStatus } from '../../../chat/moderation/verdict.ts'
import { placeOf } from '../../../chat/place.ts'
import { notHeldAmong } from '../../../chat/sight/participation.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { inTurn, type Turn } from '../in-turn.ts'
import { unmarkMessage } from '../marks/unmark.ts'
import { recountThreads } from '../threads/recount.ts'
import { type Deciding, decided, deleted, isLate, late, type Refused, underLock } from './holding.ts'
import { keepDecision, logDecision } from './log.ts'

export interface BlockedMessage {
  readonly blocked: true
  /** Others had seen it: it was there for them until now, or had been before it was blocked another time. */
  readonly wasVisible: boolean
}

/**
 * What others had seen (`$4`) is to count again as it did, once it is given back: imports into groups never counted. That its
 * `data` is written, if as it was, takes it out of the search index: a trigger does that.
 */
const disapprove = statement(`
  with kept as (
    update message_moderation k
    set was_countable = m.countable
    from messages m
    where k.app_id = $1
    and k.message = $2
    and m.app_id = k.app_id
    and m.id = k.message
    and $4
  )
  update messages
  set traits = traits & ~${moderationTraits} | ${traitsOfStatus('disapproved')},
    countable = false,
    data = data,
    updated_at = case when $4 then ${changedAt('$3')} else updated_at end
  where app_id = $1
  and id = $2`)

/**
 * Lists show the conversation as if it had never been there: by the message before it, or where a friendship had put it.
 * Remembered counts are counted anew.
 */
const fallBack = statement(`
  update conversations c
  set version = c.version + 1,
    listed_sent_at = case when c.listed_id = $3 then coalesce(l.sent_at, c.begun_at) else c.listed_sent_at end,
    listed_id = case when c.listed_id = $3 then coalesce(l.id, case when c.begun_at is not null then 0 end) else c.listed_id end
  from (select 1) one
  left join lateral (
    select m.sent_at, m.id
    from messages m
    where m.app_id = $1
    and m.conversation = $2
    and not m.purged
    and ${notHeldAmong('m')}
    and not (m.category = 'action' and m.type = 'message')
    order by m.sent_at desc, m.id desc
    limit 1
  ) l on true
  where c.app_id = $1
  and c.key = $2`)

/**
 * Keeps a message from everybody but its sender. One that others have seen leaves every view: open sockets are notified that it
 * is deleted, without its content, and so is the log. One that waits becomes disapproved, and nobody hears of it.
 */
export function blockMessage(
  context: Context,
  app: App,
  id: number,
  deciding: Deciding,
): Promise<BlockedMessage | Refused> {
  const { appId } = app
  return inTurn(context, appId, (turn) =>
    underLock(context, app, id, async (tx, message, row) => {
      const now = Math.floor(Date.now() / 1000)
      const isThere = !isHeld(message)
      if (deciding.by === 'engine' && (message.deletedAt !== null || isLate(deciding, row))) {
        await logDecision(tx, appId, id, deciding, 'late', now)
        return late(id)
      }
      if (message.deletedAt !== null) return deleted(id)
      if ((message.traits & traits.disapproved) !== 0) return decided(id, 'is blocked already')
      const wasVisible = isThere || row?.wasVisible === true
      await keepDecision(tx, appId, message, deciding, { status: 'disapproved', wasVisible }, now)
      if (deciding.hit && leavesWork(deciding.hit)) tx.afterCommit(() => context.moderationActions.soon(app, id))
      await tx.query(disapprove, [appId, id, now, isThere])
      if (isThere) await disappear(context, tx, app, message, now, turn)
      if (deciding.by === 'engine') await raiseVerdict(context, tx, appId, message)
      await deciding.within?.(tx, 'disapproved')
      return { blocked: true, wasVisible }
    }),
  )
}

/** Takes a message out of every view but its sender's, under the lock. */
async function disappear(
  context: Context,
  tx: Transaction,
  app: App,
  message: StoredMessage,
  now: number,
  turn: Turn,
): Promise<void> {
  const { appId } = app
  const { id, conversation, parentId } = message
  await tx.query(fallBack, [appId, conversation, id])
  await unmarkMessage(tx, appId, id)
  if (parentId !== null) await recountThreads(tx, appId, [parentId])
  const { draft, shown } = await draftDeletion(tx, app, message, now)
  const event = { trigger: 'message_deleted', place: placeOf(message), messageId: id, actionId: draft.id } as const
  await context.events.record(tx, appId, [event])
  turn.publish(tx, conversation, draft, [{ ...event, message: shown, exceptFor: message.sender }])
  // A waiting edit that goes with it may have had files of its own.
  await releaseUses(tx, appId, [id], mediaKeysOf(app, message.data))
}

async function raiseVerdict(
  { events }: Context,
  tx: Transaction,
  appId: number,
  message: StoredMessage,
): Promise<void> {
  const place = placeOf(message)
  await events.raise(tx, appId, [{ trigger: 'moderation_engine_blocked', place, messageId: message.id }])
}

/** The action message of a deletion, stored nowhere, about the message as it is when its content is gone. */
async function draftDeletion(
  tx: Transaction,
  app: App,
  message: StoredMessage,
  now: number,
): Promise<{ readonly draft: StoredMessage; readonly shown: Message }> {
  const draft = await draftMessageAction(tx, app.appId, 'deleted', message, message.sender, now)
  const shown = await showAction(tx, app, draft, undefined)
  const nothing = { data: {}, tags: null, mentioned: null, quotedId: null, traits: 0 }
  const cleared = { ...message, ...nothing, updatedAt: now, deletedAt: now, deletedBy: systemUid }
  const [entity] = await showMessages(tx, app.appId, [cleared])
  const entities = { ...(shown.data.entities as object), on: { entity, entityType: 'message' } }
  return { draft, shown: { ...shown, data: { ...shown.data, entities } } }
}
