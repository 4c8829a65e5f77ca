import { ApiError, type Message } from '@parley/contract'
import type { Context } from '../../context.ts'
import type { MessageChanged } from '../../events/types.ts'
import type { Database, Queryable, Transaction } from '../../store/database.ts'
import { lockConversation } from '../conversations/membership.ts'
import { type Membership, readMembership } from '../groups/access.ts'
import { requireScopePermission } from '../groups/permissions.ts'
import { readGroup } from '../groups/rows.ts'
import type { App } from '../identity.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { requireFeature, requireRolePermission, roleDenied, roleList } from '../roles/rules.ts'
import { identifyViewer } from '../sight/sight.ts'
import { requireMessage, unknownMessage } from './read.ts'
import { readMessages, type StoredMessage } from './rows.ts'
import { showMessages } from './show.ts'

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
 */
export async function changeMessage<Result>(
  context: Context,
  app: App,
  editor: Editor,
  id: number,
  change: (tx: Transaction, message: StoredMessage) => Promise<Result>,
): Promise<Result> {
  return changeSeen(context.database, app, await requireVisible(context, app, editor, id), change)
}

/** A message that the editor may open. @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` */
export async function requireVisible(
  { database, policies }: Context,
  app: App,
  editor: Editor,
  id: number,
): Promise<StoredMessage> {
  const viewer = editor === undefined ? undefined : await identifyViewer(database, policies, app.appId, editor)
  return requireMessage(database, app, id, viewer)
}

/** As `changeMessage`, of a message that the editor was found to see. */
export function changeSeen<Result>(
  database: Database,
  app: App,
  { id, conversation }: StoredMessage,
  change: (tx: Transaction, message: StoredMessage) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    await lockConversation(tx, app.appId, conversation)
    const message = (await readMessages(tx, app.appId, [id])).get(id)
    if (message === undefined) throw unknownMessage(id)
    return change(tx, message)
  })
}

/** @throws 403 `ERR_MESSAGE_ACTION_NOT_ALLOWED` for action and call messages, which nobody edits or deletes */
export function refuseActions(message: StoredMessage): void {
  if (message.category === 'action' || message.category === 'call') {
    throw new ApiError('ERR_MESSAGE_ACTION_NOT_ALLOWED', `A message of category ${message.category} cannot be changed.`)
  }
}

/**
 * The editor's membership if the message is in a group, after checking the permissions of their role and scope.
 * @throws 403 `ERR_PERMISSION_DENIED`
 */
export async function requireMessagePermission(
  on: Queryable,
  app: App,
  editor: string,
  policy: RolePolicy | undefined,
  message: StoredMessage,
  does: 'edit' | 'delete',
): Promise<Membership | undefined> {
  if (policy !== undefined) await requireRoleRight(on, app, policy, message, does)
  if (message.kind === 1) return undefined
  if (does === 'delete') requireFeature(policy, 'deleteGroupMessages')
  const [group, membership] = await Promise.all([
    readGroup(on, app.appId, message.receiver),
    readMembership(on, app.appId, message.receiver, editor),
  ])
  if (group === undefined || membership === undefined) throw unknownMessage(message.id)
  requireScopePermission(group, membership, message.parentId === null ? `${does}Message` : `${does}ThreadedMessage`)
  return membership
}

/** Messages of members of some scopes may be out of the reach of a role; who has left the group has no scope. */
async function requireRoleRight(
  on: Queryable,
  app: App,
  policy: RolePolicy,
  message: StoredMessage,
  does: 'edit' | 'delete',
): Promise<void> {
  requireRolePermission(policy, message.parentId === null ? `${does}Message` : `${does}ThreadedMessage`)
  const denied = roleList(policy, `${does}Message.denyForScopes`)
  if (denied === null || message.kind === 1 || message.parentId !== null) return
  const sender = await readMembership(on, app.appId, message.receiver, message.sender)
  if (sender !== undefined && denied.includes(sender.scope)) throw roleDenied(policy, `${does}Message.denyForScopes`)
}

/** The action message of an edit or deletion as answers show it. */
export async function showAction(on: Queryable, app: App, actionId: number, editor: Editor): Promise<Message> {
  const action = (await readMessages(on, app.appId, [actionId])).get(actionId)
  if (action === undefined) throw unknownMessage(actionId)
  const [shown] = await showMessages(on, app.appId, [action], { viewer: editor, withHidden: true })
  return shown as Message
}

/**
 * Puts the event of an edit or deletion on the bus, once it is committed and recorded.
 * @returns its action message, as answers show it
 */
export async function publishAction(
  { database, events }: Context,
  app: App,
  event: MessageChanged,
  editor: Editor,
): Promise<Message> {
  const message = await showAction(database, app, event.actionId, editor)
  events.publish(app.appId, { ...event, message })
  return message
}
