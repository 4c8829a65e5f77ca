import { ApiError, type Message } from '@parley/contract'
import type { Context } from '../../context.ts'
import type { MessageChanged } from '../../events/types.ts'
import type { Database, Queryable, Transaction } from '../../store/database.ts'
import { lockConversation } from '../conversations/membership.ts'
import { type Membership, readMembership } from '../groups/access.ts'
import type { GroupRow } from '../groups/rows.ts'
import type { App } from '../identity.ts'
import { placeOf } from '../place.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { requireFeature, requireRolePermission, roleDenied, roleList } from '../roles/rules.ts'
import { identifyViewer } from '../sight/sight.ts'
import { draftMessageAction, writeMessageAction } from './actions.ts'
import { type HeldFor, isThereFor, requireMessage, unknownMessage } from './read.ts'
import { readMessages, type StoredMessage } from './rows.ts'
import { requireMessageScopePermission } from './scope-permissions.ts'
import { showMessages } from './show.ts'
import { isHeld } from './traits.ts'

/**
 * When a message changes, as SQL over its row. Later than it was sent, always: so lists of what has changed have what changed within the
 * second of its sending.
 * @param now epoch seconds, an expression
 */
export const changedAt = (now: string): string => `greatest(${now}::bigint, sent_at + 1)`

/** Who changes a message: a user, or the app itself, to whom no rule applies. */
export type Editor = string | undefined

/** An editor, with the policy of their role and the device they use. */
export interface ActingEditor {
  readonly editor: Editor
  readonly policy: RolePolicy | undefined
  readonly device: string | undefined
}

/**
 * Changes a message in a transaction of its own, under its conversation's lock: what is sent, marked or changed at the
 * same time comes before or after. The message given to `change` is read under the lock.
 * @param heldFor who changes it while moderation holds it
 */
export async function changeMessage<Result>(
  context: Context,
  app: App,
  editor: Editor,
  id: number,
  change: (tx: Transaction, message: StoredMessage) => Promise<Result>,
  heldFor: HeldFor = 'nobody',
): Promise<Result> {
  const seen = await requireVisible(context, app, editor, id, heldFor)
  return changeSeen(context.database, app, editor, seen, change, heldFor)
}

/** A message that the editor may open. @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` */
export async function requireVisible(
  { database, policies }: Context,
  app: App,
  editor: Editor,
  id: number,
  heldFor: HeldFor = 'nobody',
): Promise<StoredMessage> {
  const viewer = editor === undefined ? undefined : await identifyViewer(database, policies, app.appId, editor)
  return requireMessage(database, app, id, viewer, heldFor)
}

/** As `changeMessage`, of a message that the editor was found to see. Moderation may have taken it since. */
export function changeSeen<Result>(
  database: Database,
  app: App,
  editor: Editor,
  { id, conversation }: StoredMessage,
  change: (tx: Transaction, message: StoredMessage) => Promise<Result>,
  heldFor: HeldFor = 'nobody',
): Promise<Result> {
  return database.transaction(async (tx) => {
    await lockConversation(tx, app.appId, conversation)
    const message = (await readMessages(tx, app.appId, [id])).get(id)
    if (message === undefined || !isThereFor(heldFor, editor, message)) throw unknownMessage(id)
    return change(tx, message)
  })
}

/** @throws 403 `ERR_MESSAGE_ACTION_NOT_ALLOWED` for action and call messages, which nobody edits or deletes */
export function refuseActions(message: StoredMessage): void {
  if (message.category === 'action' || message.category === 'call') {
    throw unchangeable(message.category)
  }
}

/**
 * Whether their role and, in a group, their scope let a user edit or delete a message.
 * @returns the group and their membership, if the message is in a group
 * @throws 403 `ERR_PERMISSION_DENIED`; 404 if they have left the group meanwhile
 */
export async function requireMessagePermission(
  on: Queryable,
  app: App,
  editor: string,
  policy: RolePolicy | undefined,
  message: StoredMessage,
  does: 'edit' | 'delete',
): Promise<{ group: GroupRow; membership: Membership } | undefined> {
  if (policy !== undefined) await requireMessageRolePermission(on, app, policy, message, does)
  if (message.kind === 'user') return undefined
  if (does === 'delete') requireFeature(policy, 'deleteGroupMessages')
  const isReply = message.parentId !== null
  return requireMessageScopePermission(on, app, editor, message, isReply ? `${does}ThreadedMessage` : `${does}Message`)
}

/** Messages of members of some scopes may be out of the reach of a role; a sender who has left the group has no scope. */
async function requireMessageRolePermission(
  on: Queryable,
  app: App,
  policy: RolePolicy,
  message: StoredMessage,
  does: 'edit' | 'delete',
): Promise<void> {
  requireRolePermission(policy, message.parentId === null ? `${does}Message` : `${does}ThreadedMessage`)
  const denied = roleList(policy, `${does}Message.denyForScopes`)
  if (denied === null || message.kind === 'user' || message.parentId !== null) return
  const sender = await readMembership(on, app.appId, message.receiver, message.sender)
  if (sender !== undefined && denied.includes(sender.scope)) throw roleDenied(policy, `${does}Message.denyForScopes`)
}

/** The action message of an edit or deletion as answers show it. @param action its id, where it is stored */
export async function showAction(
  on: Queryable,
  app: App,
  action: number | StoredMessage,
  editor: Editor,
): Promise<Message> {
  const row = typeof action === 'number' ? (await readMessages(on, app.appId, [action])).get(action) : action
  if (row === undefined) throw unknownMessage(action as number)
  const [shown] = await showMessages(on, app.appId, [row], { viewer: editor, withHidden: true })
  return shown as Message
}

/** The event of an edit or a deletion. */
export interface RecordedChange {
  readonly event: MessageChanged
  /** Its action message, where moderation holds what was changed: that is shown to the sender alone, and stored nowhere. */
  readonly draft?: { readonly action: StoredMessage; readonly sender: string }
}

/** Writes the action message and the event of an edit or a deletion, in its transaction and under the conversation's lock. */
export async function recordChange(
  { events }: Pick<Context, 'events'>,
  tx: Transaction,
  app: App,
  does: 'edited' | 'deleted',
  message: StoredMessage,
  { editor, device }: Pick<ActingEditor, 'editor' | 'device'>,
  now: number,
): Promise<RecordedChange> {
  const { id: messageId, sender } = message
  const about = [tx, app.appId, does, message, editor ?? sender, now] as const
  const eventOf = (actionId: number) =>
    ({ trigger: `message_${does}`, place: placeOf(message), messageId, actionId, device }) as const
  if (isHeld(message)) {
    const action = await draftMessageAction(...about)
    return { event: eventOf(action.id), draft: { action, sender } }
  }
  const event = eventOf(await writeMessageAction(...about))
  await events.record(tx, app.appId, [event])
  return { event }
}

/** 403: nobody edits or deletes actions and calls. */
function unchangeable(category: string): ApiError {
  return new ApiError('ERR_MESSAGE_ACTION_NOT_ALLOWED', `A message of category ${category} cannot be changed.`)
}
