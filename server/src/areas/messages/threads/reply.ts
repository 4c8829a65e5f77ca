import type { BodyOf, sendMessage, sendThreadMessage } from '@parley/contract'
import type { Caller } from '../../../chat/identity.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'

type ReplyBody = BodyOf<typeof sendThreadMessage>

/**
 * A reply in the thread of a message as one sends it: an ordinary message with `parentId`. Where no receiver is named, it
 * goes to the other side of the parent's conversation, or to its group; one that is named must be of that conversation.
 */
export function asReply(caller: Caller, parent: StoredMessage, body: ReplyBody): BodyOf<typeof sendMessage> {
  const { receiver = peerOf(parent, caller), receiverType = parent.kind } = body
  return { ...body, receiver, receiverType, parentId: parent.id }
}

function peerOf({ sender, receiver, kind }: StoredMessage, caller: Caller): string {
  const isOwn = caller.kind === 'user' && caller.uid === sender
  return kind === 'group' || isOwn ? receiver : sender
}
