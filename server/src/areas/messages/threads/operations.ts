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
import { sql } from 'kysely'
import { serve } from '../../../call.ts'
import { findUserConversation } from '../../../chat/conversations/find.ts'
import { requireGroup, requireGroupAccess } from '../../../chat/groups/access.ts'
import { requireScopePermission } from '../../../chat/groups/permissions.ts'
import { readMessageId, requireMessage } from '../../../chat/messages/read.ts'
import { requireMessageScopePermission } from '../../../chat/messages/scope-permissions.ts'
import { readConditions, restrictedOf } from '../../../chat/sight/sight.ts'
import { requireUser } from '../../../chat/users/require.ts'
import { listMessages } from '../list/list.ts'
import { judgeFiles } from '../media/judge.ts'
import { sendForm } from '../media/send.ts'
import { receiversOf, send } from '../send.ts'
import { listThreads } from './list.ts'
import { recallThreads } from './recall.ts'
import { asReply, requireParent } from './reply.ts'
import { subscribeToThread, unsubscribeFromThread } from './subscriptions.ts'

/** The actions of edits and deletions of replies stand in their thread, but are none. */
const isReply = sql`m.category <> 'action'`

export const operations = [
  serve(
    sendThreadMessage,
    async ({ app, caller, actor, policy, params, files, body }, context) => {
      const viewer = { uid: actor.uid, policy }
      const parent = await requireParent(context, app, caller, { viewer, id: params.id, body })
      const sendReply = (whole: typeof body) => send(context, app, caller, asReply(caller, parent, whole))
      return sendForm(context, app, files, body, sendReply)
    },
    {
      receiversOf,
      async judgeForm({ app, caller, actor, policy, params, body, files }, context) {
        const viewer = actor && { uid: actor.uid, policy }
        const parent = await requireParent(context, app, caller, { viewer, id: params.id as string, body })
        await judgeFiles(context, app, caller, asReply(caller, parent, body), files)
      },
    },
  ),

  serve(listThreadMessages, async ({ app, actor, policy, params, query }, context) => {
    const { database } = context
    const viewer = actor?.uid
    const reader = actor && { uid: actor.uid, policy }
    const parent = await requireMessage(database, app, readMessageId(params.id), reader, 'sender')
    const { appId } = app
    const source = { of: 'thread', appId, parentId: parent.id, conversation: parent.conversation, viewer } as const
    const limit = query.limit ?? query.perPage ?? limits.limit.default
    if (viewer === undefined) return listMessages(context, { app, viewer, source, query, limit, conditions: [isReply] })
    const member = await requireMessageScopePermission(database, app, viewer, parent, 'listThreadedMessages')
    const restricted = restrictedOf(member === undefined ? [] : [member.group])
    const conditions = [isReply, ...(await readConditions(database, appId, { uid: viewer, policy }, restricted))]
    return listMessages(context, { app, viewer, policy, source, query, limit, conditions })
  }),

  serve(
    listThreadsOperation,
    async ({ app, actor, policy, query }, { database }) => {
      const viewer = actor?.uid
      const { appId } = app
      if (viewer === undefined) return listThreads(database, { app, viewer, source: { of: 'app', appId }, query })
      const conditions = await readConditions(database, appId, { uid: viewer, policy }, undefined, { ofThreads: true })
      const source = { of: 'viewer', appId, viewer, conversations: undefined } as const
      return listThreads(database, { app, viewer, policy, source, query, conditions })
    },
    {
      shortcut: ({ app, actor, query }, context) => recallThreads(context, { app, query }, actor),
    },
  ),

  serve(listUserThreads, async ({ app, actor, policy, params, query }, { database }) => {
    const viewer = actor.uid
    const { appId } = app
    const { uid } = await requireUser(database, appId, params.uid)
    const conversation = await findUserConversation(database, appId, viewer, uid)
    const conversations = conversation === undefined ? [] : [conversation.key]
    const source = { of: 'viewer', appId, viewer, conversations } as const
    const conditions = await readConditions(database, appId, { uid: viewer, policy }, [])
    return listThreads(database, { app, viewer, policy, source, query, conditions })
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
    const conditions = await readConditions(database, appId, { uid: viewer, policy }, restrictedOf([group]))
    return listThreads(database, { app, viewer, policy, source, query, conditions })
  }),

  serve(subscribeThread, async ({ app, actor, params }, context) => {
    await subscribeToThread(context, app, actor.uid, readMessageId(params.id))
    return { data: { success: true, message: `${actor.uid} follows the thread of the message ${params.id}.` } }
  }),

  serve(unsubscribeThread, async ({ app, actor, policy, params }, context) => {
    await unsubscribeFromThread(context, app, { uid: actor.uid, policy }, readMessageId(params.id))
    return {
      data: { success: true, message: `${actor.uid} no longer follows the thread of the message ${params.id}.` },
    }
  }),
]
