import { type AppSettings, badRequest, hasReached } from '@parley/contract'
import { lockApp, systemUid } from '../../chat/apps.ts'
import type { FoundConversation } from '../../chat/conversations/find.ts'
import { listedSql, otherPeerSql, peerOf } from '../../chat/conversations/participant-state.ts'
import { lockGroups, unknownGroup } from '../../chat/groups/access.ts'
import { type ConversationKind, kindSql, storedKind } from '../../chat/kind.ts'
import { conversationId } from '../../chat/naming.ts'
import { keepThere } from '../../chat/users/locks.ts'
import { unknownUser } from '../../chat/users/require.ts'
import type { Database, Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { pinnedByApp, tooManyAppPins, tooManyPins } from './errors.ts'
import type { ParticipantOf } from './marks.ts'

/** A conversation and its pin, as the pin operations answer it. */
export interface PinnedConversation {
  conversationId: string
  conversationType: 'user' | 'group'
  pinnedBy?: string
  pinnedAt?: number
}

const lockUser = statement(`
  select uid
  from users
  where app_id = $1
  and uid = $2
  for no key update`)

const selectAppPin = statement(`
  select peer
  from app_pinned_conversations
  where app_id = $1
  and kind = $2
  and peer = $3`)

const selectPins = statement(`
  select conversation, pinned_at as "pinnedAt"
  from conversation_states
  where app_id = $1
  and uid = $2
  and pinned_at is not null`)

const selectPinned = statement(`
  select conversation
  from conversation_states
  where app_id = $1
  and uid = $2
  and conversation = $3
  and pinned_at is not null`)

/** Pins that a user sees nothing of: of conversations that were left, reset or deleted, or that the app has pinned. */
const releaseUnseen = statement(`
  update conversation_states s
  set pinned_at = null
  from conversations c
  where s.app_id = $1
  and s.uid = $2
  and s.pinned_at is not null
  and c.app_id = s.app_id
  and c.key = s.conversation
  and (
    not (${listedSql})
    or exists (
      select
      from app_pinned_conversations p
      where p.app_id = c.app_id
      and p.kind = c.kind
      and p.peer = ${otherPeerSql}
    )
  )`)

const writePin = statement(`
  update conversation_states
  set pinned_at = $4
  where app_id = $1
  and uid = $2
  and conversation = $3`)

/**
 * Pins a conversation on top of a user's list; asked again, the first pin stays. Where no place is left, pins that the user
 * sees nothing of make room.
 * @throws 400 `ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED`, 403 `ERR_SYSTEM_PINNED_CONVERSATION`
 */
export async function pinConversation(
  database: Database,
  state: ParticipantOf,
  { maxPinnedConversations: most }: AppSettings,
): Promise<PinnedConversation> {
  const pinnedAt = await database.transaction(async (tx) => {
    // One pin of a user at a time, so that two cannot both be the last.
    await tx.query(lockUser, [state.appId, state.uid])
    await refuseAppPin(tx, state)
    const readPins = () => tx.query<{ conversation: number; pinnedAt: number }>(selectPins, [state.appId, state.uid])
    let pins = await readPins()
    const existing = pins.find((pin) => pin.conversation === state.conversation.key)
    if (existing !== undefined) return existing.pinnedAt
    if (hasReached(most, pins.length)) {
      await tx.query(releaseUnseen, [state.appId, state.uid])
      pins = await readPins()
    }
    if (hasReached(most, pins.length)) throw tooManyPins(state.uid, most)
    const now = Math.floor(Date.now() / 1000)
    await tx.query(writePin, [state.appId, state.uid, state.conversation.key, now])
    return now
  })
  return { ...nameOf(state), pinnedBy: state.uid, pinnedAt }
}

/** A conversation that a user has pinned, whether they still see it or not: a pin can always be dropped. */
export async function findPinned(
  on: Queryable,
  appId: number,
  uid: string,
  conversation: FoundConversation | undefined,
): Promise<ParticipantOf | undefined> {
  if (conversation === undefined) return undefined
  const pinned = await on.query(selectPinned, [appId, uid, conversation.key])
  return pinned.length === 0 ? undefined : { appId, uid, conversation }
}

/** Drops a user's own pin, if there is one. @throws 403 `ERR_SYSTEM_PINNED_CONVERSATION` */
export async function unpinConversation(database: Database, state: ParticipantOf): Promise<PinnedConversation> {
  await refuseAppPin(database, state)
  await database.query(writePin, [state.appId, state.uid, state.conversation.key, null])
  return nameOf(state)
}

async function refuseAppPin(on: Queryable, state: ParticipantOf): Promise<void> {
  const peer = peerOf({ ...state.conversation, uid: state.uid })
  const pins = await on.query(selectAppPin, [state.appId, storedKind(state.conversation.kind), peer])
  if (pins.length > 0) {
    throw pinnedByApp(peer)
  }
}

function nameOf({ conversation: { kind, first, second } }: ParticipantOf): PinnedConversation {
  return { conversationId: conversationId(kind, first, second), conversationType: kind }
}

interface AppPin {
  readonly kind: ConversationKind
  readonly peer: string
  readonly pinnedAt: number
}

const selectAppPins = statement(`
  select ${kindSql('kind')} as kind, peer, pinned_at as "pinnedAt"
  from app_pinned_conversations
  where app_id = $1
  order by place`)

/** The conversations that are pinned for every user of an app, in display order. */
export async function readAppPins(on: Queryable, appId: number): Promise<PinnedConversation[]> {
  return (await on.query<AppPin>(selectAppPins, [appId])).map(({ kind, peer, pinnedAt }) => ({
    // A user is pinned for everyone who has a conversation with them; the name is that of their conversation with the app.
    conversationId: conversationId(kind, kind === 'group' ? peer : systemUid, peer),
    conversationType: kind,
    pinnedBy: systemUid,
    pinnedAt,
  }))
}

/** Entries of the app's pinned list; each names a user or a group, and repeats count once, at their first place. */
export function readPins(
  entries: ReadonlyArray<{ uid?: string; guid?: string }>,
): Array<{ kind: ConversationKind; peer: string }> {
  const pins = new Map<string, { kind: ConversationKind; peer: string }>()
  for (const [i, { uid, guid }] of entries.entries()) {
    const peer = (uid ?? guid)?.toLowerCase()
    if (peer === undefined || (uid !== undefined && guid !== undefined)) {
      throw badRequest([{ path: `body/pinnedConversations/${i}`, message: 'must name either a uid or a guid' }])
    }
    const kind = uid === undefined ? 'group' : 'user'
    if (!pins.has(`${kind} ${peer}`)) pins.set(`${kind} ${peer}`, { kind, peer })
  }
  return [...pins.values()]
}

const removeAppPins = statement(`
  delete from app_pinned_conversations
  where app_id = $1`)

const insertAppPins = statement(`
  insert into app_pinned_conversations (app_id, kind, peer, place, pinned_at)
  select $1, p.kind, p.peer, p.place - 1, p.pinned_at
  from unnest($2::smallint[], $3::text[], $4::bigint[]) with ordinality as p(kind, peer, pinned_at, place)`)

/**
 * Replaces the list of conversations pinned for every user; what stays keeps its time.
 * @param wanted in display order, repeats taken out
 * @throws 404 for an unknown user or group, 400 `ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED`
 */
export async function replaceAppPins(
  database: Database,
  appId: number,
  wanted: ReadonlyArray<{ kind: ConversationKind; peer: string }>,
  { maxAppPinnedConversations: most }: AppSettings,
): Promise<void> {
  if (most !== 0 && wanted.length > most) throw tooManyAppPins(wanted.length, most)
  await database.transaction(async (tx) => {
    await keepPeers(tx, appId, wanted)
    await lockApp(tx, appId)
    const current = await tx.query<AppPin>(selectAppPins, [appId])
    const now = Math.floor(Date.now() / 1000)
    const pinnedAt = wanted.map(
      ({ kind, peer }) => current.find((pin) => pin.kind === kind && pin.peer === peer)?.pinnedAt ?? now,
    )
    await tx.query(removeAppPins, [appId])
    await tx.query(insertAppPins, [
      appId,
      wanted.map(({ kind }) => storedKind(kind)),
      wanted.map(({ peer }) => peer),
      pinnedAt,
    ])
  })
}

/**
 * Makes sure that users and groups are there, and are not removed for good until the transaction ends. To be held before the app,
 * as who removes them does.
 */
async function keepPeers(
  tx: Transaction,
  appId: number,
  wanted: ReadonlyArray<{ kind: ConversationKind; peer: string }>,
): Promise<void> {
  const peersOf = (kind: ConversationKind) => wanted.filter((pin) => pin.kind === kind).map(({ peer }) => peer)
  const users = await keepThere(tx, appId, peersOf('user'))
  const groups = await lockGroups(tx, appId, peersOf('group'))
  for (const { kind, peer } of wanted) {
    if (kind === 'user' && !users.has(peer)) throw unknownUser(peer)
    if (kind === 'group' && !groups.has(peer)) throw unknownGroup(peer)
  }
}
