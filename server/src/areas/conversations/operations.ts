import {
  type AnswerOf,
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
import { type Call, Serialized, serve } from '../../call.ts'
import { findGroupConversation, findUserConversation } from '../../chat/conversations/find.ts'
import {
  type ParticipantState,
  peerOf,
  readParticipantState,
  rememberCounts,
} from '../../chat/conversations/participant-state.ts'
import { readPeers } from '../../chat/conversations/peers.ts'
import {
  notAccessible,
  requireGroupConversation,
  requireNamed,
  requireUserConversation,
} from '../../chat/conversations/require.ts'
import { showConversations, writeConversations } from '../../chat/conversations/show.ts'
import { type App, actingDevice, type Caller } from '../../chat/identity.ts'
import { type JsonText, writeList } from '../../chat/json.ts'
import type { KnownEntity } from '../../chat/messages/entity-cache.ts'
import { conversationId } from '../../chat/naming.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { readConditions } from '../../chat/sight/sight.ts'
import { readBlockInfo } from '../../chat/users/block-info.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { type PageRequest, pageMeta, readPage } from '../../paging.ts'
import type { Queryable } from '../../store/database.ts'
import { type ConversationsFound, selectConversations, selectFirstPage } from './list.ts'
import { markReceived, markUnreadFrom, type ParticipantOf } from './marks.ts'
import { findPinned, pinConversation, readAppPins, readPins, replaceAppPins, unpinConversation } from './pins.ts'
import { deleteForAll, resetConversation, setTags } from './reset.ts'

type ConversationPage = AnswerOf<typeof listConversations>

/** @param remembered the acting user, where they came out of memory */
async function writePage(
  { database, log, messages: { entities } }: Context,
  { app, actor, policy, query }: Pick<Call<typeof listConversations>, 'app' | 'actor' | 'policy' | 'query'>,
  page: PageRequest,
  { states, total, last, peers: found }: ConversationsFound,
  remembered?: KnownEntity<UserRow>,
): Promise<Serialized<ConversationPage>> {
  rememberCounts(database, app.appId, states).catch((err: unknown) =>
    log.warn({ err }, 'unread counts could not be cached'),
  )
  const peers = actor && found && (await readPeers(entities, app.appId, actor.uid, found, remembered))
  const uids = states.filter((state) => state.kind === 'user').map(peerOf)
  const blockInfo =
    query.withBlockedInfo === true && actor !== undefined
      ? await readBlockInfo(database, app.appId, actor.uid, uids)
      : undefined
  const written = await writeConversations(database, app.appId, states, {
    ...query,
    ...(blockInfo && { blockInfo }),
    ...{ viewer: actor && { uid: actor.uid, policy }, actor, last, peers },
  })
  return new Serialized(writeList(written, pageMeta(page, total, written.length)) as JsonText<ConversationPage>)
}

export const operations = [
  serve(
    listConversations,
    async (call, context) => {
      const { app, actor, policy, query } = call
      if (query.unique === true && actor !== undefined) {
        throw badRequest([{ path: 'query/unique', message: 'cannot be used with an acting user (header onBehalfOf)' }])
      }
      const viewer = actor && { uid: actor.uid, policy }
      const hiding = viewer && query.unread === true ? await readConditions(context.database, app.appId, viewer) : []
      const page = readPage(query, call.caller)
      const found = await selectConversations(context.database, app.appId, actor?.uid, query, page, hiding)
      return writePage(context, call, page, found)
    },
    {
      async shortcut(call, context) {
        const { app, actor, query } = call
        const { database, messages } = context
        // What is unread for them may be hidden from them; some late pages are refused.
        if (query.unique === true || query.unread === true || query.page !== undefined) return undefined
        const page = readPage(query, call.caller)
        const known = { viewer: actor.revision, missesMany: messages.entities.missesMany }
        const asked = [database, app.appId, actor.uid, query, page] as const
        const found = (await selectFirstPage(...asked, known)) ?? (await selectConversations(...asked, [], known))
        const viewer = await actor.confirm(found.viewer)
        if (viewer === undefined) return undefined
        const { row, policy } = viewer
        return writePage(context, { ...call, actor: row, policy }, page, found, viewer.known)
      },
    },
  ),

  serve(getConversation, async ({ app, actor, policy, params }, { database }) => {
    const conversation = await requireNamed(database, app, actor.uid, params.conversationId)
    return { data: await readOne(database, { appId: app.appId, uid: actor.uid, conversation }, app, policy) }
  }),

  serve(getUserConversation, async ({ app, actor, policy, params }, { database }) => {
    return {
      data: await readOne(database, await requireUserConversation(database, app, actor.uid, params.uid), app, policy),
    }
  }),

  serve(getGroupConversation, async ({ app, actor, policy, params }, { database }) => {
    return {
      data: await readOne(database, await requireGroupConversation(database, app, actor.uid, params.guid), app, policy),
    }
  }),

  serve(markUserDelivered, async ({ app, caller, actor, params, body }, context) => {
    const state = await requireUserConversation(context.database, app, actor.uid, params.uid)
    await markReceived(context, 'delivered', state, idOf(body), actingDevice(caller))
    return { data: { success: true, Message: `Messages from ${params.uid} are marked as delivered for ${state.uid}.` } }
  }),

  serve(markUserRead, async ({ app, caller, actor, params, body }, context) => {
    const state = await requireUserConversation(context.database, app, actor.uid, params.uid)
    await markReceived(context, 'read', state, idOf(body), actingDevice(caller))
    return { data: { success: true, Message: `Messages from ${params.uid} are marked as read for ${state.uid}.` } }
  }),

  serve(markUserUnread, async ({ app, caller, actor, policy, params, body }, context) => {
    const state = await requireUserConversation(context.database, app, actor.uid, params.uid)
    return { data: await markUnread(context, app, caller, policy, state, idOf(body)) }
  }),

  serve(markGroupDelivered, async ({ app, caller, actor, params, body }, context) => {
    const state = await requireGroupConversation(context.database, app, actor.uid, params.guid)
    await markReceived(context, 'delivered', state, idOf(body), actingDevice(caller))
    return { data: { success: true, message: `Messages of ${params.guid} are marked as delivered for ${state.uid}.` } }
  }),

  serve(markGroupRead, async ({ app, caller, actor, params, body }, context) => {
    const state = await requireGroupConversation(context.database, app, actor.uid, params.guid)
    await markReceived(context, 'read', state, idOf(body), actingDevice(caller))
    return { data: { success: true, message: `Messages of ${params.guid} are marked as read for ${state.uid}.` } }
  }),

  serve(markGroupUnread, async ({ app, caller, actor, policy, params, body }, context) => {
    const state = await requireGroupConversation(context.database, app, actor.uid, params.guid)
    return { data: await markUnread(context, app, caller, policy, state, idOf(body)) }
  }),

  serve(updateUserConversation, async ({ app, actor, policy, params, body }, { database }) => {
    const state = await requireUserConversation(database, app, actor.uid, params.uid)
    if (body.tags !== undefined) await setTags(database, state, body.tags)
    return { data: await readOne(database, state, app, policy) }
  }),

  serve(updateGroupConversation, async ({ app, actor, policy, params, body }, { database }) => {
    const state = await requireGroupConversation(database, app, actor.uid, params.guid)
    if (body.tags !== undefined) await setTags(database, state, body.tags)
    return { data: await readOne(database, state, app, policy) }
  }),

  serve(resetUserConversation, async ({ app, caller, actor, params, body }, context) => {
    const state = await requireUserConversation(context.database, app, actor.uid, params.uid)
    const byKey = caller.kind === 'user' && caller.via === 'key'
    const forBoth = body.deleteMessagesPermanently === true && byKey
    await resetConversation(context, state, { preserveOrder: body.preserveOrder === true, forBoth })
    return { data: { success: true, message: `${nameOf(state)} was deleted for ${state.uid}.` } }
  }),

  serve(resetGroupConversation, async ({ app, actor, params, body }, context) => {
    const state = await requireGroupConversation(context.database, app, actor.uid, params.guid)
    await resetConversation(context, state, { preserveOrder: body.preserveOrder === true, forBoth: false })
    return { data: { success: true, message: `${nameOf(state)} was deleted for ${state.uid}.` } }
  }),

  serve(deleteConversation, async ({ app, actor: { uid }, params }, context) => {
    const conversation = await requireNamed(context.database, app, uid, params.conversationId)
    await deleteForAll(context, { appId: app.appId, uid, conversation })
    return { data: { success: true, message: `${params.conversationId} was deleted for everyone.` } }
  }),

  serve(listAppPinnedConversations, async ({ app }, { database }) => {
    return { data: await readAppPins(database, app.appId) }
  }),

  serve(replaceAppPinnedConversations, async ({ app, body }, { database, settings }) => {
    await replaceAppPins(database, app.appId, readPins(body.pinnedConversations), await settings.of(app.appId))
    return { data: await readAppPins(database, app.appId) }
  }),

  serve(pinUserConversation, async ({ app, caller, actor, policy, params }, context) => {
    const state = await requireUserConversation(context.database, app, actor.uid, params.uid)
    const data = await pinConversation(context.database, state, await context.settings.of(app.appId))
    await publishPin(context, app, caller, policy, state, 'pinned')
    return { data }
  }),

  serve(unpinUserConversation, async ({ app, caller, actor, policy, params }, context) => {
    const { database } = context
    const found = await findUserConversation(database, app.appId, actor.uid, params.uid.toLowerCase())
    const pinned = await findPinned(database, app.appId, actor.uid, found)
    const state = pinned ?? (await requireUserConversation(database, app, actor.uid, params.uid))
    const data = await unpinConversation(context.database, state)
    await publishPin(context, app, caller, policy, state, 'unpinned')
    return { data }
  }),

  serve(pinGroupConversation, async ({ app, caller, actor, policy, params }, context) => {
    const state = await requireGroupConversation(context.database, app, actor.uid, params.guid)
    const data = await pinConversation(context.database, state, await context.settings.of(app.appId))
    await publishPin(context, app, caller, policy, state, 'pinned')
    return { data }
  }),

  serve(unpinGroupConversation, async ({ app, caller, actor, policy, params }, context) => {
    const { database } = context
    const found = await findGroupConversation(database, app.appId, params.guid.toLowerCase())
    const pinned = await findPinned(database, app.appId, actor.uid, found)
    const state = pinned ?? (await requireGroupConversation(database, app, actor.uid, params.guid))
    const data = await unpinConversation(context.database, state)
    await publishPin(context, app, caller, policy, state, 'unpinned')
    return { data }
  }),
]

function idOf({ messageId }: { messageId?: number | string }): number | undefined {
  return messageId === undefined ? undefined : Number(messageId)
}

function nameOf({ conversation: { kind, first, second } }: ParticipantOf): string {
  return conversationId(kind, first, second)
}

/** Front ends (with a token) are answered the conversation as well, as their SDKs expect. */
async function markUnread(
  context: Context,
  app: App,
  caller: Caller,
  policy: RolePolicy | undefined,
  state: ParticipantOf,
  messageId: number | undefined,
) {
  await markUnreadFrom(context, state, messageId)
  const from = messageId === undefined ? 'The newest message' : `Messages from ${messageId} on`
  const message = `${from} in ${nameOf(state)} count as unread for ${state.uid}.`
  const shown = caller.kind === 'user' && caller.via === 'token'
  return { success: true, message, ...(shown && { conversation: await readOne(context.database, state, app, policy) }) }
}

/** The user's other devices show the pin as well, where the conversation is still to be seen. */
async function publishPin(
  { database, events }: Context,
  app: App,
  caller: Caller,
  policy: RolePolicy | undefined,
  state: ParticipantOf,
  action: 'pinned' | 'unpinned',
): Promise<void> {
  if (!events.bus.isHeard) return
  const { key, kind, first, second } = state.conversation
  const shown = await readParticipantState(database, app.appId, state.uid, key)
  if (shown === undefined) return
  events.publish(app.appId, {
    mark: 'conversation_pin',
    place: { conversation: key, kind, first, second },
    uid: state.uid,
    device: actingDevice(caller),
    isPrivate: true,
    body: { action, conversation: await showOne(database, app, shown, policy) },
  })
}

async function readOne(
  on: Queryable,
  { uid, conversation }: ParticipantOf,
  app: App,
  policy: RolePolicy | undefined,
): Promise<Conversation> {
  const state = await readParticipantState(on, app.appId, uid, conversation.key)
  if (state === undefined) {
    throw notAccessible(conversationId(conversation.kind, conversation.first, conversation.second), uid)
  }
  return showOne(on, app, state, policy)
}

async function showOne(
  on: Queryable,
  app: App,
  state: ParticipantState,
  policy: RolePolicy | undefined,
): Promise<Conversation> {
  const [conversation] = await showConversations(on, app.appId, [state], {
    withTags: true,
    viewer: { uid: state.uid, policy },
  })
  return conversation as Conversation
}
