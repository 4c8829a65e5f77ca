import { ApiError, type Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { systemUid } from '../apps.ts'
import type { App } from '../identity.ts'
import { isFriendsMode, roleDenied } from '../roles/rules.ts'
import { mayOpen, type Viewer } from '../sight/sight.ts'
import { areFriends } from '../users/friends.ts'
import { readMessages, type StoredMessage } from './rows.ts'
import { showMessages } from './show.ts'
import { isHeld } from './traits.ts'

/** The id of a message as a path gives it. @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` for what cannot be one */
export function readMessageId(text: string): number {
  const id = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(id)) throw unknownMessage(text)
  return id
}

export function unknownMessage(id: string | number): ApiError {
  return new ApiError('ERR_MESSAGE_ID_NOT_FOUND', `There is no message with the id ${id}.`)
}

/**
 * For whom a message is there by its id while moderation holds it: to read, edit and delete it for its sender, to read it
 * for the app as well. For all else it is there for nobody.
 */
export type HeldFor = 'nobody' | 'sender' | 'senderAndApp'

/** Whether a message is there for somebody as far as moderation holds it. @param uid undefined for the app */
export function isThereFor(heldFor: HeldFor, uid: string | undefined, message: StoredMessage): boolean {
  if (!isHeld(message)) return true
  return uid === undefined ? heldFor === 'senderAndApp' : heldFor !== 'nobody' && message.sender === uid
}

/**
 * A message that the viewer may open: one that they see, or wrote themselves. The app sees all. What is hidden is answered
 * as what does not exist.
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND`
 */
export async function requireMessage(
  on: Queryable,
  app: App,
  id: number,
  viewer: Viewer | undefined,
  heldFor: HeldFor = 'nobody',
): Promise<StoredMessage> {
  const message = (await readMessages(on, app.appId, [id])).get(id)
  if (message === undefined || !isThereFor(heldFor, viewer?.uid, message)) throw unknownMessage(id)
  if (viewer !== undefined && !(await mayOpen(on, app.appId, viewer, message))) throw unknownMessage(id)
  return message
}

/** Whether a user's role lets them read the details of a message. @throws 403 `ERR_PERMISSION_DENIED` */
export async function requireMessageDetails(
  on: Queryable,
  app: App,
  { sender }: StoredMessage,
  viewer: Viewer | undefined,
): Promise<void> {
  const { uid, policy } = viewer ?? {}
  if (policy === undefined || uid === undefined || !isFriendsMode(policy, 'getMessageDetails.mode')) return
  if (sender === uid || sender === systemUid) return
  if (!(await areFriends(on, app.appId, uid, sender))) throw roleDenied(policy, 'getMessageDetails.mode')
}

/** One message as answers show it. */
export async function showOne(
  on: Queryable,
  app: App,
  message: StoredMessage,
  viewer: Viewer | undefined,
): Promise<Message> {
  const options = { viewer: viewer?.uid, policy: viewer?.policy, withTags: true }
  const [shown] = await showMessages(on, app.appId, [message], options)
  return shown as Message
}

/** A message as it is now, for a caller whose access was just checked. */
export async function showChanged(on: Queryable, app: App, id: number, viewer: Viewer | undefined): Promise<Message> {
  return showOne(on, app, await requireMessage(on, app, id, undefined), viewer)
}
