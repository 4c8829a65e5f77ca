import { sql } from 'kysely'
import { isVisibleUnread } from '../../../chat/conversations/unread.ts'
import { notCleared } from '../../../chat/sight/participation.ts'
import { readConditions, type Viewer } from '../../../chat/sight/sight.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { followsThreadSql, isBlockedSql } from '../facts.ts'
import { type MessageFactsRow, messageFacts, quotedJoin } from '../happenings.ts'

/** A message of others that a window may be about, as far as that decides. */
export interface WindowMessage extends MessageFactsRow {
  readonly window: number
  readonly id: number
  readonly sentAt: number
  readonly followsThread: boolean
  readonly isBlocked: boolean
  readonly hasRead: boolean
}

/** The newest that are looked at, beside the one that opened the window. */
const mostLookedAt = 200

/** The message that opened the window was read since. */
const isOpenedFirst = '(d.opened_sent_at, d.opened_id) <= (s.unread_sent_at, s.unread_id)'

/** A message that is deleted, or that moderation holds, counts no more, and is left out. */
const select = statement(`
  select d.id as window, m.id, ${messageFacts},
    (m.sent_at, m.id) <= (coalesce(s.unread_sent_at, 0), coalesce(s.unread_id, 0)) as "hasRead",
    ${followsThreadSql('d.uid', 'm.parent_id')} as "followsThread",
    ${isBlockedSql('d.uid', 'm.kind', 'm.sender')} as "isBlocked"
  from notification_deliveries d
  left join conversation_states s on s.app_id = d.app_id and s.uid = d.uid and s.conversation = d.conversation
  cross join lateral (
    (
      select x.id
      from messages x
      where x.app_id = d.app_id
      and x.conversation = d.conversation
      and (x.sent_at, x.id) > (
        case when s.unread_id is null then 0 when ${isOpenedFirst} then d.opened_sent_at else s.unread_sent_at end,
        case when s.unread_id is null then 0 when ${isOpenedFirst} then d.opened_id - 1 else s.unread_id end
      )
      and (d.until_id is null or (x.sent_at, x.id) <= (d.until_sent_at, d.until_id))
      and x.countable
      and x.sender <> d.uid
      order by x.sent_at desc, x.id desc
      limit ${mostLookedAt}
    )
    union
    select d.opened_id
  ) l
  join messages m on m.app_id = d.app_id and m.id = l.id and m.countable
  ${quotedJoin('m')}
  where d.app_id = $1
  and d.day = 0
  and d.id = any($2::bigint[])
  and coalesce(${notCleared('(m.sent_at, m.id)')}, true)
  order by d.id, m.sent_at desc, m.id desc`)

/** What came since some windows were opened, and what was unread before: the newest of each window first. */
export async function readWindowMessages(
  on: Queryable,
  appId: number,
  windows: readonly number[],
): Promise<ReadonlyMap<number, readonly WindowMessage[]>> {
  const rows = await on.query<WindowMessage>(select, [appId, windows])
  const found = new Map<number, WindowMessage[]>()
  for (const row of rows) {
    const known = found.get(row.window)
    if (known === undefined) found.set(row.window, [row])
    else known.push(row)
  }
  return found
}

const count = statement(`
  select d.id as window, n.count
  from notification_deliveries d
  left join conversation_states s on s.app_id = d.app_id and s.uid = d.uid and s.conversation = d.conversation
  cross join lateral (
    select count(*) as count
    from messages m
    where m.app_id = d.app_id
    and m.conversation = d.conversation
    and (m.sent_at, m.id) > (coalesce(s.unread_sent_at, 0), coalesce(s.unread_id, 0))
    and (m.sent_at, m.id) <= (d.until_sent_at, d.until_id)
    and m.countable
    and m.sender <> d.uid
  ) n
  where d.app_id = $1
  and d.day = 0
  and d.id = any($2::bigint[])`)

/** How many messages are unread, up to the end of each window. */
export async function countUnread(
  on: Queryable,
  appId: number,
  windows: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await on.query<{ window: number; count: number }>(count, [appId, windows])
  return new Map(rows.map((row) => [row.window, row.count]))
}

/**
 * The same of one window, of those messages that its user sees.
 * @param guids its group, where permissions were ever set in that
 */
export async function countVisible(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  window: number,
  guids: readonly string[],
): Promise<number> {
  const conditions = await readConditions(on, appId, viewer, guids)
  const [row] = await on.run(sql<{ count: number }>`
    select count(*) as count
    from notification_deliveries d
    join conversation_states s on s.app_id = d.app_id and s.uid = d.uid and s.conversation = d.conversation
    join messages m on ${isVisibleUnread(viewer.uid, conditions)}
    where d.app_id = ${appKey(appId)}
    and d.day = 0
    and d.id = ${window}
    and (m.sent_at, m.id) <= (d.until_sent_at, d.until_id)`)
  return row?.count ?? 0
}
