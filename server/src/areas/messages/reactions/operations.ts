import {
  addReaction as addReactionOperation,
  listReactionsOfKind,
  listReactions as listReactionsOperation,
  removeReaction as removeReactionOperation,
} from '@parley/contract'
import { serve } from '../../../call.ts'
import { actingDevice } from '../../../chat/identity.ts'
import { readMessageId, showChanged } from '../../../chat/messages/read.ts'
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
    return { data: await showChanged(context.database, app, id, { uid, policy }) }
  }),

  serve(removeReactionOperation, async ({ app, caller, actor, policy, params }, context) => {
    const id = readMessageId(params.id)
    const uid = actor.uid
    await removeReaction(context, app, { uid, device: actingDevice(caller) }, id, params.reaction)
    return { data: await showChanged(context.database, app, id, { uid, policy }) }
  }),
]
