import { sql } from 'kysely'
import { traits } from '../../../chat/messages/traits.ts'
import { notClearedSql } from '../../../chat/sight/participation.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import { allOf, type Fragment } from '../../../store/statement.ts'

/**
 * How many unread replies of some threads mention the viewer, by the id of the parent.
 * @param conditions what is hidden from the viewer: conditions on `m`
 */
export async function readMentionCounts(
  on: Queryable,
  appId: number,
  viewer: string,
  parentIds: readonly number[],
  conditions: readonly Fragment[],
): Promise<Map<number, number>> {
  if (parentIds.length === 0) return new Map()
  const rows = await on.run(sql<{ parentId: number; count: number }>`
    select t.parent_id as "parentId", mentions.count
    from threads t
    join conversation_states s on s.app_id = t.app_id and s.uid = ${viewer} and s.conversation = t.conversation
    cross join lateral (
      select count(*) as count
      from messages m
      where m.app_id = t.app_id
      and m.parent_id = t.parent_id
      and (m.sent_at, m.id) > (s.unread_sent_at, s.unread_id)
      and m.countable
      and m.sender <> s.uid
      and m.traits & ${traits.mentions}::int <> 0
      and s.uid = any(m.mentioned)
      and ${allOf([notClearedSql, ...conditions])}
    ) mentions
    where t.app_id = ${appKey(appId)}
    and t.parent_id = any(${parentIds}::bigint[])`)
  return new Map(rows.map(({ parentId, count }) => [parentId, count]))
}
