import { sql } from 'kysely'
import { notClearedSql, notHeldIn } from '../../../chat/sight/participation.ts'
import { appKey } from '../../../store/app-key.ts'
import { allOf, type Fragment } from '../../../store/statement.ts'
import { type Cut, isVisible, statesOf, type ViewerSource } from '../list/sources.ts'

/** Where the threads of a list come from: the app, one conversation, or all conversations of a viewer. */
export type ThreadSource =
  | { readonly of: 'app'; readonly appId: number }
  | { readonly of: 'conversation'; readonly appId: number; readonly conversation: number }
  | ViewerSource

/** A row of `threads`. */
export interface ThreadRow {
  readonly parentId: number
  readonly replyCount: number
  readonly lastReplyId: number
  readonly updatedAt: number
}

/** What is asked of threads: conditions on the thread `t` itself, and on its parent, the message `m`. */
export interface ThreadConditions {
  readonly ofThread: readonly Fragment[]
  readonly ofParent: readonly Fragment[]
}

/**
 * Threads that meet the conditions. Each conversation of a viewer gives at most one page, by its index, before they are
 * merged; threads that they have cleared are hidden, like messages.
 */
export function threadsOf(source: ThreadSource, conditions: ThreadConditions, cut: Cut): Fragment<ThreadRow> {
  const tail = sql`order by ${cut.order} limit ${cut.limit}`
  return sql<ThreadRow>`
    select ${threadColumns}
    from (${rowsOf(source, conditions, tail)}) t
    ${tail}`
}

/** The next threads of an app, whoever takes part in them. */
export function nextThreadsOfApp(appId: number, ofThread: readonly Fragment[], cut: Cut): Fragment {
  return sql`
    select t.*
    from threads t
    where ${allOf([sql`t.app_id = ${appKey(appId)}`, ...ofThread])}
    order by ${cut.order}
    limit ${cut.limit}`
}

/** As `threadsOf`, of all conversations of a viewer, but only those among some threads, see `messagesIn`. */
export function threadsIn(
  next: Fragment,
  source: ViewerSource,
  conditions: ThreadConditions,
  cut: Cut,
): Fragment<ThreadRow> {
  return sql<ThreadRow>`
    select ${threadColumns}
    from (${next}) t
    cross join lateral (
      select *
      from ${statesOf(source)}
      where s.conversation = t.conversation
      offset 0
    ) s
    where ${allOf([isVisible(source), ...conditionsOf(conditions)])}
    order by ${cut.order}
    limit ${cut.limit}`
}

const threadColumns = sql`t.parent_id as "parentId", t.reply_count as "replyCount", t.last_reply_id as "lastReplyId",
      t.updated_at as "updatedAt"`

/** What a viewer sees: their state `s` exists. */
export function conditionsOf({ ofThread, ofParent }: ThreadConditions): Fragment[] {
  const notCleared = sql`(s.cleared_id = 0 or ${parentIs([notClearedSql])})`
  const isThere = sql`(not t.held or t.starter = s.uid)`
  return [...ofThread, isThere, notCleared, ...(ofParent.length === 0 ? [] : [parentIs(ofParent)])]
}

function rowsOf(source: ThreadSource, conditions: ThreadConditions, tail: Fragment): Fragment {
  if (source.of === 'viewer') {
    return sql`
      select t.*
      from ${statesOf(source)}
      cross join lateral (
        select t.*
        from threads t
        where t.app_id = s.app_id
        and t.conversation = s.conversation
        and ${allOf(conditionsOf(conditions))}
        ${tail}
      ) t
      where ${isVisible(source)}`
  }
  const place = source.of === 'app' ? [] : [sql`t.conversation = ${source.conversation}`]
  return sql`
    select t.*
    from threads t
    where ${allOf([sql`t.app_id = ${appKey(source.appId)}`, sql`not t.held`, ...place, ...conditions.ofThread])}
    ${tail}`
}

/** The offset keeps it a look by key for each thread; the planner would join, and read whole tables for it. */
function parentIs(conditions: readonly Fragment[]): Fragment {
  return sql`exists (
    select from messages m
    where m.app_id = t.app_id
    and m.id = t.parent_id
    and ${allOf(conditions)}
    offset 0
  )`
}

/** The user has started the thread `t` or written a reply that is neither deleted nor held. The offset: see `parentIs`. */
export function participates(uid: string): Fragment {
  return sql`(t.starter = ${uid} or exists (
    select from messages r
    where r.app_id = t.app_id
    and r.sender = ${uid}
    and r.parent_id = t.parent_id
    and r.category <> 'action'
    and r.deleted_at is null
    and ${sql.raw(notHeldIn('r'))}
    offset 0
  ))`
}
