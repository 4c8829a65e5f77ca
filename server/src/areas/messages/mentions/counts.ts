import { traits } from '../../../chat/messages/traits.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'

const selectCounts = statement(`
  select t.parent_id as "parentId", mentions.count
  from threads t
  join conversation_states s on s.app_id = t.app_id and s.uid = $3 and s.conversation = t.conversation
  cross join lateral (
    select count(*) as count
    from messages r
    where r.app_id = t.app_id
    and r.parent_id = t.parent_id
    and (r.sent_at, r.id) > (s.unread_sent_at, s.unread_id)
    and r.countable
    and r.sender <> s.uid
    and r.traits & ${traits.mentions} <> 0
    and s.uid = any(r.mentioned)
  ) mentions
  where t.app_id = $1
  and t.parent_id = any($2::bigint[])`)

/** How many unread replies of some threads mention the viewer, by the id of the parent. */
export async function readMentionCounts(
  on: Queryable,
  appId: number,
  viewer: string,
  parentIds: readonly number[],
): Promise<Map<number, number>> {
  if (parentIds.length === 0) return new Map()
  const rows = await on.query<{ parentId: number; count: number }>(selectCounts, [appId, parentIds, viewer])
  return new Map(rows.map(({ parentId, count }) => [parentId, count]))
}
