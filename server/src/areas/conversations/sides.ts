import { sql } from 'kysely'
import type { PageRequest } from '../../paging.ts'
import type { Database, Queryable } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'

/** A conversation from one user's side, with what a list shows of it. */
export interface Side {
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

/** The other side: the uid that a user talks with, or the guid. */
export function otherSide(side: Pick<Side, 'uid' | 'kind' | 'first' | 'second'>): string {
  if (side.kind === 2) return side.first
  return side.first === side.uid ? side.second : side.first
}

/** The uid or guid on the other side of a conversation `c`, seen from a side `s`. */
const otherPeerSql = `case when c.kind = 2 or c.second = s.uid then c.first else c.second end`
const otherPeer = sql.raw(otherPeerSql)

const sideColumns = `s.uid, c.key, c.kind, c.first, c.second, c.created_at as "createdAt",
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

const sideJoins = `
  left join app_pinned_conversations ap on ap.app_id = c.app_id and ap.kind = c.kind and ap.peer = ${otherPeerSql}${unreadCount}`

const selectSide = statement(`
  select ${sideColumns}
  from conversation_states s
  join conversations c on c.app_id = s.app_id and c.key = s.conversation${sideJoins}
  where s.app_id = $1
  and s.uid = $2
  and s.conversation = $3
  and (c.kind = 1 or s.member)
  and c.listed_id is not null`)

/** A user's side of one conversation; undefined before its first message, and of groups that he is not in. */
export async function readSide(on: Queryable, appId: number, uid: string, key: number): Promise<Side | undefined> {
  const [side] = await on.query<Side>(selectSide, [appId, uid, key])
  return side
}

/** The query of the conversation list, as its declaration types it. */
export interface ConversationFilters {
  readonly searchKey?: string
  readonly conversationType?: 'user' | 'group'
  readonly tags?: string[]
  readonly userTags?: string[]
  readonly groupTags?: string[]
  readonly unread?: boolean
  readonly includeBlockedUsers?: boolean
  readonly hideAgentic?: boolean
  readonly onlyAgentic?: boolean
  readonly unique?: boolean
}

const agenticRole = '@agentic'

/**
 * A page of conversations and how many there are: those of a user, pinned ones first and then by last message, or for
 * the app every side of all of them.
 */
export async function selectSides(
  on: Queryable,
  appId: number,
  uid: string | undefined,
  filters: ConversationFilters,
  page: PageRequest,
): Promise<{ sides: Side[]; total: number }> {
  const conditions = conditionsOf(appId, uid, filters)
  const once = uid === undefined && filters.unique === true
  const order =
    uid === undefined
      ? sql`s.uid, c.listed_sent_at desc, c.listed_id desc, c.key`
      : sql`s.place nulls last, s.pinned_at desc nulls last, c.listed_sent_at desc, c.listed_id desc, c.key`
  const from = sql`
    from conversation_states s
    join conversations c on c.app_id = s.app_id and c.key = s.conversation
    left join users u
      on c.kind = 1 and u.app_id = c.app_id and u.uid = ${otherPeer}
    left join groups g on c.kind = 2 and g.app_id = c.app_id and g.guid = c.first
    left join app_pinned_conversations ap
      on ap.app_id = c.app_id and ap.kind = c.kind and ap.peer = ${otherPeer}`
  const counted = filters.unread === true ? sql.raw(unreadCount) : sql``
  const matching = sql`
    select ${once ? sql`distinct on (c.key)` : sql``} s.app_id, s.uid, s.conversation, s.pinned_at, ap.place
    ${from}
    ${counted}
    where ${allOf(conditions)}
    ${once ? sql`order by c.key, s.uid` : sql``}`

  const [sides, [count]] = await Promise.all([
    on.run<Side>(
      sql`
      select ${sql.raw(sideColumns)}
      from (
        select s.app_id, s.uid, s.conversation, row_number() over (order by ${order}) as place
        from (${matching}) s
        join conversations c on c.app_id = s.app_id and c.key = s.conversation
        order by ${order}
        limit ${page.perPage}
        offset ${page.offset}
      ) p
      join conversation_states s on s.app_id = p.app_id and s.uid = p.uid and s.conversation = p.conversation
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      ${sql.raw(sideJoins)}
      order by p.place` as Fragment<Side>,
    ),
    on.run<{ total: number }>(sql`select count(*) as total from (${matching}) s` as Fragment<{ total: number }>),
  ])
  return { sides, total: count?.total ?? 0 }
}

function conditionsOf(appId: number, uid: string | undefined, filters: ConversationFilters): Fragment[] {
  const conditions: Fragment[] = [
    sql`s.app_id = ${appId}`,
    sql`(c.kind = 1 or s.member)`,
    sql`c.listed_id is not null`,
    // A conversation that was reset stays away until the next message, unless its place was to be kept.
    sql`(not s.hidden or (c.listed_sent_at, c.listed_id) > (s.cleared_sent_at, s.cleared_id))`,
  ]
  if (uid !== undefined) conditions.push(sql`s.uid = ${uid}`)
  if (uid !== undefined && filters.includeBlockedUsers !== true) {
    conditions.push(sql`not (c.kind = 1 and exists (
      select from blocks b
      where b.app_id = s.app_id and b.blocker = s.uid and b.blocked = u.uid
    ))`)
  }
  if (filters.conversationType !== undefined) {
    conditions.push(sql`c.kind = ${filters.conversationType === 'user' ? 1 : 2}`)
  }
  if (filters.searchKey !== undefined) {
    const key = filters.searchKey.normalize('NFKC').toLowerCase()
    conditions.push(sql`strpos(coalesce(u.name_key, g.name_key), ${key}) > 0`)
  }
  if (filters.tags !== undefined) conditions.push(sql`s.tags && ${filters.tags}::text[]`)
  if (filters.userTags !== undefined) conditions.push(sql`u.tags && ${filters.userTags}::text[]`)
  if (filters.groupTags !== undefined) conditions.push(sql`g.tags && ${filters.groupTags}::text[]`)
  if (filters.hideAgentic === true) conditions.push(sql`u.role is distinct from ${agenticRole}`)
  if (filters.onlyAgentic === true) conditions.push(sql`u.role = ${agenticRole}`)
  if (filters.unread === true) conditions.push(sql`n.count + n.remembered > 0`)
  return conditions
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
export async function rememberCounts(database: Database, appId: number, sides: readonly Side[]): Promise<void> {
  const long = sides.filter((side) => side.counted >= rememberFrom)
  if (long.length === 0) return
  await database.query(remember, [
    appId,
    long.map((side) => side.uid),
    long.map((side) => side.key),
    long.map((side) => side.lastSentAt),
    long.map((side) => side.lastId),
    long.map((side) => side.unread),
    long.map((side) => side.version),
    long.map((side) => side.unreadSentAt),
    long.map((side) => side.unreadId),
  ])
}
