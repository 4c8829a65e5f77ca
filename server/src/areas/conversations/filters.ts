import { agenticRole } from '@parley/contract'
import { sql } from 'kysely'
import { listedSql, otherPeerSql } from '../../chat/conversations/participant-state.ts'
import { storedKind } from '../../chat/kind.ts'
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

/** Whether filters ask for more than the kind of conversations. */
export function looksAtStates({ conversationType, unique, ...rest }: ConversationFilters): boolean {
  const { tags, unread } = rest
  return tags !== undefined || unread === true || looksAtOthers(rest)
}

/** Whether filters ask who is on the other side. */
function looksAtOthers({ searchKey, userTags, groupTags, hideAgentic, onlyAgentic }: ConversationFilters): boolean {
  return [searchKey, userTags, groupTags, hideAgentic, onlyAgentic].some((filter) => filter !== undefined)
}

/** The states of everybody. */
export const everybodys = sql`
      conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation`

/** What the app has pinned: few conversations, if any. */
const pins = sql`
      left join app_pinned_conversations ap
        on ap.app_id = c.app_id and ap.kind = c.kind and ap.peer = ${otherPeer}`

/** The same for very many conversations: those that are pinned are known before any of them is looked up. */
const pinsOfMany = (app: Fragment) => sql`
      left join lateral (
        select ap.place, ap.pinned_at
        from app_pinned_conversations ap
        where (c.kind, ${otherPeer}) in (select a.kind, a.peer from app_pinned_conversations a where a.app_id = ${app})
        and ap.app_id = ${app}
        and ap.kind = c.kind
        and ap.peer = ${otherPeer}
        offset 0
      ) ap on true`

/**
 * Sides `s` with their conversations `c`, the user `u` or group `g` on the other side where filters look at them, and the pin of
 * the app `ap`.
 * @param states `eachByKey`, `allByKey` or `everybodys`
 * @param ofMany the app, where they are very many
 */
export function statesWhere(
  states: Fragment,
  conditions: readonly Fragment[],
  filters: ConversationFilters,
  ofMany?: Fragment,
): Fragment {
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
      from ${states}
      ${looksAtOthers(filters) ? others : sql``}${ofMany === undefined ? pins : pinsOfMany(ofMany)}
      where ${allOf(conditions)}`
}

export function conditionsOf(appId: Fragment, uid: Fragment | undefined, filters: ConversationFilters): Fragment[] {
  const conditions: Fragment[] = [sql`s.app_id = ${appId}`, sql.raw(listedSql)]
  if (uid !== undefined) conditions.push(sql`s.uid = ${uid}`)
  if (uid !== undefined && filters.includeBlockedUsers !== true) {
    conditions.push(sql`not (c.kind = 1 and ${otherPeer} in (
      select b.blocked
      from blocks b
      where b.app_id = ${appId} and b.blocker = ${uid}
    ))`)
  }
  if (filters.conversationType !== undefined) {
    conditions.push(sql`c.kind = ${storedKind(filters.conversationType)}`)
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

/** Whether a state has anything unread: as in the count, but looking only until there is one, and only past its pointer. */
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
