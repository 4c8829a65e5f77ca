import type { BodyOf, sendMessage, sendThreadMessage } from '@parley/contract'
import type { App, Caller } from '../../../chat/identity.ts'
import { readMessageId, requireMessage } from '../../../chat/messages/read.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import type { Viewer } from '../../../chat/sight/sight.ts'
import type { Context } from '../../../context.ts'
import { findRepeated } from '../repeat.ts'
import { targetsOf } from '../target.ts'

type ReplyBody = BodyOf<typeof sendThreadMessage>

/**
 * A reply in the thread of a message as one sends it: an ordinary message with `parentId`. Where no receiver is named, it
 * goes to the other side of the parent's conversation, or to its group; one that is named must be of that conversation.
 */
export function asReply(caller: Caller, parent: StoredMessage, body: ReplyBody): BodyOf<typeof sendMessage> {
  const { receiver = peerOf(parent, caller), receiverType = parent.kind } = body
  return { ...body, receiver, receiverType, parentId: parent.id }
}

/**
 * The message that somebody replies to. One that they do not see any more is answered where the reply is stored already: they send
 * it again, and get it.
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND`
 */
export async function requireParent(
  context: Context,
  app: App,
  caller: Caller,
  { viewer, id, body }: { readonly viewer: Viewer | undefined; readonly id: string; readonly body: ReplyBody },
): Promise<StoredMessage> {
  const { database } = context
  const parentId = readMessageId(id)
  try {
    return await requireMessage(database, app, parentId, viewer)
  } catch (error) {
    if (body.muid === undefined) throw error
    const parent = (await readMessages(database, app.appId, [parentId])).get(parentId)
    if (parent === undefined) throw error
    for (const target of targetsOf(asReply(caller, parent, body))) {
      const stored = await findRepeated(context, { app, caller, target, muid: body.muid })
      if (stored?.parentId === parentId) return parent
    }
    throw error
  }
}

function peerOf({ sender, receiver, kind }: StoredMessage, caller: Caller): string {
  const isOwn = caller.kind === 'user' && caller.uid === sender
  return kind === 'group' || isOwn ? receiver : sender
}
