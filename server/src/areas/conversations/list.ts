import { agenticRole } from '@parley/contract'
import { sql } from 'kysely'
import {
  listedSql,
  otherPeerSql,
  type ParticipantState,
  participantColumns,
  participantJoins,
} from '../../chat/conversations/participant-state.ts'
import { isVisibleUnread } from '../../chat/conversations/unread.ts'
import { type PageRequest, selectTotal } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'

const otherPeer = sql.raw(otherPeerSql)

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

/**
 * A page of conversations and how many there are: those of a user, pinned ones first and then by last message, or for
 * the app every side of all of them.
 * @param hiding what is hidden from the user: conditions on `m` that unread messages must meet
 */
export async function selectConversations(
  on: Queryable,
  appId: number,
  uid: string | undefined,
  filters: ConversationFilters,
  page: PageRequest,
  hiding: readonly Fragment[] = [],
): Promise<{ states: ParticipantState[]; total: number }> {
  return uid === undefined
    ? selectAllConversations(on, appId, filters, page)
    : selectConversationsOf(on, appId, uid, filters, page, hiding)
}

/**
 * The order is by what others write last, which is kept once for each conversation and not for each member: all of the
 * user's conversations are looked at, once, and only those on the page are read with what a list shows of them.
 */
async function selectConversationsOf(
  on: Queryable,
  appId: number,
  uid: string,
  filters: ConversationFilters,
  page: PageRequest,
  hiding: readonly Fragment[],
): Promise<{ states: ParticipantState[]; total: number }> {
  const order = sql`p.app_place nulls last, p.pinned_at desc nulls last, p.listed_sent_at desc, p.listed_id desc, p.conversation`
  const seesUnread = sql`exists (
      select from messages m
      where ${isVisibleUnread(uid, hiding)}
      offset 0
    )`
  const unhidden = filters.unread === true && hiding.length > 0 ? [seesUnread] : []
  const rows = await on.run<ParticipantState & { total: number }>(
    sql`
    with matching as materialized (
      select s.conversation, s.pinned_at, c.listed_sent_at, c.listed_id, ap.place as app_place
      ${sidesWhere([...conditionsOf(appId, uid, filters), ...unhidden], filters, true)}
    )
    select ${sql.raw(participantColumns)}, t.total
    from (select count(*) as total from matching) t
    left join (
      select *
      from matching p
      order by ${order}
      limit ${page.perPage}
      offset ${page.offset}
    ) p on true
    left join conversation_states s
      on s.app_id = ${appKey(appId)} and s.uid = ${uid} and s.conversation = p.conversation
    left join conversations c on c.app_id = s.app_id and c.key = s.conversation
    ${sql.raw(participantJoins)}
    order by ${order}` as Fragment<ParticipantState & { total: number }>,
  )
  // A page beyond the end still tells the total, in a row without a conversation.
  return { states: rows.filter(({ key }) => key !== null), total: rows[0]?.total ?? 0 }
}

/** For the app. The true total costs a look at every participant's state. */
async function selectAllConversations(
  on: Queryable,
  appId: number,
  filters: ConversationFilters,
  page: PageRequest,
): Promise<{ states: ParticipantState[]; total: number }> {
  const conditions = conditionsOf(appId, undefined, filters)
  const order = sql`s.uid, c.listed_sent_at desc, c.listed_id desc, c.key`
  const once = filters.unique === true
  const matching = sql`
    select s.app_id, ${once ? sql`min(s.uid)` : sql`s.uid`} as uid, s.conversation
    ${sidesWhere(conditions, filters, false)}
    ${once ? sql`group by s.app_id, s.conversation` : sql``}`
  const [states, [count]] = await Promise.all([
    on.run<ParticipantState>(
      sql`
      select ${sql.raw(participantColumns)}
      from (
        select s.app_id, s.uid, s.conversation
        from (${matching}) s
        join conversations c on c.app_id = s.app_id and c.key = s.conversation
        order by ${order}
        limit ${page.perPage}
        offset ${page.offset}
      ) p
      join conversation_states s on s.app_id = p.app_id and s.uid = p.uid and s.conversation = p.conversation
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      ${sql.raw(participantJoins)}
      order by ${order}` as Fragment<ParticipantState>,
    ),
    on.run(selectTotal(page, sql`from (${matching}) s`)),
  ])
  return { states, total: count?.total ?? 0 }
}

/**
 * Sides `s` with their conversations `c`, and the user `u` or group `g` on the other side where filters look at them.
 * @param byKey look each up by its key: for the sides of one user, where the planner would rather read whole tables
 */
function sidesWhere(conditions: readonly Fragment[], filters: ConversationFilters, byKey: boolean): Fragment {
  const { searchKey, userTags, groupTags, hideAgentic, onlyAgentic } = filters
  const asked = [searchKey, userTags, groupTags, hideAgentic, onlyAgentic].some((filter) => filter !== undefined)
  const others = sql`
      left join lateral (
        select u.tags, u.role, u.name_key
        from users u
        where c.kind = 1 and u.app_id = c.app_id and u.uid = ${otherPeer}
        offset 0
      ) u on true
      left join lateral (
        select g.tags, g.name_key
        from groups g
        where c.kind = 2 and g.app_id = c.app_id and g.guid = c.first
        offset 0
      ) g on true`
  return sql`
      from conversation_states s
      ${
        byKey
          ? sql`
      cross join lateral (
        select *
        from conversations c
        where c.app_id = s.app_id and c.key = s.conversation
        offset 0
      ) c`
          : sql`
      join conversations c on c.app_id = s.app_id and c.key = s.conversation`
      }
      ${asked ? others : sql``}
      left join app_pinned_conversations ap
        on ap.app_id = c.app_id and ap.kind = c.kind and ap.peer = ${otherPeer}
      where ${allOf(conditions)}`
}

function conditionsOf(appId: number, uid: string | undefined, filters: ConversationFilters): Fragment[] {
  const conditions: Fragment[] = [sql`s.app_id = ${appKey(appId)}`, sql.raw(listedSql)]
  if (uid !== undefined) conditions.push(sql`s.uid = ${uid}`)
  if (uid !== undefined && filters.includeBlockedUsers !== true) {
    conditions.push(sql`not (c.kind = 1 and ${otherPeer} in (
      select b.blocked
      from blocks b
      where b.app_id = ${appKey(appId)} and b.blocker = ${uid}
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
  if (filters.unread === true) conditions.push(hasUnread)
  return conditions
}

/** Whether a side has anything unread: as in the count, but looking only until there is one, and only past its pointer. */
const hasUnread = sql`(c.last_sent_at, c.last_id) > (s.unread_sent_at, s.unread_id)
    and (
      s.counted_version = c.version and s.counted_unread > 0
      or exists (
        select from messages m
        where m.app_id = s.app_id
        and m.conversation = s.conversation
        and (m.sent_at, m.id) > (
          case when s.counted_version = c.version then s.counted_sent_at else s.unread_sent_at end,
          case when s.counted_version = c.version then s.counted_id else s.unread_id end
        )
        and m.countable
        and m.sender <> s.uid
        offset 0
      )
    )`
