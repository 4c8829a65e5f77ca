import { type Message, markInteracted, pinMessage, saveMessage, unpinMessage, unsaveMessage } from '@parley/contract'
import { serve } from '../../../call.ts'
import { type App, actingDevice } from '../../../chat/identity.ts'
import { readMessageId, requireMessage, showChanged, showOne } from '../../../chat/messages/read.ts'
import { mayOpen, type Viewer } from '../../../chat/sight/sight.ts'
import type { Context } from '../../../context.ts'
import { markInteracted as noteInteractions } from './interactions.ts'
import { pinMessage as pin, unpinMessage as unpin } from './pins.ts'
import { publishMark } from './publish.ts'
import { saveMessage as save, unsaveMessage as unsave } from './saves.ts'

export const operations = [
  serve(pinMessage, async ({ app, caller, actor, policy, params }, context) => {
    const id = readMessageId(params.id)
    if (await pin(context, app, actor?.uid, id)) await publishMark(context, app, caller, id, 'pinned')
    return { data: await showChanged(context.database, app, id, actor && { uid: actor.uid, policy }) }
  }),

  serve(unpinMessage, async ({ app, caller, actor, policy, params }, context) => {
    const id = readMessageId(params.id)
    if (await unpin(context, app, actor?.uid, id)) await publishMark(context, app, caller, id, 'unpinned')
    return { data: await showChanged(context.database, app, id, actor && { uid: actor.uid, policy }) }
  }),

  serve(saveMessage, async ({ app, caller, actor, policy, params }, context) => {
    const id = readMessageId(params.id)
    const viewer = { uid: actor.uid, policy }
    const isChanged = await save(context, app, viewer, id)
    const data = await showChanged(context.database, app, id, viewer)
    if (isChanged) await publishMark(context, app, caller, id, 'saved', data)
    return { data }
  }),

  serve(unsaveMessage, async ({ app, caller, actor, policy, params }, context) => {
    const id = readMessageId(params.id)
    const viewer = { uid: actor.uid, policy }
    const isChanged = await unsave(context, app, viewer, id)
    const data = await showUnsaved(context, app, id, viewer)
    if (isChanged) await publishMark(context, app, caller, id, 'unsaved', data)
    return { data }
  }),

  serve(markInteracted, async ({ app, caller, actor, params, body }, context) => {
    const { uid } = actor
    const by = { uid, device: actingDevice(caller) }
    await noteInteractions(context, app, by, readMessageId(params.id), body.interactions)
    return { data: { success: true, message: `The message ${params.id} is marked as interacted for ${uid}.` } }
  }),
]

/** A message that its user does not see any more is only named, without what it says. */
async function showUnsaved({ database }: Context, app: App, id: number, viewer: Viewer): Promise<Message> {
  const message = await requireMessage(database, app, id, undefined)
  const shown = await showOne(database, app, message, viewer)
  if (await mayOpen(database, app.appId, viewer, message)) return shown
  const { conversationId, sender, receiverType, receiver, category, type, sentAt } = shown
  const bare = { conversationId, sender, receiverType, receiver, category, type, sentAt }
  return { id: shown.id, ...bare, data: {}, updatedAt: sentAt }
}
