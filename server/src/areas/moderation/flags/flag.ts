import { ApiError, type BodyOf, type flagMessage } from '@parley/contract'
import { lockConversation } from '../../../chat/conversations/membership.ts'
import type { App } from '../../../chat/identity.ts'
import { refuseActions, requireVisible } from '../../../chat/messages/change.ts'
import { unknownMessage } from '../../../chat/messages/read.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import { isHeld } from '../../../chat/messages/traits.ts'
import { openReview } from '../../../chat/moderation/queue.ts'
import { lockUser } from '../../../chat/users/locks.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'
import { requireReason } from '../reasons/reasons.ts'

/** @returns whether this user had not flagged it before */
const upsert = statement(`
  insert into moderation_flags as f (
    app_id, message, uid, reason_id, reason_name, reason_description, remark, flagged_at
  )
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (app_id, message, uid) do update
  set reason_id = excluded.reason_id,
    reason_name = excluded.reason_name,
    reason_description = excluded.reason_description,
    remark = excluded.remark,
    flagged_at = excluded.flagged_at
  returning f.xmax::text = '0' as "isNew"`)

/**
 * A user flags a message that they see. Each counts once; a second flag of theirs replaces the first, and opens a review again
 * only where the message says something else by now.
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND`, also for what is hidden from them, held or deleted; 404 `ERR_REASON_NOT_FOUND`;
 *   403 `ERR_SELF_ACTION_DENIED` for their own message; 403 `ERR_MESSAGE_ACTION_NOT_ALLOWED` for an action
 */
export async function flag(
  context: Context,
  app: App,
  uid: string,
  id: number,
  { id: reason, reasonId = reason, remark }: BodyOf<typeof flagMessage>,
): Promise<void> {
  const message = await requireVisible(context, app, uid, id)
  if (!isThere(message)) throw unknownMessage(id)
  refuseActions(message)
  if (message.sender === uid) throw ownMessage(id)
  const picked = reasonId === undefined ? undefined : await requireReason(context.database, app.appId, reasonId)
  const now = Math.floor(Date.now() / 1000)
  await context.database.transaction(async (tx) => {
    await lockUser(tx, app.appId, uid)
    // Nothing is flagged that is deleted, removed for good or taken by moderation at this moment.
    await lockConversation(tx, app.appId, message.conversation)
    if (!isThere((await readMessages(tx, app.appId, [id])).get(id))) throw unknownMessage(id)
    const reasons = [picked?.id ?? null, picked?.name ?? null, picked?.description ?? null]
    const values = [app.appId, id, uid, ...reasons, remark || null, now]
    const [flagged] = await tx.query<{ isNew: boolean }>(upsert, values)
    await openReview(tx, app.appId, id, { isNew: flagged?.isNew === true }, now)
  })
}

function isThere(message: StoredMessage | undefined): boolean {
  return message !== undefined && message.deletedAt === null && !isHeld(message)
}

function ownMessage(id: number): ApiError {
  return new ApiError('ERR_SELF_ACTION_DENIED', `Users cannot flag their own messages, such as ${id}.`)
}
