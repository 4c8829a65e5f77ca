import {
  deleteMessage as deleteMessageOperation,
  getMessage,
  limits,
  listAllMessages,
  listGroupMessages,
  listUserMessages,
  sendBotMessage,
  sendMessage,
  updateMessage,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { findNamedConversations, findUserConversation } from '../../chat/conversations/find.ts'
import { requireGroup, requireGroupAccess } from '../../chat/groups/access.ts'
import { type App, actingDevice, type Caller } from '../../chat/identity.ts'
import { readMessageId, requireMessage, requireMessageDetails, showOne } from '../../chat/messages/read.ts'
import { isHeld } from '../../chat/messages/traits.ts'
import { orderPair } from '../../chat/naming.ts'
import { readConditions, restrictedOf } from '../../chat/sight/sight.ts'
import { requireUser } from '../../chat/users/require.ts'
import { readUser } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { deleteMessage } from './delete.ts'
import { editMessage } from './edit.ts'
import { unknownBot } from './errors.ts'
import { isPlain } from './list/history.ts'
import { listHistory, listMessages, recallHistory } from './list/list.ts'
import type { Source } from './list/sources.ts'
import { recallUnreadCounts } from './list/unread.ts'
import { judgeFiles } from './media/judge.ts'
import { sendForm } from './media/send.ts'
import { readReceipts } from './receipts.ts'
import { receiversOf, send } from './send.ts'

/** The acting user of a list, whose marks and memberships count. */
const viewerOf = (actor: { uid: string } | undefined) => actor?.uid

/** How many messages a page of a history has. */
const pageSize = ({ limit, perPage }: { limit?: number; perPage?: number }) => limit ?? perPage ?? limits.limit.default

/** The bot that a path names, as who acts. @throws 404 `ERR_BOT_NOT_FOUND` */
async function requireBot({ database }: Context, app: App, uid: string): Promise<Caller & { kind: 'user' }> {
  const bot = await readUser(database, app.appId, uid.toLowerCase())
  if (bot?.role !== 'bot') throw unknownBot(uid)
  return { kind: 'user', uid: bot.uid, via: 'key' }
}

export const operations = [
  serve(
    sendMessage,
    async ({ app, caller, files, body }, context) => {
      return sendForm(context, app, files, body, (whole) => send(context, app, caller, whole))
    },
    {
      // The batch checks that the sender is known and active, in the transaction that writes the message.
      checksActor: true,
      receiversOf,
      judgeForm: ({ app, caller, body, files }, context) => judgeFiles(context, app, caller, body, files),
    },
  ),

  serve(
    sendBotMessage,
    async ({ app, params, files, body }, context) => {
      const bot = await requireBot(context, app, params.uid)
      return sendForm(context, app, files, body, (whole) => send(context, app, bot, whole))
    },
    {
      async judgeForm({ app, params, body, files }, context) {
        await judgeFiles(context, app, await requireBot(context, app, params.uid as string), body, files)
      },
    },
  ),

  serve(
    listAllMessages,
    async ({ app, actor, policy, query }, context) => {
      const { database } = context
      const viewer = viewerOf(actor)
      const { appId } = app
      const conversations =
        query.conversationId === undefined
          ? undefined
          : (await findNamedConversations(database, appId, query.conversationId)).map(({ key }) => key)
      const limit = pageSize(query)
      if (viewer !== undefined) {
        const source: Source = { of: 'viewer', appId, viewer, conversations }
        const conditions = await readConditions(database, appId, { uid: viewer, policy })
        return listMessages(context, { app, viewer, policy, source, query, limit, conditions })
      }
      const source: Source =
        conversations !== undefined
          ? { of: 'conversations', appId, conversations }
          : query.sender !== undefined
            ? { of: 'user', appId, uid: query.sender.toLowerCase() }
            : { of: 'app', appId }
      return listMessages(context, { app, viewer, source, query, limit })
    },
    {
      shortcut: ({ app, actor, query }, context) => recallUnreadCounts(context, { app, query }, actor),
    },
  ),

  serve(
    listUserMessages,
    async ({ app, actor, policy, params, query }, context) => {
      const { database } = context
      const viewer = viewerOf(actor)
      const { appId } = app
      if (actor === undefined || viewer === undefined) {
        const { uid } = await requireUser(database, appId, params.uid)
        const limit = query.limit ?? query.perPage ?? limits.perPage.default
        return listMessages(context, { app, viewer, source: { of: 'user', appId, uid }, query, limit })
      }
      const limit = pageSize(query)
      const conditions = await readConditions(database, appId, { uid: viewer, policy }, [])
      const reading = requireUser(database, appId, params.uid)
      if (conditions.length === 0 && isPlain(query, limit)) {
        const [first, second] = orderPair(viewer, params.uid.toLowerCase())
        const knowing = reading.then((user) => ({ users: [actor, user] }))
        const request = { app, viewer, policy, query, limit }
        return listHistory(context, request, { kind: 'user', first, second }, knowing)
      }
      const finding = findUserConversation(database, appId, viewer, params.uid.toLowerCase())
      const [user, conversation] = await Promise.all([reading, finding])
      const conversations = conversation === undefined ? [] : [conversation.key]
      const source: Source = { of: 'viewer', appId, viewer, conversations }
      const known = { users: [actor, user] }
      return listMessages(context, { app, viewer, policy, source, query, limit, conditions, known })
    },
    {
      async shortcut({ app, actor, params, query }, context) {
        const [first, second] = orderPair(actor.uid, params.uid.toLowerCase())
        const request = { app, query, limit: pageSize(query) }
        return recallHistory(context, request, { kind: 'user', first, second }, actor)
      },
    },
  ),

  serve(
    listGroupMessages,
    async ({ app, actor, policy, params, query }, context) => {
      const { database } = context
      const viewer = viewerOf(actor)
      const { appId } = app
      const limit = pageSize(query)
      if (actor === undefined || viewer === undefined) {
        const { conversation } = await requireGroup(database, appId, params.guid)
        const source: Source = { of: 'conversations', appId, conversations: [conversation] }
        return listMessages(context, { app, viewer, source, query, limit })
      }
      const { group } = await requireGroupAccess(database, appId, params.guid, viewer)
      const conditions = await readConditions(database, appId, { uid: viewer, policy }, restrictedOf([group]))
      const known = { users: [actor], groups: [group] }
      if (conditions.length === 0 && isPlain(query, limit)) {
        const request = { app, viewer, policy, query, limit }
        return listHistory(context, request, { kind: 'group', first: group.guid, second: '' }, Promise.resolve(known))
      }
      const source: Source = { of: 'viewer', appId, viewer, conversations: [group.conversation] }
      return listMessages(context, { app, viewer, policy, source, query, limit, conditions, known })
    },
    {
      async shortcut({ app, actor, params, query }, context) {
        const request = { app, query, limit: pageSize(query) }
        return recallHistory(context, request, { kind: 'group', first: params.guid.toLowerCase(), second: '' }, actor)
      },
    },
  ),

  serve(getMessage, async ({ app, actor, policy, params }, { database }) => {
    const viewer = actor && { uid: actor.uid, policy }
    const message = await requireMessage(database, app, readMessageId(params.id), viewer, 'senderAndApp')
    await requireMessageDetails(database, app, message, viewer)
    const shown = await showOne(database, app, message, viewer)
    // As over sockets: receipts in a group are for the author.
    const hasReceipts = message.kind === 'group' && message.category !== 'action' && !isHeld(message)
    if (!hasReceipts || (viewer !== undefined && viewer.uid !== message.sender)) return { data: shown }
    return { data: { ...shown, receipts: { data: await readReceipts(database, app.appId, message, viewer?.uid) } } }
  }),

  serve(updateMessage, async ({ app, caller, actor, policy, params, body }, context) => {
    const by = { editor: viewerOf(actor), policy, device: actingDevice(caller) }
    return { data: await editMessage(context, app, by, readMessageId(params.id), body) }
  }),

  serve(deleteMessageOperation, async ({ app, caller, actor, policy, params, body }, context) => {
    const by = { editor: viewerOf(actor), policy, device: actingDevice(caller) }
    return { data: await deleteMessage(context, app, by, readMessageId(params.id), body.permanent === true) }
  }),
]
