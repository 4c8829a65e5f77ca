import type { Message } from '@parley/contract'
import * as contract from '@parley/contract'
import { type Route, serve } from '../../../call.ts'
import { systemUid } from '../../../chat/apps.ts'
import type { App } from '../../../chat/identity.ts'
import { type Editor, refuseActions } from '../../../chat/messages/change.ts'
import { readMessageId, requireMessage, showOne } from '../../../chat/messages/read.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { requireActiveUser } from '../../../chat/users/require.ts'
import type { Context } from '../../../context.ts'
import { deleteMessage, editMessage } from '../../messages/index.ts'
import { handIn } from './hand-in.ts'
import { listJudged } from './list.ts'

export const operations: readonly Route[] = [
  serve(contract.sendModeratedMessage, async ({ app, body }, context) => {
    return { data: await handIn(context, app, body) }
  }),

  serve(contract.listModeratedMessages, ({ app, query }, context) => listJudged(context.database, app, query)),

  serve(contract.getModeratedMessage, async ({ app, params }, context) => {
    const message = await requireOne(context, app, params.id)
    return { data: await showOne(context.database, app, message, undefined) }
  }),

  serve(contract.updateModeratedMessage, async ({ app, params, body }, context) => {
    const message = await requireOne(context, app, params.id)
    refuseActions(message)
    const by = { editor: await editorOf(context, app, message), policy: undefined, device: undefined }
    const action = await editMessage(context, app, by, message.id, body, 'senderAndApp')
    const { on } = action.data.entities as { on: { entity: Message } }
    // What waits for an engine is in the answer alone.
    if (on.entity.data.moderation !== undefined) return { data: on.entity }
    const edited = await requireOne(context, app, params.id)
    return { data: await showOne(context.database, app, edited, undefined) }
  }),

  serve(contract.deleteModeratedMessage, async ({ app, params }, context) => {
    const message = await requireOne(context, app, params.id)
    // The app removes those as messages: moderation has nothing to do with them.
    refuseActions(message)
    const byApp = { editor: undefined, policy: undefined, device: undefined }
    await deleteMessage(context, app, byApp, message.id, true, 'senderAndApp')
    return { data: { success: true, message: `message ${message.id} was deleted` } }
  }),
]

/** A message is edited as its sender does; the app itself is no member of a group. */
async function editorOf({ database }: Context, { appId }: App, { sender }: StoredMessage): Promise<Editor> {
  return sender === systemUid ? undefined : (await requireActiveUser(database, appId, sender)).uid
}

/** A message of somebody's; action messages are none. @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` */
async function requireOne({ database }: Context, app: App, id: string): Promise<StoredMessage> {
  return requireMessage(database, app, readMessageId(id), undefined, 'senderAndApp')
}
