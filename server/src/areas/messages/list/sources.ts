import { sql } from 'kysely'
import { allOf, type Fragment } from '../../../store/statement.ts'

/**
 * Where the messages of a list come from. `viewer`: his side of the conversations counts (what he cleared, whether he is
 * still a member); with `conversations` only these. `thread`: the replies to one message, with a viewer those that he
 * has not cleared.
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
    }

/** How a page of rows is cut out: the order in which it is read, and how many rows. */
export interface Cut {
  readonly order: Fragment
  readonly limit: number
}

/**
 * Whole rows of `messages`, that meet the conditions on `m` (and on the viewer's side `s`, which only that source has).
 * Where several conversations are read, each gives at most one page, by its index, before they are merged.
 */
export function messagesOf(source: Source, conditions: readonly Fragment[], cut: Cut | undefined): Fragment {
  const tail = cut === undefined ? sql`` : sql`order by ${cut.order} limit ${cut.limit}`
  switch (source.of) {
    case 'app':
      return sql`
        select m.*
        from messages m
        where m.app_id = ${source.appId}
        and ${allOf(conditions)}
        ${tail}`
    case 'conversations':
      return sql`
        select m.*
        from unnest(${source.conversations}::bigint[]) as c(key)
        cross join lateral (
          select m.*
          from messages m
          where m.app_id = ${source.appId}
          and m.conversation = c.key
          and ${allOf(conditions)}
          ${tail}
        ) m
        ${tail}`
    case 'user':
      return sql`
        select m.*
        from (
          select m.*
          from (
            select c.key
            from conversations c
            where c.app_id = ${source.appId} and c.kind = 1 and c.first = ${source.uid}
            union
            select c.key
            from conversations c
            where c.app_id = ${source.appId} and c.kind = 1 and c.second = ${source.uid}
          ) c
          cross join lateral (
            select m.*
            from messages m
            where m.app_id = ${source.appId}
            and m.conversation = c.key
            and ${allOf(conditions)}
            ${tail}
          ) m
          union all
          (
            select m.*
            from messages m
            where m.app_id = ${source.appId}
            and m.kind = 2
            and m.sender = ${source.uid}
            and ${allOf(conditions)}
            ${tail}
          )
        ) m
        ${tail}`
    case 'thread':
      return source.viewer === undefined
        ? sql`
        select m.*
        from messages m
        where m.app_id = ${source.appId}
        and m.parent_id = ${source.parentId}
        and ${allOf(conditions)}
        ${tail}`
        : sql`
        select m.*
        from conversation_states s
        cross join lateral (
          select m.*
          from messages m
          where m.app_id = s.app_id
          and m.parent_id = ${source.parentId}
          and (m.sent_at, m.id) > (s.cleared_sent_at, s.cleared_id)
          and ${allOf(conditions)}
          ${tail}
        ) m
        where s.app_id = ${source.appId}
        and s.uid = ${source.viewer}
        and s.conversation = ${source.conversation}
        ${tail}`
    case 'viewer':
      return sql`
        select m.*
        from ${sidesOf(source)}
        cross join lateral (
          select m.*
          from messages m
          where m.app_id = s.app_id
          and m.conversation = s.conversation
          and (m.sent_at, m.id) > (s.cleared_sent_at, s.cleared_id)
          and ${allOf(conditions)}
          ${tail}
        ) m
        where ${isVisible(source)}
        ${tail}`
  }
}

/** How many messages each conversation of a source has that meet the conditions: rows `kind, first, second, count`. */
export function countsOf(source: Source, conditions: readonly Fragment[]): Fragment {
  if (source.of === 'viewer') {
    return sql`
      select c.kind, c.first, c.second, n.count
      from ${sidesOf(source)}
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      cross join lateral (
        select count(*) as count
        from messages m
        where m.app_id = s.app_id
        and m.conversation = s.conversation
        and (m.sent_at, m.id) > (s.cleared_sent_at, s.cleared_id)
        and ${allOf(conditions)}
      ) n
      where ${isVisible(source)}
      and n.count > 0
      order by c.kind, c.first, c.second`
  }
  return sql`
    select c.kind, c.first, c.second, n.count
    from (
      select m.conversation, count(*) as count
      from (${messagesOf(source, conditions, undefined)}) m
      group by m.conversation
    ) n
    join conversations c on c.app_id = ${source.appId} and c.key = n.conversation
    order by c.kind, c.first, c.second`
}

export type ViewerSource = Extract<Source, { of: 'viewer' }>

/** The viewer's sides `s`, each with its kind: of groups only while he is a member. */
export function sidesOf({ appId, viewer }: ViewerSource): Fragment {
  return sql`(
    select s.*, v.kind
    from conversation_states s
    join conversations v on v.app_id = s.app_id and v.key = s.conversation
    where s.app_id = ${appId}
    and s.uid = ${viewer}
    and v.last_id is not null
  ) s`
}

/** Whether a side is one whose messages he may read. */
export function isVisible({ conversations }: ViewerSource): Fragment {
  const visible = sql`(s.kind = 1 or s.member)`
  return conversations === undefined ? visible : sql`${visible} and s.conversation = any(${conversations}::bigint[])`
}
