import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, statement } from '../../store/statement.ts'
import { notClearedSql, notHeldSql } from '../sight/participation.ts'
import { hidesByRole, readConditions, type Viewer } from '../sight/sight.ts'
import type { AddingFeature, Addition } from './additions.ts'
import type { MessageRow } from './rows.ts'
import type { ShowOptions } from './show.ts'
import { traits } from './traits.ts'

/** `starter` of a thread whose starter was deleted for good: what others wrote there stays. No uid is empty. */
export const noStarter = ''

/** How many replies of a thread `t` the viewer has not read, by their state `s` in its conversation. */
const unreadReplies = (appId: string, viewer: string) => `
    select count(*) as count
    from messages r
    where r.app_id = ${appId}
    and r.parent_id = t.parent_id
    and (r.sent_at, r.id) > (s.unread_sent_at, s.unread_id)
    and r.countable
    and r.sender <> ${viewer}`

/** The offset keeps it a look by key for each; among many apps the planner would rather read all of the user's states. */
const selectCounts = statement(`
  select t.parent_id as "parentId", t.reply_count as "replyCount", unread.count as "unreadCount",
    restricted.guid as "restrictedGuid"
  from threads t
  left join lateral (
    select s.app_id, s.uid, s.unread_sent_at, s.unread_id
    from conversation_states s
    where s.app_id = t.app_id
    and s.uid = $3
    and s.conversation = t.conversation
    offset 0
  ) s on true
  left join lateral (${unreadReplies('s.app_id', 's.uid')}
  ) unread on s.uid is not null
  left join lateral (
    select g.guid
    from conversations c
    join groups g on g.app_id = c.app_id and g.guid = c.first and g.permissions_version > 0
    where c.app_id = t.app_id
    and c.key = t.conversation
    and c.kind = 2
    offset 0
  ) restricted on true
  where t.app_id = $1
  and t.parent_id = any($2::bigint[])`)

export interface ThreadCounts {
  readonly parentId: number
  readonly replyCount: number
  readonly unreadCount: number | null
}

/**
 * The counts of the threads of some messages in one text, null where there are none: for statements that read a page of who takes
 * part, with their state `s`. `unpackThreadCounts` reads it.
 * @param ids `bigint[]`, may be null
 */
export function packThreadCounts(appId: string, ids: string, viewer: string): string {
  return `(
      select string_agg(concat_ws(' ', t.parent_id, t.reply_count, (${unreadReplies(appId, viewer)}
      )), ',')
      from threads t
      where t.app_id = ${appId}
      and t.parent_id = any(${ids})
    )`
}

export function unpackThreadCounts(packed: string | null): ThreadCounts[] {
  if (packed === null) return []
  return packed.split(',').map((line) => {
    const [parentId, replyCount, unreadCount] = line.split(' ').map(Number) as [number, number, number]
    return { parentId, replyCount, unreadCount }
  })
}

/** Counts what the viewer sees, where anything may be hidden: what is kept with a thread counts every reply. */
async function countVisible(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  counted: ReadonlyArray<ThreadCounts & { readonly restrictedGuid: string | null }>,
): Promise<readonly ThreadCounts[]> {
  const guids = [...new Set(counted.flatMap(({ restrictedGuid }) => restrictedGuid ?? []))]
  if (guids.length === 0 && !hidesByRole(viewer)) return counted
  const conditions = await readConditions(on, appId, viewer, guids)
  if (conditions.length === 0) return counted
  return on.run(sql<ThreadCounts>`
    select t.parent_id as "parentId", n.replies as "replyCount", n.unread as "unreadCount"
    from unnest(${counted.map(({ parentId }) => parentId)}::bigint[]) as t(parent_id)
    cross join lateral (
      select count(*) as replies,
        count(*) filter (
          where m.countable and m.sender <> ${viewer.uid} and (m.sent_at, m.id) > (s.unread_sent_at, s.unread_id)
        ) as unread
      from messages m
      join conversation_states s
        on s.app_id = m.app_id and s.uid = ${viewer.uid} and s.conversation = m.conversation
      where m.app_id = ${appKey(appId)}
      and m.parent_id = t.parent_id
      and m.category <> 'action'
      and m.deleted_at is null
      and ${allOf([notClearedSql, notHeldSql, ...conditions])}
    ) n`)
}

const selectSubscriptions = statement(`
  select parent_id as "parentId"
  from thread_subscriptions
  where app_id = $1
  and uid = $3
  and parent_id = any($2::bigint[])`)

/**
 * Adds to the parent of a thread how many replies it has, and how many of them (by others, after the unread pointer) are
 * unread for the viewer; on request, whether they follow the thread.
 */
export const threadsOfMessages: AddingFeature = { bits: traits.replies | traits.followed, read: readThreadsOf }

async function readThreadsOf(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  { viewer, policy, withThreadSubscribed = false, along }: ShowOptions,
): Promise<Map<number, Addition>> {
  const ids = rows.map((row) => row.id)
  const values = [appId, ids, viewer ?? null]
  const asksSubscriptions = withThreadSubscribed && viewer !== undefined
  const readVisible = async () => {
    const counted = await on.query<ThreadCounts & { restrictedGuid: string | null }>(selectCounts, values)
    return viewer === undefined ? counted : countVisible(on, appId, { uid: viewer, policy }, counted)
  }
  const [visible, subscriptions] = await Promise.all([
    along?.threads ?? readVisible(),
    asksSubscriptions ? on.query<{ parentId: number }>(selectSubscriptions, values) : [],
  ])
  const counts = new Map(visible.map((thread) => [thread.parentId, thread]))
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
