import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { type ConversationKind, kindSql } from '../kind.ts'
import { takesPartIn } from '../sight/participation.ts'

/** One participant's state of a conversation, with what a list shows of it. */
export interface ParticipantState {
  readonly uid: string
  readonly key: number
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
  readonly createdAt: number
  readonly listedSentAt: number | null
  readonly listedId: number | null
  readonly cleared: boolean
  readonly tags: string[]
  readonly pinnedAt: number | null
  /** Pinned for every user of the app, since then. */
  readonly appPinnedAt: number | null
  /** Exact at any size: what is remembered, and what came since. */
  readonly unread: number
  /** Messages that had to be counted; many mean that it is time to remember the count anew. */
  readonly counted: number
  readonly version: number
  readonly lastSentAt: number
  readonly lastId: number
  readonly unreadSentAt: number
  readonly unreadId: number
}

/** Whom the conversation is with: the uid that a user talks with, or the guid. */
export function peerOf(state: Pick<ParticipantState, 'uid' | 'kind' | 'first' | 'second'>): string {
  if (state.kind === 'group') return state.first
  return state.first === state.uid ? state.second : state.first
}

/**
 * Whether no reset hides a conversation `c` from the list of a participant: one that was reset stays away until the next
 * message, unless its place was to be kept.
 */
export function keptSql(state: string): string {
  return `(not ${state}.hidden or (c.listed_sent_at, c.listed_id) > (${state}.cleared_sent_at, ${state}.cleared_id))`
}

/** Whether a conversation `c` is in the list of a participant `s`. */
export const listedSql = `${takesPartIn('c')}
  and c.listed_id is not null
  and ${keptSql('s')}`

/** Any state of a conversation: said so that those of members are found by one index, and all others by another. */
export const everyState = '(member_read_id is not null or not member)'

/** The uid or guid on the other side of a conversation, seen by the participant whose state it is. */
export function otherPeerOf(state: string, conversation: string): string {
  return `case when ${conversation}.kind = 2 or ${conversation}.second = ${state}.uid then ${conversation}.first else ${conversation}.second end`
}

/** The same of a conversation `c` and a state `s`. */
export const otherPeerSql = otherPeerOf('s', 'c')

/** Whoever takes part in more conversations than this is answered apart from others, who would wait for them. */
const few = 200

/** Whether a user takes part in few conversations, as SQL. */
export function takesPartInFew(appId: string, uid: string): string {
  return `(
      select count(*)
      from (select from conversation_states o where o.app_id = ${appId} and o.uid = ${uid} limit ${few + 1}) o
    ) <= ${few}`
}

/** What a state remembers up to a position, if nothing in the past of its conversation has changed since. */
export function rememberedUnreadOf(state: string, conversation: string): string {
  return `case when ${state}.counted_version = ${conversation}.version then ${state}.counted_unread else 0 end`
}

/** Columns of `ParticipantState`, beside `participantJoins`. */
export const participantColumns = `s.uid, c.key, ${kindSql('c.kind')} as kind, c.first, c.second, c.created_at as "createdAt",
  c.listed_sent_at as "listedSentAt", c.listed_id as "listedId",
  coalesce((c.listed_sent_at, c.listed_id) <= (s.cleared_sent_at, s.cleared_id), false) as cleared, s.tags,
  s.pinned_at as "pinnedAt", ap.pinned_at as "appPinnedAt", c.version, c.last_sent_at as "lastSentAt", c.last_id as "lastId",
  s.unread_sent_at as "unreadSentAt", s.unread_id as "unreadId", n.count as counted, n.count + ${rememberedUnreadOf('s', 'c')} as unread`

/** Counts what a state of a conversation has not read: the index entries after what it remembers. */
export function countUnreadOf(state: string, conversation: string): string {
  const remembers = `${state}.counted_version = ${conversation}.version`
  return `
    select count(*) as count
    from messages m
    where m.app_id = ${state}.app_id
    and m.conversation = ${state}.conversation
    and (m.sent_at, m.id) > (
      case when ${remembers} then ${state}.counted_sent_at else ${state}.unread_sent_at end,
      case when ${remembers} then ${state}.counted_id else ${state}.unread_id end
    )
    and m.countable
    and m.sender <> ${state}.uid`
}

/** What a state `s` of a conversation `c` is shown with. */
export const participantJoins = `
  left join app_pinned_conversations ap on ap.app_id = c.app_id and ap.kind = c.kind and ap.peer = ${otherPeerSql}
  cross join lateral (${countUnreadOf('s', 'c')}
  ) n`

const selectState = statement(`
  select ${participantColumns}
  from conversation_states s
  join conversations c on c.app_id = s.app_id and c.key = s.conversation${participantJoins}
  where s.app_id = $1
  and s.uid = $2
  and s.conversation = $3
  and ${takesPartIn('c')}
  and c.listed_id is not null`)

/** A user's state in one conversation; undefined before its first message, and for groups they are not in. */
export async function readParticipantState(
  on: Queryable,
  appId: number,
  uid: string,
  key: number,
): Promise<ParticipantState | undefined> {
  const [state] = await on.query<ParticipantState>(selectState, [appId, uid, key])
  return state
}

/** Counting more than this on every read is dearer than remembering once. */
export const rememberFrom = 200

/** Of many users at once, in any order: what somebody else is writing is passed over, so that nobody waits crosswise. */
const remember = statement(`
  with free as (
    select r.*
    from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::int[], $7::bigint[], $8::bigint[], $9::bigint[])
      as r(uid, conversation, sent_at, id, unread, version, unread_sent_at, unread_id)
    join conversation_states s on s.app_id = $1
      and s.uid = r.uid
      and s.conversation = r.conversation
      and (s.unread_sent_at, s.unread_id) = (r.unread_sent_at, r.unread_id)
    for update of s skip locked
  )
  update conversation_states s
  set counted_sent_at = r.sent_at, counted_id = r.id, counted_unread = r.unread, counted_version = r.version
  from free r
  where s.app_id = $1
  and s.uid = r.uid
  and s.conversation = r.conversation`)

/** What was counted of a state, and up to where. */
export type CountedState = Pick<
  ParticipantState,
  'uid' | 'key' | 'counted' | 'unread' | 'version' | 'lastSentAt' | 'lastId' | 'unreadSentAt' | 'unreadId'
>

/**
 * Remembers the counts of states that had much to count, so that the next read has not. A state whose pointer has moved
 * since it was read is left alone.
 * @param from how much is much
 */
export async function rememberCounts(
  database: Queryable,
  appId: number,
  states: readonly CountedState[],
  from = rememberFrom,
): Promise<void> {
  const long = states.filter((state) => state.counted >= from)
  if (long.length === 0) return
  await database.query(remember, [
    appId,
    long.map((state) => state.uid),
    long.map((state) => state.key),
    long.map((state) => state.lastSentAt),
    long.map((state) => state.lastId),
    long.map((state) => state.unread),
    long.map((state) => state.version),
    long.map((state) => state.unreadSentAt),
    long.map((state) => state.unreadId),
  ])
}
