import type { Conversation } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { systemUid } from '../apps.ts'
import type { Membership } from '../groups/access.ts'
import { readMemberships } from '../groups/memberships.ts'
import { type GroupRow, readGroups, showGroup } from '../groups/rows.ts'
import { type JsonText, toJson } from '../json.ts'
import type { WrittenEntities } from '../messages/entities.ts'
import type { KnownEntity } from '../messages/entity-cache.ts'
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
  /** What is on the other side, where that was read already. */
  readonly peers?: Peers | undefined
  /** The last messages by id, where they were read already. */
  readonly last?: ReadonlyMap<number, StoredMessage<JsonText>> | undefined
}

/** Conversations as answers show them, their last messages and other parties read once for all of them. */
export async function showConversations(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  options: ShowConversationOptions = {},
): Promise<Conversation[]> {
  const [last, parties] = await Promise.all([
    readMessages(on, appId, lastIdsOf(states)),
    readParties(on, appId, states, options),
  ])
  const lastMessages = await showLast(on, appId, last, parties, options, showMessages)
  return states.map((state) => {
    const lastMessage = lastMessages.get(state.listedId ?? 0)
    return { ...renderConversation(state, parties, options), ...(lastMessage && !state.cleared && { lastMessage }) }
  })
}

/** As `showConversations`, written out: what was sent last goes through as it is stored. */
export async function writeConversations(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  options: ShowConversationOptions = {},
): Promise<JsonText<Conversation>[]> {
  const [last, parties] = await Promise.all([
    options.last ?? readMessageTexts(on, appId, lastIdsOf(states)),
    readParties(on, appId, states, options),
  ])
  const lastMessages = await showLast(on, appId, last, parties, options, writeMessages)
  return states.map((state) => {
    const lastMessage = state.cleared ? undefined : lastMessages.get(state.listedId ?? 0)
    return writeConversation(state, parties, options, lastMessage)
  })
}

function lastIdsOf(states: readonly ParticipantState[]): number[] {
  return states.flatMap((state) => state.listedId ?? [])
}

/** What stands on the other side of conversations, and how much of them is unread where that is not what the states say. */
interface Parties {
  readonly users: ReadonlyMap<string, UserRow>
  readonly groups: ReadonlyMap<string, GroupRow>
  readonly memberships: ReadonlyMap<string, Membership>
  readonly unread: ReadonlyMap<number, number> | undefined
  /** Those who block the viewer. */
  readonly blockers: ReadonlySet<string> | undefined
  /** Those of the users and groups that were written out before. */
  readonly written: WrittenEntities | undefined
}

async function readParties(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  { viewer, peers }: ShowConversationOptions,
): Promise<Parties> {
  const { users, groups, memberships, blockers } = peers
    ? partiesOf(peers)
    : await readOthers(on, appId, states, viewer)
  const unread = viewer && (await readVisibleUnread(on, appId, viewer, states, groups))
  return { users, groups, memberships, unread, blockers, written: peers }
}

type Others = Pick<Parties, 'users' | 'groups' | 'memberships' | 'blockers'>

function partiesOf({ users, groups, memberships, blockers }: Peers): Others {
  return { users: rowsOf(users), groups: rowsOf(groups), memberships, blockers }
}

function rowsOf<Row>(known: ReadonlyMap<string, KnownEntity<Row>>): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>()
  for (const [id, { row }] of known) if (row !== undefined) rows.set(id, row)
  return rows
}

async function readOthers(
  on: Queryable,
  appId: number,
  states: readonly ParticipantState[],
  viewer: Viewer | undefined,
): Promise<Others> {
  const uids = states.filter((state) => state.kind === 'user').map(peerOf)
  const groupStates = states.filter((state) => state.kind === 'group')
  const pairs = groupStates.map((state) => ({ guid: state.first, uid: state.uid }))
  const [users, groups, memberships, blockers] = await Promise.all([
    readUsers(on, appId, uids),
    readGroups(on, appId, groupStates.map(peerOf)),
    readMemberships(on, appId, pairs),
    viewer && readBlockers(on, appId, viewer.uid, uids),
  ])
  return { users, groups, memberships, blockers }
}

/** A conversation but for its last message, with its members in the order in which they are declared. */
function renderConversation(state: ParticipantState, parties: Parties, options: ShowConversationOptions): Conversation {
  return {
    conversationId: idOf(state),
    conversationType: state.kind,
    unreadMessageCount: String(unreadOf(state, parties)),
    createdAt: state.createdAt,
    updatedAt: updatedAtOf(state),
    conversationWith: showPeer(state, parties, options),
    ...ownOf(state, options),
  }
}

/** As `renderConversation`, written out with its last message. */
function writeConversation(
  state: ParticipantState,
  parties: Parties,
  options: ShowConversationOptions,
  lastMessage: JsonText | undefined,
): JsonText<Conversation> {
  let text = `{"conversationId":"${idOf(state)}","conversationType":"${state.kind}"`
  text += `,"unreadMessageCount":"${unreadOf(state, parties)}","createdAt":${state.createdAt},"updatedAt":${updatedAtOf(state)}`
  if (lastMessage !== undefined) text += `,"lastMessage":${lastMessage}`
  text += `,"conversationWith":${writePeer(state, parties, options)}`
  const own = ownOf(state, options)
  for (const name in own) text += `,"${name}":${toJson(own[name as keyof typeof own])}`
  return `${text}}` as JsonText<Conversation>
}

function idOf({ kind, first, second }: ParticipantState): string {
  return conversationId(kind, first, second)
}

function unreadOf({ key, unread: counted }: ParticipantState, { unread }: Parties): number {
  return unread?.get(key) ?? counted
}

function updatedAtOf({ listedSentAt, createdAt }: ParticipantState): number {
  return listedSentAt ?? createdAt
}

/** What is the user's own of a conversation. */
function ownOf(state: ParticipantState, { withTags }: ShowConversationOptions): Partial<Conversation> {
  return { ...(withTags === true && state.tags.length > 0 && { tags: state.tags }), ...pinOf(state) }
}

function showPeer(
  state: ParticipantState,
  parties: Parties,
  { withUserAndGroupTags: withTags = false, blockInfo }: ShowConversationOptions,
): Record<string, unknown> {
  const other = peerOf(state)
  if (state.kind === 'group') return showGroupPeer(state, parties, withTags)
  const shown = showUserOrDeleted(other, parties.users.get(other), 'other', { withTags })
  const seen = parties.blockers?.has(other) === true ? withoutPresence(shown) : shown
  return { ...seen, conversationId: idOf(state), ...blockInfo?.get(other) }
}

function showGroupPeer(
  { first, uid }: ParticipantState,
  { groups, memberships }: Parties,
  withTags: boolean,
): Record<string, unknown> {
  const group = groups.get(first)
  if (group === undefined) return { guid: first }
  const { tags, ...shown } = showGroup(group, memberships.get(`${first} ${uid}`))
  return { ...shown, ...(withTags && tags !== undefined && { tags }) }
}

/** As `showPeer`, written out: nearly all users without tags are shown as they are in messages. */
function writePeer(state: ParticipantState, parties: Parties, options: ShowConversationOptions): string {
  const uid = peerOf(state)
  const known = state.kind === 'user' ? parties.written?.users.get(uid) : undefined
  const isShownAlike = parties.users.get(uid)?.tags.length === 0 && parties.blockers?.has(uid) !== true
  if (known === undefined || !isShownAlike || options.blockInfo?.has(uid) === true) {
    return toJson(showPeer(state, parties, options))
  }
  return `${known.text.slice(0, -1)},"conversationId":"${idOf(state)}"}`
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
  { users, groups, blockers, written }: Parties,
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
    written,
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
