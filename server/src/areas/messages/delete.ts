import { type Message, permissionAllows } from '@parley/contract'
import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { erase } from '../../chat/erasure.ts'
import { scopeAllows } from '../../chat/groups/permissions.ts'
import type { App } from '../../chat/identity.ts'
import { draftMessageAction } from '../../chat/messages/actions.ts'
import {
  type ActingEditor,
  changedAt,
  changeMessage,
  recordChange,
  refuseActions,
  requireMessagePermission,
  showAction,
} from '../../chat/messages/change.ts'
import { releaseUses } from '../../chat/messages/file-uses.ts'
import { forgetAnswersAbout } from '../../chat/messages/forget-answers.ts'
import type { HeldFor } from '../../chat/messages/read.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { contentTraits } from '../../chat/messages/traits.ts'
import { forgetEngineAnswers, forgetJudgedText, wasJudged } from '../../chat/moderation/forget.ts'
import { leaveQueue } from '../../chat/moderation/queue.ts'
import { takeBackRemoved } from '../../chat/notifications/shown.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import type { Position } from '../../chat/sight/condition.ts'
import { notHeldIn } from '../../chat/sight/participation.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { notTheSender } from './errors.ts'
import { dropJudging } from './held/waiting.ts'
import { inTurn, publishInTurn } from './in-turn.ts'
import { unmarkMessage } from './marks/unmark.ts'
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
    updated_at = ${changedAt('$4')}
  where app_id = $1
  and id = $2`)

/** Remembered unread counts are counted anew where something has left the past. */
const raiseVersion = statement(`
  update conversations
  set version = version + 1
  where app_id = $1
  and key = $2`)

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
 * reactions, where the one who asks may delete them all. Asked again, a soft deletion changes nothing, notifies nobody, and
 * answers the same action message.
 * @param heldFor who deletes it while moderation holds it
 * @returns its action message
 * @throws 403 `ERR_MESSAGE_NOT_A_SENDER`: its sender deletes a message, in groups admins and moderators, and the app
 */
export async function deleteMessage(
  context: Context,
  app: App,
  { editor, policy, device }: ActingEditor,
  id: number,
  permanent: boolean,
  heldFor: HeldFor = 'sender',
): Promise<Message> {
  const now = Math.floor(Date.now() / 1000)
  const change = async (tx: Transaction, message: StoredMessage) => {
    refuseActions(message)
    const takesReplies = await mayDeleteReplies(tx, app, { editor, policy, device }, message)
    const purges = permanent && takesReplies
    if (message.deletedAt !== null && !purges) {
      return { action: await findDeletion(tx, app.appId, message, message.deletedAt) }
    }
    const replies = purges ? await purgeThread(context, tx, app.appId, message) : []
    if (!purges) await clearMessage(tx, app.appId, message, editor ?? systemUid, now)
    if (message.parentId !== null) await recountThreads(tx, app.appId, [message.parentId])
    await tx.query(raiseVersion, [app.appId, message.conversation])
    const recorded = await recordChange(context, tx, app, 'deleted', message, { editor, device }, now)
    // Replies that went with it are published one by one for whoever keeps copies; those who are connected see its thread go.
    await context.events.record(
      tx,
      app.appId,
      replies.map((messageId) => ({ ...recorded.event, messageId })),
    )
    return recorded
  }
  return inTurn(context, app.appId, (turn) => {
    const changeAndPublish = async (tx: Transaction, message: StoredMessage) => {
      if (permanent && editor === undefined && isNote(message)) return purgeNote(context, tx, app, message)
      const recorded = await change(tx, message)
      return 'action' in recorded
        ? showAction(tx, app, recorded.action, editor)
        : publishInTurn(tx, app, recorded, editor, turn)
    }
    return changeMessage(context, app, editor, id, changeAndPublish, heldFor)
  })
}

/**
 * The action message of a deletion. Of one that was imported, or whose action message is gone or was never stored, it is made as it would
 * be, is stored nowhere, and nobody hears of it: who deleted the message, and when, stays as it was.
 */
async function findDeletion(
  tx: Transaction,
  appId: number,
  message: StoredMessage,
  deletedAt: number,
): Promise<number | StoredMessage> {
  const [action] = await tx.query<{ id: number }>(selectAction, [appId, message.id])
  if (action !== undefined) return action.id
  const { deletedBy, sender } = message
  const by = deletedBy === null || deletedBy === systemUid ? sender : deletedBy
  const draft = await draftMessageAction(tx, appId, 'deleted', message, by, deletedAt)
  return { ...draft, sentAt: deletedAt, updatedAt: deletedAt }
}

/** What is about something else, and that nobody deletes but the app, and then for good: nothing would be left of it. */
function isNote({ category }: StoredMessage): boolean {
  return category === 'action' || category === 'call'
}

/** Removes a message that is about something else. Nobody is notified: there would only be another one. @returns it, as it was */
async function purgeNote(context: Context, tx: Transaction, app: App, message: StoredMessage): Promise<Message> {
  const shown = await showAction(tx, app, message, undefined)
  await purgeThread(context, tx, app.appId, message)
  await tx.query(raiseVersion, [app.appId, message.conversation])
  return shown
}

/** Takes out of a message what it said, and all that hangs on that: it becomes a deleted message. */
export async function clearMessage(
  tx: Transaction,
  appId: number,
  message: Pick<StoredMessage, 'id' | 'conversation' | 'traits'>,
  by: string,
  now: number,
): Promise<void> {
  const { id } = message
  await tx.query(clear, [appId, id, contentTraits, now, by])
  await forgetAnswersAbout(tx, appId, message)
  await leaveQueue(tx, appId, id)
  if (wasJudged(message)) {
    await tx.run(forgetEngineAnswers(appId, sql`array[${id}::bigint]`))
    await forgetJudgedText(tx, appId, id)
    await dropJudging(tx, appId, id, now)
  }
  await releaseUses(tx, appId, [id])
  await unmarkMessage(tx, appId, id)
}

/** No uid is null: asked for nobody's, it looks for any reply. */
const selectReplyBut = statement(`
  select id
  from messages
  where app_id = $1
  and parent_id = $2
  and sender is distinct from $3
  and category <> 'action'
  and deleted_at is null
  and not purged
  and ${notHeldIn('messages')}
  limit 1`)

/**
 * Whether a message may go for good with its replies. Somebody who does not moderate leaves those of others, and who may not
 * delete replies leaves them all: then it becomes a deleted message.
 * @throws 403 `ERR_MESSAGE_NOT_A_SENDER`, `ERR_PERMISSION_DENIED`; 404 for somebody who has left the group meanwhile
 */
async function mayDeleteReplies(
  tx: Transaction,
  app: App,
  { editor, policy }: ActingEditor,
  message: StoredMessage,
): Promise<boolean> {
  if (editor === undefined) return true
  const { moderates, deletesReplies } = await requireRight(tx, app, editor, policy, message)
  if (moderates && deletesReplies) return true
  const left = await tx.query(selectReplyBut, [app.appId, message.id, deletesReplies ? editor : null])
  return left.length === 0
}

/** @throws as `mayDeleteReplies` */
async function requireRight(
  tx: Transaction,
  app: App,
  editor: string,
  policy: RolePolicy | undefined,
  message: StoredMessage,
): Promise<{ moderates: boolean; deletesReplies: boolean }> {
  const member = await requireMessagePermission(tx, app, editor, policy, message, 'delete')
  const moderates = member !== undefined && member.membership.scope !== 'participant'
  if (message.sender !== editor && !moderates) {
    throw notTheSender(message.id, editor, 'delete')
  }
  const deletesReplies =
    permissionAllows(policy?.permissions ?? {}, 'deleteThreadedMessage', 'allow') &&
    (member === undefined || scopeAllows(member.group, member.membership, 'deleteThreadedMessage'))
  return { moderates, deletesReplies }
}

const selectReplies = statement(`
  select id, not (${notHeldIn('messages')}) as "isHeld"
  from messages
  where app_id = $1
  and parent_id = $2
  and not purged
  order by sent_at, id`)

/** From a position on: the entries of what was removed before it are in the index for as long as the transaction lasts. */
const selectOfConversation = statement(`
  select id, sent_at as "sentAt"
  from messages
  where app_id = $1
  and conversation = $2
  and (sent_at, id) > ($3, $4)
  and not purged
  order by sent_at, id
  limit 5000`)

/** Removes all messages of a conversation for good, under its lock; only their positions stay. There is no event of it. */
export async function purgeConversation(
  { tables }: Pick<Context, 'tables'>,
  tx: Transaction,
  appId: number,
  conversation: number,
): Promise<void> {
  let last: Position | undefined = { sentAt: 0, id: 0 }
  while (last !== undefined) {
    const { sentAt, id }: Position = last
    const rows: Position[] = await tx.query<Position>(selectOfConversation, [appId, conversation, sentAt, id])
    const ids = rows.map((row) => row.id)
    if (rows.length > 0) {
      await tx.run(takeBackRemoved(appId, sql`= any(${ids}::bigint[])`))
      await erase(tx, tables, 'ofMessages', { appId, ids })
    }
    last = rows.at(-1)
  }
  await tx.query(raiseVersion, [appId, conversation])
}

/** Removes a message and its replies for good, with all that hangs on them. @returns the ids of the replies whose removal was published */
async function purgeThread(
  { tables }: Context,
  tx: Transaction,
  appId: number,
  message: StoredMessage,
): Promise<number[]> {
  const replies = await tx.query<{ id: number; isHeld: boolean }>(selectReplies, [appId, message.id])
  await erase(tx, tables, 'ofMessages', { appId, ids: [message.id, ...replies.map(({ id }) => id)] })
  return replies.flatMap((reply) => (reply.isHeld ? [] : reply.id))
}
