import { traits } from '../../../chat/messages/traits.ts'
import { takesPartIn } from '../../../chat/sight/participation.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'

const follow = statement(`
  with replies as materialized (
    select r.app_id, r.parent_id, r.conversation, r.kind, r.sender, r.mentioned, r.sent_at, p.sender as starter, t.parent_id is null as is_new
    from unnest($1::int[], $2::bigint[]) as written(app_id, id)
    join messages r on r.app_id = written.app_id and r.id = written.id
    join messages p on p.app_id = r.app_id and p.id = r.parent_id
    left join threads t on t.app_id = p.app_id and t.parent_id = p.id
    where r.category <> 'action'
    and r.deleted_at is null
  ),
  flagged as (
    update messages p
    set traits = p.traits | ${traits.followed}
    from (select distinct app_id, parent_id from replies) r
    where p.app_id = r.app_id
    and p.id = r.parent_id
    and p.traits & ${traits.followed} = 0
  )
  insert into thread_subscriptions (app_id, uid, parent_id, subscribed_at)
  select f.app_id, f.uid, f.parent_id, min(f.sent_at)
  from (
    select app_id, sender as uid, parent_id, sent_at from replies
    union all
    select app_id, starter, parent_id, sent_at from replies where is_new
    union all
    select r.app_id, n.uid, r.parent_id, r.sent_at
    from replies r
    cross join unnest(r.mentioned) as n(uid)
    join conversation_states s
      on s.app_id = r.app_id
      and s.uid = n.uid
      and s.conversation = r.conversation
      and ${takesPartIn('r')}
  ) f
  join users u on u.app_id = f.app_id and u.uid = f.uid
  group by f.app_id, f.uid, f.parent_id
  order by f.app_id, f.uid, f.parent_id
  on conflict do nothing`)

/**
 * Lets those follow imported threads who would, had they been written here: who replied, who is mentioned in a reply, and
 * with the first reply who wrote the parent. Before the replies are counted, under the locks of their conversations.
 */
export async function followThreads(
  tx: Transaction,
  replies: ReadonlyArray<{ readonly appId: number; readonly id: number }>,
): Promise<void> {
  if (replies.length === 0) return
  await tx.query(follow, [replies.map(({ appId }) => appId), replies.map(({ id }) => id)])
}

const followEdited = statement(`
  with followed as (
    insert into thread_subscriptions (app_id, uid, parent_id, subscribed_at)
    select r.app_id, u.uid, r.parent_id, $4::bigint
    from messages r
    join users u on u.app_id = r.app_id and u.uid = any($3::text[])
    join conversation_states s
      on s.app_id = r.app_id
      and s.uid = u.uid
      and s.conversation = r.conversation
      and ${takesPartIn('r')}
    where r.app_id = $1
    and r.id = $2
    order by u.uid
    on conflict do nothing
    returning parent_id
  )
  update messages p
  set traits = p.traits | ${traits.followed}
  where p.app_id = $1
  and p.id in (select f.parent_id from followed f)
  and p.traits & ${traits.followed} = 0`)

/**
 * Lets those follow the thread of a reply whom an edit mentions in it, as a mention in a new reply does. Under the conversation's lock.
 * @param at epoch seconds
 */
export async function followEditedReply(
  tx: Transaction,
  appId: number,
  { id, parentId }: { readonly id: number; readonly parentId: number | null },
  mentioned: readonly string[],
  at: number,
): Promise<void> {
  if (parentId !== null && mentioned.length > 0) await tx.query(followEdited, [appId, id, mentioned, at])
}
