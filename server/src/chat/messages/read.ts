import { ApiError, type Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { readMembership } from '../groups/access.ts'
import { readGroup } from '../groups/rows.ts'
import type { App } from '../identity.ts'
import { readLimits, readVisible, type Viewer } from '../sight/sight.ts'
import { readMessages, type StoredMessage } from './rows.ts'
import { showMessages } from './show.ts'

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
 * A message that the viewer may see: sender or receiver, or member of the group whose scope does not hide it from him
 * (`listMessages.*`), which it never does with what he wrote himself. The app sees all.
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND`, 403 `ERR_MESSAGE_NO_ACCESS`
 */
export async function requireMessage(
  on: Queryable,
  app: App,
  id: number,
  viewer: string | undefined,
): Promise<StoredMessage> {
  const message = (await readMessages(on, app.appId, [id])).get(id)
  if (message === undefined) throw unknownMessage(id)
  if (viewer === undefined || (await mayRead(on, app, message, viewer))) return message
  throw new ApiError(
    'ERR_MESSAGE_NO_ACCESS',
    `The message ${id} is not open to ${viewer}: he takes no part in its conversation, or his scope does not show it.`,
  )
}

async function mayRead(on: Queryable, app: App, message: StoredMessage, viewer: string): Promise<boolean> {
  if (message.kind === 1) return message.sender === viewer || message.receiver === viewer
  const [membership, group] = await Promise.all([
    readMembership(on, app.appId, message.receiver, viewer),
    readGroup(on, app.appId, message.receiver),
  ])
  // To others a private group does not exist, nor what is said in it.
  if (membership === undefined && group?.type === 'private') throw unknownMessage(message.id)
  if (membership === undefined) return false
  if (message.sender === viewer || group?.permissionsVersion === 0) return true
  return (await readVisible(on, app.appId, { uid: viewer, policy: undefined }, [message])).has(message.id)
}

/** One message as answers show it. */
export async function showOne(
  on: Queryable,
  app: App,
  message: StoredMessage,
  viewer: Viewer | undefined,
): Promise<Message> {
  const limits =
    viewer === undefined || message.quotedId === null ? [] : await readLimits(on, app.appId, viewer, [message])
  const [shown] = await showMessages(on, app.appId, [message], { viewer: viewer?.uid, withTags: true, limits })
  return shown as Message
}
