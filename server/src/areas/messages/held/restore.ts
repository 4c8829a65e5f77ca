import type { App } from '../../../chat/identity.ts'
import { changedAt } from '../../../chat/messages/change.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { isHeld, traits } from '../../../chat/messages/traits.ts'
import { moderationTraits } from '../../../chat/moderation/verdict.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { replaceEntry } from '../search/entries.ts'
import { recountThreads } from '../threads/recount.ts'
import {
  type Deciding,
  decided,
  deleted,
  lateForReview,
  type ModerationRow,
  type Refused,
  underLock,
} from './holding.ts'
import { keepDecision } from './log.ts'

export interface Restored {
  readonly restored: true
}

/**
 * Lets everybody see a message again that had been seen before it was blocked: at its old place, silently, counted as
 * it was.
 */
export async function restoreMessage(
  context: Context,
  app: App,
  id: number,
  deciding: Deciding,
): Promise<Restored | Refused> {
  return underLock(context, app, id, async (tx, message, row) => {
    if (message.deletedAt !== null) return deleted(id)
    if (!isHeld(message)) return decided(id, 'is not blocked')
    if (row?.wasVisible !== true) return decided(id, 'was never seen: it is to be released')
    const refused = lateForReview(message, deciding)
    if (refused !== undefined) return refused
    const now = Math.floor(Date.now() / 1000)
    await keepDecision(tx, app.appId, message, deciding, { status: 'approved', wasVisible: true }, now)
    await reappear(tx, app.appId, message, row)
    await deciding.within?.(tx, 'approved')
    return { restored: true } as const
  })
}

const show = statement(`
  update messages
  set traits = traits & ~${moderationTraits} | ${traits.moderated} | $4::int,
    countable = $3,
    updated_at = ${changedAt('$5')}
  where app_id = $1
  and id = $2`)

/**
 * Something has come into the past: remembered counts are counted anew, and the ends may lie here. A place that has no message is that
 * of a friendship, which any message takes.
 */
const moveEnds = statement(`
  update conversations
  set version = version + 1,
    last_sender = null,
    last_sent_at = case when l.is_last then $3 else last_sent_at end,
    last_id = case when l.is_last then $4 else last_id end,
    listed_sent_at = case when l.is_listed then $3 else listed_sent_at end,
    listed_id = case when l.is_listed then $4 else listed_id end
  from (
    select (coalesce(last_sent_at, 0), coalesce(last_id, 0)) < ($3::bigint, $4::bigint) as is_last,
      coalesce(listed_id, 0) = 0 or (listed_sent_at, listed_id) < ($3::bigint, $4::bigint) as is_listed
    from conversations
    where app_id = $1
    and key = $2
  ) l
  where app_id = $1
  and key = $2`)

/** Shows a message at its old place, under the lock. One that nobody had seen there before does not count. */
export async function reappear(
  tx: Transaction,
  appId: number,
  { id, conversation, sentAt, parentId, data }: StoredMessage,
  { wasVisible, wasCountable }: Pick<ModerationRow, 'wasVisible' | 'wasCountable'>,
): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  await tx.query(show, [appId, id, wasVisible && wasCountable, wasVisible ? 0 : traits.released, now])
  await tx.query(moveEnds, [appId, conversation, sentAt, id])
  if (parentId !== null) await recountThreads(tx, appId, [parentId])
  await replaceEntry(tx, { appId, id, conversation, data })
}
