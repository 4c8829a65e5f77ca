import { sql } from 'kysely'
import { kindSql } from '../../../chat/kind.ts'
import { isIndexedSql } from '../../../chat/messages/rows.ts'
import { notClearedSql, takesPartIn, takesPartSql } from '../../../chat/sight/participation.ts'
import { appKey } from '../../../store/app-key.ts'
import { allOf, type Fragment } from '../../../store/statement.ts'

/**
 * Where the messages of a list come from. `viewer`: their state in the conversations counts (what they cleared, whether they are
 * still a member); with `conversations` only these. `thread`: the replies to one message, with a viewer those that they
 * have not cleared.
 */
export type Source =
  | { readonly of: 'app'; readonly appId: number }
  | { readonly of: 'conversations'; readonly appId: number; readonly conversations: readonly number[] }
  | { readonly of: 'user'; readonly appId: number; readonly uid: string }
  | {
      readonly of: 'thread'
      readonly appId: number
      readonly parentId: number
      readonly conversation: number
      readonly viewer: string | undefined
    }
  | {
      readonly of: 'viewer'
      readonly appId: number
      readonly viewer: string
      readonly conversations: readonly number[] | undefined
      /** Conditions on their states that every requested message implies, so that the other conversations are not read. */
      readonly narrowed?: readonly Fragment[]
    }

/** How a page of rows is cut out: the order in which it is read, and how many rows. */
export interface Cut {
  readonly order: Fragment
  readonly limit: number
  /** What the cut implies for the viewer's states `s`, as `narrowed`. */
  readonly states?: readonly Fragment[]
  /**
   * In a list by change: how the messages that have not changed since they were sent are read, which is by the time of
   * sending. They lie in the history; only the others are in the index by change.
   */
  readonly unchanged?: { readonly order: Fragment; readonly conditions: readonly Fragment[] }
}

/**
 * Whole rows of `messages`, that meet the conditions on `m` (and on the viewer's state `s`, which only that source has).
 * Where several conversations are read, each gives at most one page, by its index, before they are merged.
 */
export function messagesOf(source: Source, conditions: readonly Fragment[], cut: Cut | undefined): Fragment {
  const tail = tailOf(cut)
  const ofApp = sql`m.app_id = ${appKey(source.appId)}`
  switch (source.of) {
    case 'app':
      return rowsWhere([ofApp, ...conditions], cut)
    case 'conversations':
      return sql`
        select m.*
        from unnest(${source.conversations}::bigint[]) as c(key)
        cross join lateral (${rowsWhere([ofApp, sql`m.conversation = c.key`, sql.raw(isIndexedSql), ...conditions], cut)}) m
        ${tail}`
    case 'user':
      return sql`
        select m.*
        from (
          select m.*
          from (
            select c.key
            from conversations c
            where c.app_id = ${appKey(source.appId)} and c.kind = 1 and c.first = ${source.uid}
            union
            select c.key
            from conversations c
            where c.app_id = ${appKey(source.appId)} and c.kind = 1 and c.second = ${source.uid}
          ) c
          cross join lateral (${rowsWhere([ofApp, sql`m.conversation = c.key`, sql.raw(isIndexedSql), ...conditions], cut)}) m
          union all
          (${rowsWhere([ofApp, sql`m.kind = 2`, sql`m.sender = ${source.uid}`, ...conditions], cut)})
        ) m
        ${tail}`
    case 'thread': {
      const replies = [ofApp, sql`m.parent_id = ${source.parentId}`, ...conditions]
      return source.viewer === undefined
        ? rowsWhere(replies, cut)
        : sql`
        select m.*
        from conversation_states s
        cross join lateral (${rowsWhere([...replies, notClearedSql], cut)}) m
        where s.app_id = ${appKey(source.appId)}
        and s.uid = ${source.viewer}
        and s.conversation = ${source.conversation}
        ${tail}`
    }
    case 'viewer': {
      // Of a single conversation, named as such, the planner knows how long it is.
      const [only, ...others] = source.conversations ?? []
      const place = only === undefined || others.length > 0 ? sql`s.conversation` : sql`${only}::bigint`
      return sql`
        select m.*
        from ${statesOf(source)}
        cross join lateral (${rowsWhere([ofApp, sql`m.conversation = ${place}`, sql.raw(isIndexedSql), notClearedSql, ...conditions], cut)}) m
        where ${allOf([isVisible(source), ...(cut?.states ?? [])])}
        ${tail}`
    }
  }
}

function tailOf(cut: Cut | undefined): Fragment {
  return cut === undefined ? sql`` : sql`order by ${cut.order} limit ${cut.limit}`
}

/** A message `m` has changed since it was sent: only such are in the indexes by time of change. */
export const hasChanged = sql`m.updated_at <> m.sent_at`

/** Of one place. A message never changes before it was sent; so said, the planner knows that most have not changed. */
function rowsWhere(conditions: readonly Fragment[], cut: Cut | undefined): Fragment {
  const { unchanged } = cut ?? {}
  if (cut === undefined || unchanged === undefined) {
    return sql`
          select m.*
          from messages m
          where ${allOf(conditions)}
          ${tailOf(cut)}`
  }
  return sql`
          select m.*
          from (
            (
              select m.*
              from messages m
              where ${allOf([...conditions, ...unchanged.conditions, sql`m.updated_at <= m.sent_at`])}
              order by ${unchanged.order}
              limit ${cut.limit}
            )
            union all
            (
              select m.*
              from messages m
              where ${allOf([...conditions, hasChanged])}
              ${tailOf(cut)}
            )
          ) m
          ${tailOf(cut)}`
}

/** The next messages of an app that meet conditions, whoever takes part: where they begin, and what an index finds. */
export function nextOfApp(appId: number, conditions: readonly Fragment[], cut: Cut): Fragment {
  return rowsWhere([sql`m.app_id = ${appKey(appId)}`, ...conditions], cut)
}

/**
 * As `messagesOf`, of all conversations of a viewer, but only those among some messages: who takes part in much sees
 * them in what the app says next, without looking into each of their conversations.
 */
export function messagesIn(
  next: Fragment,
  { viewer }: ViewerSource,
  conditions: readonly Fragment[],
  cut: Cut,
): Fragment {
  return sql`
    select m.*
    from (${next}) m
    cross join lateral (
      select s.*
      from conversation_states s
      where s.app_id = m.app_id
      and s.uid = ${viewer}
      and s.conversation = m.conversation
      offset 0
    ) s
    where ${allOf([sql.raw(takesPartIn('m')), notClearedSql, ...conditions])}
    ${tailOf(cut)}`
}

/** How many messages each conversation of a source has that meet the conditions: rows `kind, first, second, count`. */
export function countsOf(source: Source, conditions: readonly Fragment[]): Fragment {
  if (source.of !== 'viewer') return countsByConversation(source.appId, messagesOf(source, conditions, undefined))
  return namesOf(
    source.appId,
    sql`
      select s.conversation, n.count
      from ${statesOf(source)}
      cross join lateral (
        select count(*) as count
        from messages m
        where m.app_id = s.app_id
        and m.conversation = s.conversation
        and ${allOf([sql.raw(isIndexedSql), notClearedSql, ...conditions])}
      ) n
      where ${isVisible(source)}
      and n.count > 0`,
  )
}

/** How many of some messages each conversation has: rows `kind, first, second, count`. */
export function countsByConversation(appId: number, messages: Fragment): Fragment {
  return namesOf(
    appId,
    sql`
      select m.conversation, count(*) as count
      from (${messages}) m
      group by m.conversation`,
  )
}

/** The offset keeps it a look by key for each count, and not a count for each conversation. */
function namesOf(appId: number, counts: Fragment): Fragment {
  return sql`
    select ${sql.raw(kindSql('c.kind'))} as kind, c.first, c.second, n.count
    from (${counts}) n
    cross join lateral (
      select c.kind, c.first, c.second
      from conversations c
      where c.app_id = ${appKey(appId)}
      and c.key = n.conversation
      offset 0
    ) c
    order by c.kind, c.first, c.second`
}

export type ViewerSource = Extract<Source, { of: 'viewer' }>

/**
 * The viewer's states `s`, each with the kind of its conversation and the end of its history. The offset keeps it a look by
 * key for each; the planner would rather read all conversations of the app. One that is named may hold nothing but what
 * moderation keeps for the viewer, who finds it there.
 */
export function statesOf({ appId, viewer, conversations }: ViewerSource): Fragment {
  const hasBegun = conversations === undefined ? sql`and v.last_id is not null` : sql``
  return sql`(
    select s.*, v.kind, v.last_sent_at, v.last_id
    from conversation_states s
    cross join lateral (
      select v.kind, v.last_sent_at, v.last_id
      from conversations v
      where v.app_id = s.app_id
      and v.key = s.conversation
      offset 0
    ) v
    where s.app_id = ${appKey(appId)}
    and s.uid = ${viewer}
    ${hasBegun}
  ) s`
}

/** Whether the viewer may read a conversation, and whether it is requested: groups only while they are a member. */
export function isVisible({ conversations, narrowed = [] }: ViewerSource): Fragment {
  const ofThese = conversations === undefined ? [] : [sql`s.conversation = any(${conversations}::bigint[])`]
  return allOf([takesPartSql, ...ofThese, ...narrowed])
}
