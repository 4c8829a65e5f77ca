import { sql } from 'kysely'
import { findNamedConversations } from '../../../chat/conversations/find.ts'
import { isIndexedSql } from '../../../chat/messages/rows.ts'
import { traits } from '../../../chat/messages/traits.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'

/** What the queries of the lists of reviewers have in common. */
export interface ListQuery {
  readonly after?: string
  readonly order?: 'oldest' | 'newest'
  readonly ruleId?: string
  readonly sender?: string
  readonly conversationId?: string
  readonly from?: number
  readonly to?: number
  readonly claimed?: boolean
  readonly reasonId?: string
  readonly flaggedBy?: string
}

/** `seen`: blocked messages that a reviewer has looked at. */
export type ListName = 'flagged' | 'blocked' | 'seen' | 'reviewed'

/** A list as a query of messages `m`: tables, conditions, and the columns that order it, which an index of its own has. */
export interface Filters {
  readonly from: Fragment
  readonly conditions: Fragment[]
  readonly at: Fragment
  readonly id: Fragment
  readonly descending: boolean
}

/** Asked for by `<>`, since the planner believes that hardly any message meets what is said by `=`. */
const disapproved = sql.raw(String(traits.disapproved))
const messages = (alias: string) => sql.raw(`messages m on m.app_id = ${alias}.app_id and m.id = ${alias}.message`)

/** Each with the columns by which it is read from an index, see 0026 and 0027. A message that was deleted waits for nobody. */
const lists: Readonly<Record<ListName, { from: Fragment; table: string; at: string; conditions: Fragment[] }>> = {
  flagged: {
    from: sql`moderation_queue q join ${messages('q')}`,
    table: 'q',
    at: 'q.opened_at',
    conditions: [sql`q.status = 'open'`, sql`m.deleted_at is null`, sql`m.traits & ${disapproved} <> ${disapproved}`],
  },
  blocked: {
    from: sql`message_moderation h join ${messages('h')}`,
    table: 'h',
    at: 'h.updated_at',
    conditions: [
      sql`h.status = 'disapproved'`,
      sql`h.review_status is null`,
      sql`m.deleted_at is null`,
      sql`m.traits & ${disapproved} <> 0`,
    ],
  },
  seen: {
    from: sql`message_moderation h join ${messages('h')}`,
    table: 'h',
    at: 'h.updated_at',
    conditions: [
      sql`h.status = 'disapproved'`,
      sql`h.review_status is not null`,
      sql`m.deleted_at is null`,
      sql`m.traits & ${disapproved} <> 0`,
    ],
  },
  reviewed: {
    from: sql`moderation_reviews r join ${messages('r')}
      left join message_moderation h on h.app_id = r.app_id and h.message = r.message`,
    table: 'r',
    at: 'r.reviewed_at',
    conditions: [sql`r.settled`, sql`not m.purged`],
  },
}

/** A list with what a query asks of it. Conversations that do not exist give an empty one. */
export async function readConditionsOf(
  on: Queryable,
  appId: number,
  query: ListQuery,
  name: ListName,
): Promise<Filters> {
  const list = lists[name]
  const at = sql.raw(list.at)
  const id = sql.raw(`${list.table}.message`)
  const descending = query.order === 'newest'
  const conditions: Fragment[] = [sql`${sql.ref(`${list.table}.app_id`)} = ${appKey(appId)}`, ...list.conditions]
  const { after, ruleId, sender, conversationId, from, to, claimed, reasonId, flaggedBy } = query
  if (after !== undefined) {
    const [time, message] = after.split('_').map(Number)
    conditions.push(sql`(${at}, ${id}) ${sql.raw(descending ? '<' : '>')} (${time}::bigint, ${message}::bigint)`)
  }
  if (from !== undefined) conditions.push(sql`${at} >= ${from}`)
  if (to !== undefined) conditions.push(sql`${at} <= ${to}`)
  if (sender !== undefined) conditions.push(sql`${senderIn(list.table)} = ${sender.toLowerCase()}`)
  if (conversationId !== undefined) {
    const keys = (await findNamedConversations(on, appId, conversationId)).map(({ key }) => key)
    conditions.push(sql`m.conversation = any(${keys}::bigint[])`, sql.raw(isIndexedSql))
  }
  if (ruleId !== undefined) conditions.push(ofRule(name, ruleId))
  if (claimed !== undefined) conditions.push(sql`${sql.raw(claimed ? '' : 'not ')}${isClaimed()}`)
  if (reasonId !== undefined) conditions.push(hasFlag(sql`f.reason_id = ${reasonId}`))
  if (flaggedBy !== undefined) conditions.push(hasFlag(sql`f.uid = ${flaggedBy.toLowerCase()}`))
  return { from: list.from, conditions, at, id, descending }
}

/** Looked up for each entry: messages have no index by sender, and the planner would look through all of the app. */
function senderIn(table: string): Fragment {
  if (table === 'h') return sql`h.sender`
  const entry = sql.raw(table)
  return sql`(select s.sender from messages s where s.app_id = ${entry}.app_id and s.id = ${entry}.message)`
}

function ofRule(name: ListName, ruleId: string): Fragment {
  const blockedBy = sql`h.rule_id = ${ruleId}`
  if (name === 'blocked' || name === 'seen') return blockedBy
  const flaggedBy = sql`exists (
      select
      from moderation_queue o
      cross join lateral json_array_elements(o.by_rule) as b(flagging)
      where o.app_id = m.app_id
      and o.message = m.id
      and b.flagging ->> 'ruleId' = ${ruleId}
    )`
  return name === 'flagged' ? flaggedBy : sql`(${blockedBy} or ${flaggedBy})`
}

function hasFlag(which: Fragment): Fragment {
  return sql`exists (
      select
      from moderation_flags f
      where f.app_id = m.app_id
      and f.message = m.id
      and ${which}
    )`
}

/** By somebody whose time is not over. */
export function isClaimed(): Fragment {
  return sql`exists (
      select
      from moderation_claims c
      where c.app_id = m.app_id
      and c.message = m.id
      and c.until > ${Math.floor(Date.now() / 1000)}
    )`
}
