import {
  ApiError,
  badRequest,
  type Conversation,
  deleteConversation,
  getConversation,
  getGroupConversation,
  getUserConversation,
  listAppPinnedConversations,
  listConversations,
  markGroupDelivered,
  markGroupRead,
  markGroupUnread,
  markUserDelivered,
  markUserRead,
  markUserUnread,
  pinGroupConversation,
  pinUserConversation,
  replaceAppPinnedConversations,
  resetGroupConversation,
  resetUserConversation,
  unpinGroupConversation,
  unpinUserConversation,
  updateGroupConversation,
  updateUserConversation,
} from '@parley/contract'
import { type App, actingDevice, type Caller, serve } from '../../call.ts'
import { otherSide, readSide, rememberCounts, type Side } from '../../chat/conversations/participant-state.ts'
import { notAccessible, requireGroupSide, requireNamed, requireUserSide } from '../../chat/conversations/require.ts'
import { showConversations } from '../../chat/conversations/show.ts'
import { readMembership } from '../../chat/groups/access.ts'
import { conversationId } from '../../chat/naming.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { readBlockInfo } from '../../chat/users/block-info.ts'
import type { Context } from '../../context.ts'
import { pageMeta, readPage } from '../../paging.ts'
import type { Queryable } from '../../store/database.ts'
import { selectSides } from './list.ts'
import { markReceived, markUnreadFrom, type SideOf } from './marks.ts'
import { pinConversation, readAppPins, replaceAppPins, unpinConversation } from './pins.ts'
import { deleteForAll, resetConversation, setTags } from './reset.ts'

export const operations = [
  serve(listConversations, async ({ app, actor, policy, query }, { database, log }) => {
    const page = readPage(query)
    const { sides, total } = await selectSides(database, app.appId, actor?.uid, query, page)
    rememberCounts(database, app.appId, sides).catch((err: unknown) => log.warn({ err }, 'counts were not remembered'))
    const peers = sides.filter((side) => side.kind === 1).map(otherSide)
    const blockInfo =
      query.withBlockedInfo === true && actor !== undefined
        ? await readBlockInfo(database, app.appId, actor.uid, peers)
        : undefined
    const data = await showConversations(database, app.appId, sides, {
      ...query,
      ...(blockInfo && { blockInfo }),
      viewer: actor && { uid: actor.uid, policy },
    })
    return { data, meta: pageMeta(page, total, data.length) }
  }),

  serve(getConversation, async ({ app, actor, policy, params }, { database }) => {
    const conversation = await requireNamed(database, app, actor.uid, params.conversationId)
    return { data: await readOne(database, { appId: app.appId, uid: actor.uid, conversation }, app, policy) }
  }),

  serve(getUserConversation, async ({ app, actor, policy, params }, { database }) => {
    return {
      data: await readOne(database, await requireUserSide(database, app, actor.uid, params.uid), app, policy),
    }
  }),

  serve(getGroupConversation, async ({ app, actor, policy, params }, { database }) => {
    return {
      data: await readOne(database, await requireGroupSide(database, app, actor.uid, params.guid), app, policy),
    }
  }),

  serve(markUserDelivered, async ({ app, caller, actor, params, body }, context) => {
    const side = await requireUserSide(context.database, app, actor.uid, params.uid)
    await markReceived(context, 'delivered', side, idOf(body), actingDevice(caller))
    return { data: { success: true, Message: `Messages from ${params.uid} are marked as delivered for ${side.uid}.` } }
  }),

  serve(markUserRead, async ({ app, caller, actor, params, body }, context) => {
    const side = await requireUserSide(context.database, app, actor.uid, params.uid)
    await markReceived(context, 'read', side, idOf(body), actingDevice(caller))
    return { data: { success: true, Message: `Messages from ${params.uid} are marked as read for ${side.uid}.` } }
  }),

  serve(markUserUnread, async ({ app, caller, actor, policy, params, body }, context) => {
    const side = await requireUserSide(context.database, app, actor.uid, params.uid)
    return { data: await markUnread(context, app, caller, policy, side, idOf(body)) }
  }),

  serve(markGroupDelivered, async ({ app, caller, actor, params, body }, context) => {
    const side = await requireGroupSide(context.database, app, actor.uid, params.guid)
    await markReceived(context, 'delivered', side, idOf(body), actingDevice(caller))
    return { data: { success: true, message: `Messages of ${params.guid} are marked as delivered for ${side.uid}.` } }
  }),

  serve(markGroupRead, async ({ app, caller, actor, params, body }, context) => {
    const side = await requireGroupSide(context.database, app, actor.uid, params.guid)
    await markReceived(context, 'read', side, idOf(body), actingDevice(caller))
    return { data: { success: true, message: `Messages of ${params.guid} are marked as read for ${side.uid}.` } }
  }),

  serve(markGroupUnread, async ({ app, caller, actor, policy, params, body }, context) => {
    const side = await requireGroupSide(context.database, app, actor.uid, params.guid)
    return { data: await markUnread(context, app, caller, policy, side, idOf(body)) }
  }),

  serve(updateUserConversation, async ({ app, actor, policy, params, body }, { database }) => {
    const side = await requireUserSide(database, app, actor.uid, params.uid)
    if (body.tags !== undefined) await setTags(database, side, body.tags)
    return { data: await readOne(database, side, app, policy) }
  }),

  serve(updateGroupConversation, async ({ app, actor, policy, params, body }, { database }) => {
    const side = await requireGroupSide(database, app, actor.uid, params.guid)
    if (body.tags !== undefined) await setTags(database, side, body.tags)
    return { data: await readOne(database, side, app, policy) }
  }),

  serve(resetUserConversation, async ({ app, caller, actor, params, body }, { database }) => {
    const side = await requireUserSide(database, app, actor.uid, params.uid)
    const byKey = caller.kind === 'user' && caller.via === 'key'
    const forBoth = body.deleteMessagesPermanently === true && byKey
    await resetConversation(database, side, { preserveOrder: body.preserveOrder === true, forBoth })
    return { data: { success: true, message: `${nameOf(side)} was deleted for ${side.uid}.` } }
  }),

  serve(resetGroupConversation, async ({ app, actor, params, body }, { database }) => {
    const side = await requireGroupSide(database, app, actor.uid, params.guid)
    await resetConversation(database, side, { preserveOrder: body.preserveOrder === true, forBoth: false })
    return { data: { success: true, message: `${nameOf(side)} was deleted for ${side.uid}.` } }
  }),

  serve(deleteConversation, async ({ app, actor, params }, { database }) => {
    const uid = actor.uid
    const conversation = await requireNamed(database, app, uid, params.conversationId)
    if (conversation.kind === 2) {
      const membership = await readMembership(database, app.appId, conversation.first, uid)
      if (membership?.scope !== 'admin') throw new ApiError('ERR_GROUP_NO_ADMIN_SCOPE')
    }
    await deleteForAll(database, { appId: app.appId, uid, conversation })
    return { data: { success: true, message: `${params.conversationId} was deleted for everyone.` } }
  }),

  serve(listAppPinnedConversations, async ({ app }, { database }) => {
    return { data: await readAppPins(database, app.appId) }
  }),

  serve(replaceAppPinnedConversations, async ({ app, body }, { database }) => {
    await replaceAppPins(database, app.appId, readPins(body.pinnedConversations))
    return { data: await readAppPins(database, app.appId) }
  }),

  serve(pinUserConversation, async ({ app, actor, params }, { database }) => {
    return { data: await pinConversation(database, await requireUserSide(database, app, actor.uid, params.uid)) }
  }),

  serve(unpinUserConversation, async ({ app, actor, params }, { database }) => {
    return {
      data: await unpinConversation(database, await requireUserSide(database, app, actor.uid, params.uid)),
    }
  }),

  serve(pinGroupConversation, async ({ app, actor, params }, { database }) => {
    return {
      data: await pinConversation(database, await requireGroupSide(database, app, actor.uid, params.guid)),
    }
  }),

  serve(unpinGroupConversation, async ({ app, actor, params }, { database }) => {
    return {
      data: await unpinConversation(database, await requireGroupSide(database, app, actor.uid, params.guid)),
    }
  }),
]

function idOf({ messageId }: { messageId?: number | string }): number | undefined {
  return messageId === undefined ? undefined : Number(messageId)
}

function nameOf({ conversation: { kind, first, second } }: SideOf): string {
  return conversationId(kind, first, second)
}

/** Entries of the app's pinned list; each names a user or a group, and repeats count once, at their first place. */
function readPins(entries: ReadonlyArray<{ uid?: string; guid?: string }>): Array<{ kind: 1 | 2; peer: string }> {
  const pins = new Map<string, { kind: 1 | 2; peer: string }>()
  for (const [i, { uid, guid }] of entries.entries()) {
    const peer = (uid ?? guid)?.toLowerCase()
    if (peer === undefined || (uid !== undefined && guid !== undefined)) {
      throw badRequest([{ path: `body/pinnedConversations/${i}`, message: 'must name either a uid or a guid' }])
    }
    const kind = uid === undefined ? 2 : 1
    if (!pins.has(`${kind} ${peer}`)) pins.set(`${kind} ${peer}`, { kind, peer })
  }
  return [...pins.values()]
}

/** Front ends (with a token) are answered the conversation as well, as their SDKs expect. */
async function markUnread(
  { database }: Context,
  app: App,
  caller: Caller,
  policy: RolePolicy | undefined,
  side: SideOf,
  messageId: number | undefined,
) {
  await markUnreadFrom(database, side, messageId)
  const from = messageId === undefined ? 'The newest message' : `Messages from ${messageId} on`
  const message = `${from} in ${nameOf(side)} count as unread for ${side.uid}.`
  const shown = caller.kind === 'user' && caller.via === 'token'
  return { success: true, message, ...(shown && { conversation: await readOne(database, side, app, policy) }) }
}

async function readOne(
  on: Queryable,
  { uid, conversation }: SideOf,
  app: App,
  policy: RolePolicy | undefined,
): Promise<Conversation> {
  const side = await readSide(on, app.appId, uid, conversation.key)
  if (side === undefined) {
    throw notAccessible(conversationId(conversation.kind, conversation.first, conversation.second), uid)
  }
  return showOne(on, app, side, policy)
}

async function showOne(on: Queryable, app: App, side: Side, policy: RolePolicy | undefined): Promise<Conversation> {
  const [conversation] = await showConversations(on, app.appId, [side], {
    withTags: true,
    viewer: { uid: side.uid, policy },
  })
  return conversation as Conversation
}
