import type { BodyOf, sendMessage } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import { unknownMessage } from '../../chat/messages/read.ts'
import { readMessages, type StoredMessage } from '../../chat/messages/rows.ts'
import { isHeld } from '../../chat/messages/traits.ts'
import { conversationId } from '../../chat/naming.ts'
import { mayOpen } from '../../chat/sight/sight.ts'
import { requireActiveUser } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import { nestedThread, noThreadOfActions, notInConversation } from './errors.ts'
import { requireReceiver, type Target } from './target.ts'

type Naming = Pick<BodyOf<typeof sendMessage>, 'parentId' | 'quotedMessageId'>

/** The messages that this one replies to and quotes, which must be of the same conversation, as far as they are named. */
export interface Related {
  readonly parent?: StoredMessage
  readonly quoted?: StoredMessage
}

/** What names no other message. */
export const unrelated: Related = {}

export function isRelated({ parentId, quotedMessageId }: Naming): boolean {
  return parentId !== undefined || quotedMessageId !== undefined
}

/**
 * Reads the messages that a body names.
 * @throws 404 for one that is unknown, or hidden from the sender; 400 `ERR_WRONG_MESSAGE_THREAD*`, `ERR_MESSAGE_THREAD_NESTING` for a parent that takes
 *   no replies from here
 */
export async function readRelated(
  context: Context,
  app: App,
  sender: string,
  target: Target,
  { parentId, quotedMessageId }: Naming,
): Promise<Related> {
  // The batch would find out too, but errors about the sender come before errors about the messages.
  const { role } = await requireActiveUser(context.database, app.appId, sender)
  const ids = [parentId, quotedMessageId].flatMap((id) => (id === undefined ? [] : Number(id)))
  const found = await readMessages(context.database, app.appId, ids)
  const here = conversationId(target.kind, target.kind === 'group' ? target.receiver : sender, target.receiver)
  const read = async (id: number | string, code: 'ERR_WRONG_MESSAGE_THREAD' | 'ERR_MESSAGE_ID_NOT_FOUND') => {
    const message = found.get(Number(id))
    const opens = message !== undefined && !isHeld(message) && (await isOpen(message))
    if (opens && isHere(message)) return message
    // Errors about the receiver come before errors about the messages.
    await requireReceiver(context.database, app, target, sender)
    throw opens ? notInConversation(code, id, here) : unknownMessage(id)
  }
  const parent = parentId === undefined ? undefined : await read(parentId, 'ERR_WRONG_MESSAGE_THREAD')
  if (parent !== undefined && parent.parentId !== null) throw nestedThread(parent.id)
  if (parent?.category === 'action') throw noThreadOfActions(parent.id)
  const quoted = quotedMessageId === undefined ? undefined : await read(quotedMessageId, 'ERR_MESSAGE_ID_NOT_FOUND')
  return { ...(parent && { parent }), ...(quoted && { quoted }) }

  function isHere({ kind, sender: from, receiver }: StoredMessage): boolean {
    if (kind !== target.kind) return false
    return kind === 'group' ? receiver === target.receiver : isPair({ sender: from, receiver }, sender, target.receiver)
  }

  async function isOpen(message: StoredMessage): Promise<boolean> {
    if (sender === systemUid) return true
    const viewer = { uid: sender, policy: await context.policies.of(app.appId, role) }
    return mayOpen(context.database, app.appId, viewer, message)
  }
}

function isPair(message: Pick<StoredMessage, 'sender' | 'receiver'>, a: string, b: string): boolean {
  return (message.sender === a && message.receiver === b) || (message.sender === b && message.receiver === a)
}
