import {
  ApiError,
  markInteracted,
  pinMessage,
  saveMessage,
  sendBotMessage,
  unpinMessage,
  unsaveMessage,
} from '@parley/contract'
import { type App, serve } from '../../../call.ts'
import type { Context } from '../../../context.ts'
import { readUser } from '../../users/index.ts'
import { readMessageId, requireMessage, showOne } from '../read.ts'
import { send } from '../send.ts'
import { markInteracted as noteInteractions } from './interactions.ts'
import { pinMessage as pin, unpinMessage as unpin } from './pins.ts'
import { saveMessage as save, unsaveMessage as unsave } from './saves.ts'

export const operations = [
  serve(pinMessage, async ({ app, actor, params }, context) => {
    const id = readMessageId(params.id)
    await pin(context, app, actor?.uid, id)
    return { data: await showChanged(context, app, id, actor?.uid) }
  }),

  serve(unpinMessage, async ({ app, actor, params }, context) => {
    const id = readMessageId(params.id)
    await unpin(context, app, actor?.uid, id)
    return { data: await showChanged(context, app, id, actor?.uid) }
  }),

  serve(saveMessage, async ({ app, actor, params }, context) => {
    const id = readMessageId(params.id)
    await save(context, app, actor?.uid ?? '', id)
    return { data: await showChanged(context, app, id, actor?.uid) }
  }),

  serve(unsaveMessage, async ({ app, actor, params }, context) => {
    const id = readMessageId(params.id)
    await unsave(context, app, actor?.uid ?? '', id)
    return { data: await showChanged(context, app, id, actor?.uid) }
  }),

  serve(markInteracted, async ({ app, actor, params, body }, context) => {
    const uid = actor?.uid ?? ''
    await noteInteractions(context, app, uid, readMessageId(params.id), body.interactions)
    return { data: { success: true, message: `The message ${params.id} is marked as interacted for ${uid}.` } }
  }),

  serve(sendBotMessage, async ({ app, params, body }, context) => {
    const bot = await readUser(context.database, app.appId, params.uid.toLowerCase())
    if (bot?.role !== 'bot') throw new ApiError('ERR_BOT_NOT_FOUND', `There is no bot with the uid ${params.uid}.`)
    return { data: await send(context, app, { kind: 'user', uid: bot.uid, via: 'key' }, body) }
  }),
]

async function showChanged(context: Context, app: App, id: number, viewer: string | undefined) {
  return showOne(context.database, app, await requireMessage(context.database, app, id, viewer), viewer)
}
