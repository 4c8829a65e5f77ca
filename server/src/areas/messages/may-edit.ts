import type { App } from '../../chat/identity.ts'
import { type Editor, refuseActions, requireMessagePermission } from '../../chat/messages/change.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { identifyViewer } from '../../chat/sight/sight.ts'
import { messageKindOf, sendKeyOf } from '../../chat/writing/deeds.ts'
import { requireMayWriteTo } from '../../chat/writing/may-write.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import type { Content } from './content.ts'
import { alreadyDeleted, notTheSender } from './errors.ts'

/**
 * Only its sender edits a message, and the app; actions, calls and deleted messages nobody.
 * @throws 403 `ERR_MESSAGE_NOT_A_SENDER`, `ERR_MESSAGE_ACTION_NOT_ALLOWED`
 */
export function requireEditable(message: StoredMessage, editor: Editor): void {
  refuseActions(message)
  if (editor !== undefined && message.sender !== editor) {
    throw notTheSender(message.id, editor, 'edit')
  }
  if (message.deletedAt !== null) {
    throw alreadyDeleted(message.id)
  }
}

/**
 * Do their role and their scope let them edit it, and could they send what it says then? Nothing is asked of the app.
 * @throws as sending does
 */
export async function requireMayEdit(
  context: Context,
  on: Queryable,
  app: App,
  editor: Editor,
  message: StoredMessage,
  content: Content,
): Promise<void> {
  if (editor === undefined) return
  // As it is now: judges may have taken their time.
  const { policy } = await identifyViewer(on, context.policies, app.appId, editor)
  await requireMessagePermission(on, app, editor, policy, message, 'edit')
  const deed = { key: sendKeyOf(message.parentId), says: messageKindOf(content) }
  await requireMayWriteTo(context, on, app.appId, editor, message, deed)
}
