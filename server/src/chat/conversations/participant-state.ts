import type { Database, Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** One participant's state of a conversation, with what a list shows of it. */
export interface ParticipantState {
  readonly uid: string
  readonly key: number
  readonly kind: 1 | 2
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
  if (state.kind === 2) return state.first
  return state.first === state.uid ? state.second : state.first
}

/**
 * Whether a conversation `c` is in the list of a participant `s`. One that was reset stays away until the next message,
 * unless its place was to be kept.
 */
export const listedSql = `(c.kind = 1 or s.member)
  and c.listed_id is not null
  and (not s.hidden or (c.listed_sent_at, c.listed_id) > (s.cleared_sent_at, s.cleared_id))`

/** The uid or guid on the other side of a conversation `c`, seen from a side `s`. */
export const otherPeerSql = `case when c.kind = 2 or c.second = s.uid then c.first else c.second end`

/** Columns of `ParticipantState`, beside `participantJoins`. */
export const participantColumns = `s.uid, c.key, c.kind, c.first, c.second, c.created_at as "createdAt",
  c.listed_sent_at as "listedSentAt", c.listed_id as "listedId",
  coalesce((c.listed_sent_at, c.listed_id) <= (s.cleared_sent_at, s.cleared_id), false) as cleared, s.tags,
  s.pinned_at as "pinnedAt", ap.pinned_at as "appPinnedAt", c.version, c.last_sent_at as "lastSentAt", c.last_id as "lastId",
  s.unread_sent_at as "unreadSentAt", s.unread_id as "unreadId", n.count as counted, n.count + n.remembered as unread`

/**
 * Counts what a side \`s\` of a conversation \`c\` has not read: what it remembers up to a position, if nothing in the past
 * has changed since, and the index entries after it.
 */
const unreadCount = `
  cross join lateral (
    select count(m.id) as count, b.remembered
    from (
      select
        case when s.counted_version = c.version then s.counted_sent_at else s.unread_sent_at end as sent_at,
        case when s.counted_version = c.version then s.counted_id else s.unread_id end as id,
        case when s.counted_version = c.version then s.counted_unread else 0 end as remembered
    ) b
    left join messages m
      on m.app_id = s.app_id
      and m.conversation = s.conversation
      and (m.sent_at, m.id) > (b.sent_at, b.id)
      and m.countable
      and m.sender <> s.uid
    group by b.remembered
  ) n`

/** What a side `s` of a conversation `c` is shown with. */
export const participantJoins = `
  left join app_pinned_conversations ap on ap.app_id = c.app_id and ap.kind = c.kind and ap.peer = ${otherPeerSql}${unreadCount}`

const selectState = statement(`
  select ${participantColumns}
  from conversation_states s
  join conversations c on c.app_id = s.app_id and c.key = s.conversation${participantJoins}
  where s.app_id = $1
  and s.uid = $2
  and s.conversation = $3
  and (c.kind = 1 or s.member)
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
const rememberFrom = 200

const remember = statement(`
  update conversation_states s
  set counted_sent_at = r.sent_at, counted_id = r.id, counted_unread = r.unread, counted_version = r.version
  from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::int[], $7::bigint[], $8::bigint[], $9::bigint[])
    as r(uid, conversation, sent_at, id, unread, version, unread_sent_at, unread_id)
  where s.app_id = $1
  and s.uid = r.uid
  and s.conversation = r.conversation
  and (s.unread_sent_at, s.unread_id) = (r.unread_sent_at, r.unread_id)`)

/**
 * Remembers the counts of sides that had much to count, so that the next read has not. A side whose pointer has moved
 * since it was read is left alone.
 */
export async function rememberCounts(
  database: Database,
  appId: number,
  states: readonly ParticipantState[],
): Promise<void> {
  const long = states.filter((state) => state.counted >= rememberFrom)
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
