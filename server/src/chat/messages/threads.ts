import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { AddingFeature, Addition } from './additions.ts'
import type { MessageRow } from './rows.ts'
import type { ShowOptions } from './show.ts'
import { traits } from './traits.ts'

/** `starter` of a thread whose starter was deleted for good: what others wrote there stays. No uid is empty. */
export const noStarter = ''

/** The offset keeps it a look by key for each; among many apps the planner would rather read all of the user's sides. */
const selectCounts = statement(`
  select t.parent_id as "parentId", t.reply_count as "replyCount", unread.count as "unreadCount"
  from threads t
  left join lateral (
    select s.app_id, s.uid, s.unread_sent_at, s.unread_id
    from conversation_states s
    where s.app_id = t.app_id
    and s.uid = $3
    and s.conversation = t.conversation
    offset 0
  ) s on true
  left join lateral (
    select count(*) as count
    from messages r
    where r.app_id = s.app_id
    and r.parent_id = t.parent_id
    and (r.sent_at, r.id) > (s.unread_sent_at, s.unread_id)
    and r.countable
    and r.sender <> s.uid
  ) unread on s.uid is not null
  where t.app_id = $1
  and t.parent_id = any($2::bigint[])`)

const selectSubscriptions = statement(`
  select parent_id as "parentId"
  from thread_subscriptions
  where app_id = $1
  and uid = $3
  and parent_id = any($2::bigint[])`)

/**
 * Adds to the parent of a thread how many replies it has, and how many of them (of others, after his unread pointer) are
 * unread for the viewer; where it is asked for, whether he follows the thread.
 */
export const threadsOfMessages: AddingFeature = { bits: traits.replies | traits.followed, read: readThreadsOf }

async function readThreadsOf(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  { viewer, withThreadSubscribed = false }: ShowOptions,
): Promise<Map<number, Addition>> {
  const ids = rows.map((row) => row.id)
  const values = [appId, ids, viewer ?? null]
  const asksSubscriptions = withThreadSubscribed && viewer !== undefined
  const [counted, subscriptions] = await Promise.all([
    on.query<{ parentId: number; replyCount: number; unreadCount: number | null }>(selectCounts, values),
    asksSubscriptions ? on.query<{ parentId: number }>(selectSubscriptions, values) : [],
  ])
  const counts = new Map(counted.map((thread) => [thread.parentId, thread]))
  const subscribed = new Set(subscriptions.map(({ parentId }) => parentId))
  return new Map(
    ids.map((id) => {
      const thread = counts.get(id)
      const fields = {
        ...(thread && { replyCount: thread.replyCount }),
        ...(thread && thread.unreadCount !== null && { unreadRepliesCount: thread.unreadCount }),
        ...(asksSubscriptions && { threadSubscribed: subscribed.has(id) }),
      }
      return [id, { fields }]
    }),
  )
}
