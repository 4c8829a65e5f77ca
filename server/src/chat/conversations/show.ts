import type { Conversation } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { systemUid } from '../apps.ts'
import type { Membership } from '../groups/access.ts'
import { readMemberships } from '../groups/memberships.ts'
import { type GroupRow, readGroups, showGroup } from '../groups/rows.ts'
import { type JsonText, toJson } from '../json.ts'
import { type MessageRow, readMessages, readMessageTexts, type StoredMessage } from '../messages/rows.ts'
import { type ShowOptions, showMessages, writeMessages } from '../messages/show.ts'
import { conversationId } from '../naming.ts'
import { isThere } from '../sight/participation.ts'
import { readVisible, type Viewer } from '../sight/sight.ts'
import { readBlockers } from '../users/block-info.ts'
import { readUsers, showUserOrDeleted, type UserRow, withoutPresence } from '../users/rows.ts'
import { type ParticipantState, peerOf } from './participant-state.ts'
import type { Peers } from './peers.ts'
import { readVisibleUnread } from './unread.ts'

export interface ShowConversationOptions {
  /** The user's own tags of the conversation. */
  readonly withTags?: boolean
  /** Tags of the peer: a user or a group. */
  readonly withUserAndGroupTags?: boolean
  /** For each peer's uid, the blocks between them and the viewer. */
  readonly blockInfo?: ReadonlyMap<string, object>
  /** The user whose states they are, if they ask themselves: last messages that are hidden from them are left out. */
  readonly viewer?: Viewer | undefined
  /** The acting user, where that row was read already. */
  readonly actor?: UserRow | undefined
  /** The users on the other side, where they were read already. */
  readonly peers?: Peers | undefined
  /** The last messages by id, where they were read already. */
  readonly last?: ReadonlyMap<number, StoredMessage<JsonText>> | undefined
}

/** Conversations as answers show them, their last messages and other sides read once for all of them. */
export async function showConversations(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  options: ShowConversationOptions = {},
): Promise<Conversation[]> {
  const [last, sides] = await Promise.all([
    readMessages(on, appId, lastIdsOf(states)),
    readSides(on, appId, states, options),
  ])
  const lastMessages = await showLast(on, appId, last, sides, options, showMessages)
  return states.map((state) => {
    const lastMessage = lastMessages.get(state.listedId ?? 0)
    return { ...renderConversation(state, sides, options), ...(lastMessage && !state.cleared && { lastMessage }) }
  })
}

const placeOfLastMessage = ',"conversationWith":'

/** As `showConversations`, written out: what was sent last goes through as it is stored. */
export async function writeConversations(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  options: ShowConversationOptions = {},
): Promise<JsonText<Conversation>[]> {
  const [last, sides] = await Promise.all([
    options.last ?? readMessageTexts(on, appId, lastIdsOf(states)),
    readSides(on, appId, states, options),
  ])
  const lastMessages = await showLast(on, appId, last, sides, options, writeMessages)
  return states.map((state) => {
    const text = toJson(renderConversation(state, sides, options))
    const lastMessage = lastMessages.get(state.listedId ?? 0)
    if (lastMessage === undefined || state.cleared) return text
    // All that comes before it are strings and numbers: no string has a quote without a backslash in it.
    return text.replace(placeOfLastMessage, (place) => `,"lastMessage":${lastMessage}${place}`) as typeof text
  })
}

function lastIdsOf(states: readonly ParticipantState[]): number[] {
  return states.flatMap((state) => state.listedId ?? [])
}

/** What stands on the other side of conversations, and how much of them is unread where that is not what the states say. */
interface Sides {
  readonly users: ReadonlyMap<string, UserRow>
  readonly groups: ReadonlyMap<string, GroupRow>
  readonly memberships: ReadonlyMap<string, Membership>
  readonly unread: ReadonlyMap<number, number> | undefined
  /** Those who block the viewer. */
  readonly blockers: ReadonlySet<string> | undefined
}

async function readSides(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  { viewer, peers }: ShowConversationOptions,
): Promise<Sides> {
  const uids = states.filter((state) => state.kind === 'user').map(peerOf)
  const groupStates = states.filter((state) => state.kind === 'group')
  const pairs = groupStates.map((state) => ({ guid: state.first, uid: state.uid }))
  const [users, groups, memberships, blockers] = await Promise.all([
    peers?.users ?? readUsers(on, appId, uids),
    readGroups(on, appId, groupStates.map(peerOf)),
    readMemberships(on, appId, pairs),
    peers?.blockers ?? (viewer && readBlockers(on, appId, viewer.uid, uids)),
  ])
  const unread = viewer && (await readVisibleUnread(on, appId, viewer, states, groups))
  return { users, groups, memberships, unread, blockers }
}

/** A conversation but for its last message, with its members in the order in which they are declared. */
function renderConversation(
  state: ParticipantState,
  { users, groups, memberships, unread, blockers }: Sides,
  options: ShowConversationOptions,
): Conversation {
  const id = conversationId(state.kind, state.first, state.second)
  const other = peerOf(state)
  return {
    conversationId: id,
    conversationType: state.kind,
    unreadMessageCount: String(unread?.get(state.key) ?? state.unread),
    createdAt: state.createdAt,
    updatedAt: state.listedSentAt ?? state.createdAt,
    conversationWith: state.kind === 'user' ? showPeer() : showGroupPeer(),
    ...(options.withTags === true && state.tags.length > 0 && { tags: state.tags }),
    ...pinOf(state),
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
}

/** A pin of the app stands above the user's own. */
function pinOf({ uid, pinnedAt, appPinnedAt }: ParticipantState): Pick<Conversation, 'pinnedBy' | 'pinnedAt'> {
  if (appPinnedAt !== null) return { pinnedBy: systemUid, pinnedAt: appPinnedAt }
  return pinnedAt === null ? {} : { pinnedBy: uid, pinnedAt }
}

/** The last messages by id; one that was deleted, held by moderation or is hidden from the viewer is left out until the next. */
async function showLast<Data, Shown>(
  on: Queryable,
  appId: number,
  rows: ReadonlyMap<number, StoredMessage<Data>>,
  { users, groups, blockers }: Sides,
  { viewer, actor }: ShowConversationOptions,
  show: (on: Queryable, appId: number, rows: Array<StoredMessage<Data>>, options: ShowOptions) => Promise<Shown[]>,
): Promise<Map<number, Shown>> {
  const present = [...rows.values()].filter((row) => row.deletedAt === null && isThere(viewer?.uid, row))
  const hidden = viewer === undefined ? new Set() : await readHidden(on, appId, viewer, present, groups)
  const visible = present.filter(({ id }) => !hidden.has(id))
  const known = {
    users: [...users.values(), ...(actor ? [actor] : [])],
    groups: [...groups.values()],
    away: blockers,
  }
  const shown = await show(on, appId, visible, { viewer: viewer?.uid, policy: viewer?.policy, known })
  return new Map(visible.map((row, i) => [row.id, shown[i] as Shown]))
}

/** Those that roles and scopes hide; few groups restrict anything, and of the others there is nothing to ask. */
async function readHidden(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  messages: readonly MessageRow[],
  groups: ReadonlyMap<string, GroupRow>,
): Promise<ReadonlySet<number>> {
  const restricted = messages.filter(
    ({ kind, receiver }) =>
      viewer.policy !== undefined || (kind === 'group' && groups.get(receiver)?.permissionsVersion !== 0),
  )
  const visible = await readVisible(on, appId, viewer, restricted)
  return new Set(restricted.flatMap(({ id }) => (visible.has(id) ? [] : id)))
}
