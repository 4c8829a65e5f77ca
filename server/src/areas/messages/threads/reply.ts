import type { BodyOf, sendThreadMessage } from '@parley/contract'
import type { App, Caller } from '../../../chat/identity.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import type { Context } from '../../../context.ts'
import { send } from '../send.ts'

/**
 * Sends a reply in the thread of a message: an ordinary message with `parentId`. Where no receiver is named, it goes to
 * the other side of the parent's conversation, or to its group; one that is named must be of that conversation.
 */
export function reply(
  context: Context,
  app: App,
  caller: Caller,
  parent: StoredMessage,
  body: BodyOf<typeof sendThreadMessage>,
): ReturnType<typeof send> {
  const { receiver = peerOf(parent, caller), receiverType = parent.kind === 1 ? 'user' : 'group' } = body
  return send(context, app, caller, { ...body, receiver, receiverType, parentId: parent.id })
}

function peerOf({ sender, receiver, kind }: StoredMessage, caller: Caller): string {
  const isOwn = caller.kind === 'user' && caller.uid === sender
  return kind === 2 || isOwn ? receiver : sender
}
