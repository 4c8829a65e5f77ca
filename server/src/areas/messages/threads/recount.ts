import { traits } from '../../../chat/messages/traits.ts'
import { notHeldIn } from '../../../chat/sight/participation.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'

const recount = statement(`
  with counted as materialized (
    select p.id as parent_id, p.conversation, p.sender as starter, not (${notHeldIn('p')}) as held, r.count, r.id as last_reply_id, r.sent_at as updated_at
    from messages p
    left join lateral (
      select m.id, m.sent_at, count(*) over () as count
      from messages m
      where m.app_id = p.app_id
      and m.parent_id = p.id
      and m.category <> 'action'
      and m.deleted_at is null
      and ${notHeldIn('m')}
      order by m.sent_at desc, m.id desc
      limit 1
    ) r on true
    where p.app_id = $1
    and p.id = any($2::bigint[])
  ),
  ended as (
    delete from threads t
    using counted c
    where t.app_id = $1
    and t.parent_id = c.parent_id
    and c.count is null
  ),
  flagged as (
    update messages p
    set traits = case when c.count is null then p.traits & ~${traits.replies} else p.traits | ${traits.replies} end
    from counted c
    where p.app_id = $1
    and p.id = c.parent_id
    and (p.traits & ${traits.replies} <> 0) <> (c.count is not null)
  )
  insert into threads as t (app_id, parent_id, conversation, reply_count, last_reply_id, updated_at, starter, held)
  select $1::int, parent_id, conversation, count, last_reply_id, updated_at, starter, held
  from counted
  where count is not null
  order by parent_id
  on conflict (app_id, parent_id) do update
  set reply_count = excluded.reply_count,
    last_reply_id = excluded.last_reply_id,
    updated_at = excluded.updated_at`)

/**
 * Counts the replies of threads anew, after some were deleted or imported: those that are neither deleted nor held, action
 * messages aside. A thread without any is none. Under the locks of the conversations.
 * @param parentIds ids of the parents; those that are gone are left out
 */
export async function recountThreads(tx: Transaction, appId: number, parentIds: readonly number[]): Promise<void> {
  if (parentIds.length > 0) await tx.query(recount, [appId, parentIds])
}
