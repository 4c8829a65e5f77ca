import {
  addReaction as addReactionOperation,
  listReactionsOfKind,
  listReactions as listReactionsOperation,
  removeReaction as removeReactionOperation,
} from '@parley/contract'
import { serve } from '../../../call.ts'
import { type App, actingDevice } from '../../../chat/identity.ts'
import { readMessageId, requireMessage, showOne } from '../../../chat/messages/read.ts'
import type { Viewer } from '../../../chat/sight/sight.ts'
import type { Context } from '../../../context.ts'
import { addReaction, removeReaction } from './give.ts'
import { listReactions } from './list.ts'

export const operations = [
  serve(listReactionsOperation, async ({ app, actor, policy, params, query }, { database }) =>
    listReactions(database, app, actor && { uid: actor.uid, policy }, readMessageId(params.id), query),
  ),

  serve(listReactionsOfKind, async ({ app, actor, policy, params, query }, { database }) =>
    listReactions(database, app, actor && { uid: actor.uid, policy }, readMessageId(params.id), query, params.reaction),
  ),

  serve(addReactionOperation, async ({ app, caller, actor, policy, params }, context) => {
    const id = readMessageId(params.id)
    const uid = actor.uid
    await addReaction(context, app, { uid, device: actingDevice(caller) }, id, params.reaction)
    return { data: await showChanged(context, app, id, { uid, policy }) }
  }),

  serve(removeReactionOperation, async ({ app, caller, actor, policy, params }, context) => {
    const id = readMessageId(params.id)
    const uid = actor.uid
    await removeReaction(context, app, { uid, device: actingDevice(caller) }, id, params.reaction)
    return { data: await showChanged(context, app, id, { uid, policy }) }
  }),
]

/** The message as it is now, for a caller whose access was just checked. */
async function showChanged({ database }: Context, app: App, id: number, viewer: Viewer) {
  return showOne(database, app, await requireMessage(database, app, id, undefined), viewer)
}
