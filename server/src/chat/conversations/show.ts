import type { Conversation, Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { systemUid } from '../apps.ts'
import { readMemberships } from '../groups/memberships.ts'
import { type GroupRow, readGroups, showGroup } from '../groups/rows.ts'
import { readMessages, type StoredMessage } from '../messages/rows.ts'
import { showMessages } from '../messages/show.ts'
import { conversationId } from '../naming.ts'
import { readVisible, type Viewer } from '../sight/sight.ts'
import { readBlockers } from '../users/block-info.ts'
import { readUsers, showUserOrDeleted, withoutPresence } from '../users/rows.ts'
import { type ParticipantState, peerOf } from './participant-state.ts'
import { readVisibleUnread } from './unread.ts'

export interface ShowConversationOptions {
  /** The user's own tags of the conversation. */
  readonly withTags?: boolean
  /** Tags of the peer: a user or a group. */
  readonly withUserAndGroupTags?: boolean
  /** For each peer's uid, the blocks between them and the viewer. */
  readonly blockInfo?: ReadonlyMap<string, object>
  /** The user whose sides they are, when it is he who asks: last messages that are hidden from him are left out. */
  readonly viewer?: Viewer | undefined
}

/** Conversations as answers show them, their last messages and other sides read once for all of them. */
export async function showConversations(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  options: ShowConversationOptions = {},
): Promise<Conversation[]> {
  const uids = states.filter((state) => state.kind === 1).map(peerOf)
  const groupStates = states.filter((state) => state.kind === 2)
  const readingGroups = readGroups(on, appId, groupStates.map(peerOf))
  const { viewer } = options
  const [lastMessages, users, groups, memberships, unread, blockers] = await Promise.all([
    readLastMessages(on, appId, states, readingGroups, viewer),
    readUsers(on, appId, uids),
    readingGroups,
    readMemberships(
      on,
      appId,
      groupStates.map((state) => ({ guid: state.first, uid: state.uid })),
    ),
    viewer && readingGroups.then((read) => readVisibleUnread(on, appId, viewer, states, read)),
    viewer && readBlockers(on, appId, viewer.uid, uids),
  ])
  return states.map((state) => {
    const id = conversationId(state.kind, state.first, state.second)
    const lastMessage = lastMessages.get(state.listedId ?? 0)
    const other = peerOf(state)
    return {
      conversationId: id,
      conversationType: state.kind === 1 ? 'user' : 'group',
      unreadMessageCount: String(unread?.get(state.key) ?? state.unread),
      createdAt: state.createdAt,
      updatedAt: state.listedSentAt ?? state.createdAt,
      ...(lastMessage && !state.cleared && { lastMessage }),
      ...(options.withTags === true && state.tags.length > 0 && { tags: state.tags }),
      ...pinOf(state),
      conversationWith: state.kind === 1 ? showPeer() : showGroupPeer(),
    }

    function showPeer(): Record<string, unknown> {
      const withTags = options.withUserAndGroupTags === true
      const shown = showUserOrDeleted(other, users.get(other), 'other', { withTags })
      const seen = blockers?.has(other) === true ? withoutPresence(shown) : shown
      return { ...seen, conversationId: id, ...options.blockInfo?.get(other) }
    }

    function showGroupPeer(): Record<string, unknown> {
      const group = groups.get(other)
      if (group === undefined) return { guid: other }
      const membership = memberships.get(`${state.first} ${state.uid}`)
      const { tags, ...shown } = showGroup(group, membership)
      return { ...shown, ...(options.withUserAndGroupTags === true && tags !== undefined && { tags }) }
    }
  })
}

/** A pin of the app stands above the user's own. */
function pinOf({ uid, pinnedAt, appPinnedAt }: ParticipantState): Pick<Conversation, 'pinnedBy' | 'pinnedAt'> {
  if (appPinnedAt !== null) return { pinnedBy: systemUid, pinnedAt: appPinnedAt }
  return pinnedAt === null ? {} : { pinnedBy: uid, pinnedAt }
}

/** The last messages by id; one that was deleted, or is hidden from the viewer, is left out until the next. */
async function readLastMessages(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  readingGroups: Promise<Map<string, GroupRow>>,
  viewer: Viewer | undefined,
): Promise<Map<number, Message>> {
  const [rows, groups] = await Promise.all([
    readMessages(
      on,
      appId,
      states.flatMap((state) => state.listedId ?? []),
    ),
    readingGroups,
  ])
  const present = [...rows.values()].filter((row) => row.deletedAt === null)
  const hidden = viewer === undefined ? new Set() : await readHidden(on, appId, viewer, present, groups)
  const visible = present.filter(({ id }) => !hidden.has(id))
  const shown = await showMessages(on, appId, visible, { viewer: viewer?.uid, policy: viewer?.policy })
  return new Map(visible.map((row, i) => [row.id, shown[i] as Message]))
}

/** Those that roles and scopes hide; few groups restrict anything, and of the others there is nothing to ask. */
async function readHidden(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  messages: readonly StoredMessage[],
  groups: ReadonlyMap<string, GroupRow>,
): Promise<ReadonlySet<number>> {
  const restricted = messages.filter(
    ({ kind, receiver }) =>
      viewer.policy !== undefined || (kind === 2 && groups.get(receiver)?.permissionsVersion !== 0),
  )
  const visible = await readVisible(on, appId, viewer, restricted)
  return new Set(restricted.flatMap(({ id }) => (visible.has(id) ? [] : id)))
}
