import { traits } from '../../../chat/messages/traits.ts'
import { notHeldIn, takesPartIn } from '../../../chat/sight/participation.ts'
import type { Query } from '../../../store/channel.ts'
import { statement } from '../../../store/statement.ts'

/**
 * Counts the replies that a batch has just written. Under the locks of their conversations what is sent live lies above
 * the last reply of its thread, so that only the new ones are read, however long the thread is.
 *
 * Who starts a thread (its parent's sender, with the first reply), who replies and who of the conversation is mentioned
 * in a reply follows it. Parameters: app ids, ids of the parents, epoch seconds.
 */
export const growThreads = statement(`
  with grown as materialized (
    select p.app_id, p.id as parent_id, p.conversation, p.kind, p.sender as starter, t.parent_id is null as is_new,
      coalesce(t.updated_at, 0) as since_at, coalesce(t.last_reply_id, 0) as since_id
    from (select distinct * from unnest($1::int[], $2::bigint[]) as w(app_id, parent_id)) wanted
    join messages p on p.app_id = wanted.app_id and p.id = wanted.parent_id
    left join threads t on t.app_id = p.app_id and t.parent_id = p.id
  ),
  fresh as materialized (
    select g.app_id, g.parent_id, g.conversation, g.kind, g.starter, g.is_new, m.sender, m.mentioned, m.sent_at, m.id
    from grown g
    join messages m
      on m.app_id = g.app_id
      and m.parent_id = g.parent_id
      and (m.sent_at, m.id) > (g.since_at, g.since_id)
      and m.category <> 'action'
      and m.deleted_at is null
      and ${notHeldIn('m')}
  ),
  counted as (
    insert into threads as t (app_id, parent_id, conversation, reply_count, last_reply_id, updated_at, starter)
    select distinct on (app_id, parent_id) app_id, parent_id, conversation,
      count(*) over (partition by app_id, parent_id), id, sent_at, starter
    from fresh
    order by app_id, parent_id, sent_at desc, id desc
    on conflict (app_id, parent_id) do update
    set reply_count = t.reply_count + excluded.reply_count,
      last_reply_id = excluded.last_reply_id,
      updated_at = excluded.updated_at
  ),
  flagged as (
    update messages p
    set traits = p.traits | ${traits.replies | traits.followed}
    from (select distinct app_id, parent_id from fresh) f
    where p.app_id = f.app_id
    and p.id = f.parent_id
    and p.traits & ${traits.replies | traits.followed} <> ${traits.replies | traits.followed}
  )
  insert into thread_subscriptions (app_id, uid, parent_id, subscribed_at)
  select f.app_id, f.uid, f.parent_id, $3::bigint
  from (
    select app_id, sender as uid, parent_id from fresh
    union
    select app_id, starter, parent_id from fresh where is_new
    union
    select f.app_id, n.uid, f.parent_id
    from fresh f
    cross join unnest(f.mentioned) as n(uid)
    join conversation_states s
      on s.app_id = f.app_id
      and s.uid = n.uid
      and s.conversation = f.conversation
      and ${takesPartIn('f')}
  ) f
  join users u on u.app_id = f.app_id and u.uid = f.uid
  order by f.app_id, f.uid, f.parent_id
  on conflict do nothing`)

/** The query that a batch with replies runs after it has written its messages; of a batch without, none. */
export function growThreadsOf(
  rows: ReadonlyArray<{ readonly appId: number; readonly parentId: number | null }>,
  now: number,
): Query[] {
  const replies = rows.filter(({ parentId }) => parentId !== null)
  if (replies.length === 0) return []
  const values = [replies.map(({ appId }) => appId), replies.map(({ parentId }) => parentId), now]
  return [{ ...growThreads, values }]
}
