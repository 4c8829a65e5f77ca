import {
  limits,
  listGroupThreads,
  listThreadMessages,
  listThreads as listThreadsOperation,
  listUserThreads,
  sendThreadMessage,
  subscribeThread,
  unsubscribeThread,
} from '@parley/contract'
import { serve } from '../../../call.ts'
import { findUserConversation } from '../../../chat/conversations/find.ts'
import { requireGroup, requireGroupAccess } from '../../../chat/groups/access.ts'
import { requireScopePermission } from '../../../chat/groups/permissions.ts'
import { requireMessageRight } from '../../../chat/messages/group-rights.ts'
import { readMessageId, requireMessage } from '../../../chat/messages/read.ts'
import { groupLimits } from '../../../chat/sight/group-limits.ts'
import { roleLimits } from '../../../chat/sight/role-limits.ts'
import { requireUser } from '../../../chat/users/require.ts'
import { listMessages } from '../list/list.ts'
import { sendForm } from '../media/send.ts'
import { listThreads } from './list.ts'
import { reply } from './reply.ts'
import { subscribeToThread, unsubscribeFromThread } from './subscriptions.ts'

export const operations = [
  serve(sendThreadMessage, async ({ app, caller, actor, params, files, body }, context) => {
    const parent = await requireMessage(context.database, app, readMessageId(params.id), actor.uid)
    return { data: await sendForm(context, app, files, body, (whole) => reply(context, app, caller, parent, whole)) }
  }),

  serve(listThreadMessages, async ({ app, actor, policy, params, query }, context) => {
    const { database } = context
    const viewer = actor?.uid
    const parent = await requireMessage(database, app, readMessageId(params.id), viewer)
    const { appId } = app
    const source = { of: 'thread', appId, parentId: parent.id, conversation: parent.conversation, viewer } as const
    const limit = query.limit ?? query.perPage ?? limits.limit.default
    if (viewer === undefined) return listMessages(context, { app, viewer, source, query, limit })
    const right = await requireMessageRight(database, app, viewer, parent, 'listThreadedMessages')
    const ofGroup = right === undefined ? [] : await groupLimits(database, appId, viewer, [right.group.guid])
    const seen = [...roleLimits(policy, viewer), ...ofGroup]
    return listMessages(context, { app, viewer, source, query, limit, limits: seen })
  }),

  serve(listThreadsOperation, async ({ app, actor, policy, query }, { database }) => {
    const viewer = actor?.uid
    const { appId } = app
    if (viewer === undefined) return listThreads(database, { app, viewer, source: { of: 'app', appId }, query })
    const ofGroups = await groupLimits(database, appId, viewer, undefined, { ofThreads: true })
    const seen = [...roleLimits(policy, viewer), ...ofGroups]
    const source = { of: 'viewer', appId, viewer, conversations: undefined } as const
    return listThreads(database, { app, viewer, source, query, limits: seen })
  }),

  serve(listUserThreads, async ({ app, actor, policy, params, query }, { database }) => {
    const viewer = actor.uid
    const { appId } = app
    const { uid } = await requireUser(database, appId, params.uid)
    const conversation = await findUserConversation(database, appId, viewer, uid)
    const conversations = conversation === undefined ? [] : [conversation.key]
    const source = { of: 'viewer', appId, viewer, conversations } as const
    return listThreads(database, { app, viewer, source, query, limits: roleLimits(policy, viewer) })
  }),

  serve(listGroupThreads, async ({ app, actor, policy, params, query }, { database }) => {
    const viewer = actor?.uid
    const { appId } = app
    if (viewer === undefined) {
      const { conversation } = await requireGroup(database, appId, params.guid)
      return listThreads(database, { app, viewer, source: { of: 'conversation', appId, conversation }, query })
    }
    const { group, membership } = await requireGroupAccess(database, appId, params.guid, viewer)
    requireScopePermission(group, membership, 'listThreadedMessages')
    const source = { of: 'viewer', appId, viewer, conversations: [group.conversation] } as const
    const seen = [...roleLimits(policy, viewer), ...(await groupLimits(database, appId, viewer, [group.guid]))]
    return listThreads(database, { app, viewer, source, query, limits: seen })
  }),

  serve(subscribeThread, async ({ app, actor, params }, context) => {
    await subscribeToThread(context, app, actor.uid, readMessageId(params.id))
    return { data: { success: true, message: `${actor.uid} follows the thread of the message ${params.id}.` } }
  }),

  serve(unsubscribeThread, async ({ app, actor, params }, context) => {
    await unsubscribeFromThread(context, app, actor.uid, readMessageId(params.id))
    return {
      data: { success: true, message: `${actor.uid} no longer follows the thread of the message ${params.id}.` },
    }
  }),
]
