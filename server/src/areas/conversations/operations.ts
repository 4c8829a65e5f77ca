import {
  ApiError,
  type Conversation,
  getConversation,
  getGroupConversation,
  getUserConversation,
  listConversations,
  markGroupDelivered,
  markGroupRead,
  markGroupUnread,
  markUserDelivered,
  markUserRead,
  markUserUnread,
} from '@parley/contract'
import { type App, type Caller, serve } from '../../call.ts'
import type { Context } from '../../context.ts'
import { pageMeta, readPage } from '../../paging.ts'
import type { Queryable } from '../../store/database.ts'
import { readBlockInfo } from '../blocked-users/index.ts'
import { findNamedConversations } from './find.ts'
import { markReceived, markUnreadFrom, type SideOf } from './marks.ts'
import { conversationId } from './naming.ts'
import { notAccessible, requireGroupSide, requireUserSide } from './require.ts'
import { showConversations } from './show.ts'
import { otherSide, readSide, rememberCounts, type Side, selectSides } from './sides.ts'

export const operations = [
  serve(listConversations, async ({ app, actor, query }, { database, log }) => {
    const page = readPage(query)
    const { sides, total } = await selectSides(database, app.appId, actor?.uid, query, page)
    rememberCounts(database, app.appId, sides).catch((err: unknown) => log.warn({ err }, 'counts were not remembered'))
    const peers = sides.filter((side) => side.kind === 1).map(otherSide)
    const blockInfo =
      query.withBlockedInfo === true && actor !== undefined
        ? await readBlockInfo(database, app.appId, actor.uid, peers)
        : undefined
    const data = await showConversations(database, app.appId, sides, { ...query, ...(blockInfo && { blockInfo }) })
    return { data, meta: pageMeta(page, total, data.length) }
  }),

  serve(getConversation, async ({ app, actor, params }, { database }) => {
    const uid = actor?.uid ?? ''
    const named = await findNamedConversations(database, app.appId, params.conversationId)
    const existing = named.filter((conversation) => conversation.lastId !== null)
    if (existing.length === 0) {
      throw new ApiError('ERR_CONVERSATION_NOT_FOUND', `There is no conversation ${params.conversationId}.`)
    }
    for (const conversation of existing) {
      const side = await readSide(database, app.appId, uid, conversation.key)
      if (side !== undefined) return { data: await showOne(database, app, side) }
    }
    throw notAccessible(params.conversationId, uid)
  }),

  serve(getUserConversation, async ({ app, actor, params }, { database }) => {
    return { data: await readOne(database, await requireUserSide(database, app, actor?.uid ?? '', params.uid), app) }
  }),

  serve(getGroupConversation, async ({ app, actor, params }, { database }) => {
    return { data: await readOne(database, await requireGroupSide(database, app, actor?.uid ?? '', params.guid), app) }
  }),

  serve(markUserDelivered, async ({ app, actor, params, body }, { database }) => {
    const side = await requireUserSide(database, app, actor?.uid ?? '', params.uid)
    await markReceived(database, 'delivered', side, idOf(body))
    return { data: { success: true, Message: `Messages from ${params.uid} are marked as delivered for ${side.uid}.` } }
  }),

  serve(markUserRead, async ({ app, actor, params, body }, { database }) => {
    const side = await requireUserSide(database, app, actor?.uid ?? '', params.uid)
    await markReceived(database, 'read', side, idOf(body))
    return { data: { success: true, Message: `Messages from ${params.uid} are marked as read for ${side.uid}.` } }
  }),

  serve(markUserUnread, async ({ app, caller, actor, params, body }, context) => {
    const side = await requireUserSide(context.database, app, actor?.uid ?? '', params.uid)
    return { data: await markUnread(context, app, caller, side, idOf(body)) }
  }),

  serve(markGroupDelivered, async ({ app, actor, params, body }, { database }) => {
    const side = await requireGroupSide(database, app, actor?.uid ?? '', params.guid)
    await markReceived(database, 'delivered', side, idOf(body))
    return { data: { success: true, message: `Messages of ${params.guid} are marked as delivered for ${side.uid}.` } }
  }),

  serve(markGroupRead, async ({ app, actor, params, body }, { database }) => {
    const side = await requireGroupSide(database, app, actor?.uid ?? '', params.guid)
    await markReceived(database, 'read', side, idOf(body))
    return { data: { success: true, message: `Messages of ${params.guid} are marked as read for ${side.uid}.` } }
  }),

  serve(markGroupUnread, async ({ app, caller, actor, params, body }, context) => {
    const side = await requireGroupSide(context.database, app, actor?.uid ?? '', params.guid)
    return { data: await markUnread(context, app, caller, side, idOf(body)) }
  }),
]

function idOf({ messageId }: { messageId?: number | string }): number | undefined {
  return messageId === undefined ? undefined : Number(messageId)
}

/** Front ends (with a token) are answered the conversation as well, as their SDKs expect. */
async function markUnread(
  { database }: Context,
  app: App,
  caller: Caller,
  side: SideOf,
  messageId: number | undefined,
) {
  await markUnreadFrom(database, side, messageId)
  const { kind, first, second } = side.conversation
  const from = messageId === undefined ? 'The newest message' : `Messages from ${messageId} on`
  const message = `${from} in ${conversationId(kind, first, second)} count as unread for ${side.uid}.`
  const shown = caller.kind === 'user' && caller.via === 'token'
  return { success: true, message, ...(shown && { conversation: await readOne(database, side, app) }) }
}

async function readOne(on: Queryable, { uid, conversation }: SideOf, app: App): Promise<Conversation> {
  const side = await readSide(on, app.appId, uid, conversation.key)
  if (side === undefined) {
    throw notAccessible(conversationId(conversation.kind, conversation.first, conversation.second), uid)
  }
  return showOne(on, app, side)
}

async function showOne(on: Queryable, app: App, side: Side): Promise<Conversation> {
  const [conversation] = await showConversations(on, app.appId, [side], { withTags: true })
  return conversation as Conversation
}
