import { ApiError, type Message } from '@parley/contract'
import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import { writeMessageAction } from '../../chat/messages/actions.ts'
import {
  type ActingEditor,
  changeMessage,
  publishAction,
  refuseActions,
  requireMessagePermission,
  showAction,
} from '../../chat/messages/change.ts'
import { releaseUses } from '../../chat/messages/file-uses.ts'
import { forgetReactionEvents } from '../../chat/messages/forget-reactions.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { contentTraits } from '../../chat/messages/traits.ts'
import { placeOf } from '../../chat/place.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { recountThreads } from './threads/recount.ts'

const clear = statement(`
  update messages
  set data = '{}',
    tags = null,
    mentioned = null,
    traits = traits & ~$3::int,
    countable = false,
    deleted_at = $4,
    deleted_by = $5,
    updated_at = greatest($4, sent_at)
  where app_id = $1
  and id = $2`)

/** Remembered unread counts are counted anew where something has left the past. */
const raiseVersion = statement(`
  update conversations
  set version = version + 1
  where app_id = $1
  and key = $2`)

const unpin = statement(`
  delete from pinned_messages
  where app_id = $1
  and message_id = $2`)

const selectAction = statement(`
  select id
  from messages
  where app_id = $1
  and subject_id = $2
  and data->>'action' = 'deleted'
  order by id desc
  limit 1`)

/**
 * Deletes a message: softly, so that it stays in the history without its content, or for good with its replies and
 * reactions. Asked again, a soft deletion answers the same action message.
 * @returns the action message that tells of it
 * @throws 403 `ERR_MESSAGE_NOT_A_SENDER`: its sender deletes a message, in groups admins and moderators, and the app
 */
export async function deleteMessage(
  context: Context,
  app: App,
  { editor, policy, device }: ActingEditor,
  id: number,
  permanent: boolean,
): Promise<Message> {
  const now = Math.floor(Date.now() / 1000)
  const { actionId, event } = await changeMessage(context, app, editor, id, async (tx, message) => {
    refuseActions(message)
    if (editor !== undefined) await requireRight(tx, app, editor, policy, message)
    if (message.deletedAt !== null && !permanent) {
      const [action] = await tx.query<{ id: number }>(selectAction, [app.appId, id])
      if (action !== undefined) return { actionId: action.id, event: undefined }
    }
    const replies = permanent ? await purgeThread(tx, app.appId, message) : []
    if (!permanent) await tx.query(clear, [app.appId, id, contentTraits, now, editor ?? systemUid])
    await releaseUses(tx, app.appId, [id])
    await tx.query(unpin, [app.appId, id])
    if (message.parentId !== null) await recountThreads(tx, app.appId, [message.parentId])
    await tx.query(raiseVersion, [app.appId, message.conversation])
    const actionId = await writeMessageAction(tx, app.appId, 'deleted', message, editor ?? message.sender, now)
    const place = placeOf(message)
    const deleted = (messageId: number) => ({ trigger: 'message_deleted', place, messageId, actionId, device }) as const
    const event = deleted(id)
    // Replies that went with it are told one by one to whoever keeps copies; those who are connected see its thread go.
    await context.events.record(tx, app.appId, [event, ...replies.map(deleted)])
    return { actionId, event }
  })
  if (event === undefined) return showAction(context.database, app, actionId, editor)
  return publishAction(context, app, event, editor)
}

async function requireRight(
  tx: Transaction,
  app: App,
  editor: string,
  policy: RolePolicy | undefined,
  message: StoredMessage,
): Promise<void> {
  const membership = await requireMessagePermission(tx, app, editor, policy, message, 'delete')
  const moderates = membership !== undefined && membership.scope !== 'participant'
  if (message.sender !== editor && !moderates) {
    throw new ApiError('ERR_MESSAGE_NOT_A_SENDER', `${editor} may not delete the message ${message.id}.`)
  }
}

const selectReplies = statement(`
  select id
  from messages
  where app_id = $1
  and parent_id = $2
  and not purged
  order by sent_at, id`)

/** Only the position stays: a cursor that names the message still works. */
const purge = statement(`
  update messages
  set sender = '', receiver = '', category = '', type = '', data = '{}', parent_id = null, quoted_id = null, muid = null,
    tags = null, mentioned = null, traits = 0, countable = false, updated_at = sent_at, delivered_at = null,
    read_at = null, edited_at = null, edited_by = null, deleted_at = null, deleted_by = null, subject_id = null,
    purged = true
  where app_id = $1
  and id = any($2::bigint[])`)

/** Every table in which something of a message lives, with the column that names it. */
const belongings = [
  ['reactions', 'message_id'],
  ['threads', 'parent_id'],
  ['thread_subscriptions', 'parent_id'],
  ['pinned_messages', 'message_id'],
  ['saved_messages', 'message_id'],
  ['interactions', 'message_id'],
].map(([table, column]) =>
  statement(`
  delete from ${table}
  where app_id = $1
  and ${column} = any($2::bigint[])`),
)

const selectOfConversation = statement(`
  select id
  from messages
  where app_id = $1
  and conversation = $2
  and not purged
  order by sent_at, id
  limit 5000`)

/** Removes all messages of a conversation for good, under its lock; only their positions stay. */
export async function purgeConversation(tx: Transaction, appId: number, conversation: number): Promise<void> {
  for (;;) {
    const rows = await tx.query<{ id: number }>(selectOfConversation, [appId, conversation])
    if (rows.length === 0) break
    await purgeMessages(
      tx,
      appId,
      rows.map((row) => row.id),
    )
  }
  await tx.query(raiseVersion, [appId, conversation])
}

/** Removes a message and its replies for good, with all that hangs on them. @returns the ids of the replies */
async function purgeThread(tx: Transaction, appId: number, message: StoredMessage): Promise<number[]> {
  const replies = (await tx.query<{ id: number }>(selectReplies, [appId, message.id])).map(({ id }) => id)
  await purgeMessages(tx, appId, [message.id, ...replies])
  return replies
}

async function purgeMessages(tx: Transaction, appId: number, ids: readonly number[]): Promise<void> {
  await releaseUses(tx, appId, ids)
  await tx.run(forgetReactionEvents.ofMessages(appId, sql`${ids}::bigint[]`))
  for (const remove of belongings) await tx.query(remove, [appId, ids])
  await tx.query(purge, [appId, ids])
}
