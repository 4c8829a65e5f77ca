import {
  getGroupRetention,
  holdConversation,
  holdUser,
  liftHoldOfConversation,
  liftHoldOfUser,
  listHolds,
  setGroupRetention,
  unsetGroupRetention,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { findNamedConversations } from '../../chat/conversations/find.ts'
import { requireUser } from '../../chat/users/require.ts'
import type { Queryable } from '../../store/database.ts'
import { unknownConversation } from './errors.ts'
import * as holds from './holds.ts'
import { changeRule, readRule } from './rules.ts'

export const operations = [
  serve(getGroupRetention, async ({ app, params }, context) => ({
    data: await readRule(context, context.database, app.appId, params.guid.toLowerCase()),
  })),

  serve(setGroupRetention, async ({ app, params, body: { days, mode = 'delete' } }, context) => ({
    data: await changeRule(context, app.appId, params.guid.toLowerCase(), { days, mode }),
  })),

  serve(unsetGroupRetention, async ({ app, params }, context) => ({
    data: await changeRule(context, app.appId, params.guid.toLowerCase(), undefined),
  })),

  serve(listHolds, async ({ app }, { database }) => ({ data: await holds.listHolds(database, app.appId) })),

  serve(holdUser, async ({ app, params, body }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    return { data: await holds.setHold(context, app, { uid }, body.note) }
  }),

  serve(liftHoldOfUser, async ({ app, params }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    await holds.liftHold(context, app, { uid })
    return { data: { success: true, message: `The hold of the user ${uid} was lifted.` } }
  }),

  serve(holdConversation, async ({ app, params: { conversationId }, body }, context) => {
    const held = await requireConversation(context.database, app.appId, conversationId)
    return { data: await holds.setHold(context, app, held, body.note) }
  }),

  serve(liftHoldOfConversation, async ({ app, params: { conversationId } }, context) => {
    const held = await requireConversation(context.database, app.appId, conversationId)
    await holds.liftHold(context, app, held)
    return { data: { success: true, message: `The hold of the conversation ${conversationId} was lifted.` } }
  }),
]

/** @throws 404 `ERR_CONVERSATION_NOT_FOUND`, also for a name that means several */
async function requireConversation(on: Queryable, appId: number, name: string) {
  const [found, ...others] = await findNamedConversations(on, appId, name)
  if (found === undefined || others.length > 0) throw unknownConversation(name)
  return { conversation: found.key, name }
}
