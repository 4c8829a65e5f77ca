import { sql } from 'kysely'
import type { Fragment } from '../../store/statement.ts'

/*
 * The states `s` of a user with their conversations `c`, as what follows `from` in a query. Both ways give the same; which is
 * the shorter depends on how many there are.
 */

/** Whose states they are, as SQL. */
export interface Whose {
  readonly app: Fragment
  readonly viewer: Fragment
}

/** Each conversation is looked up by its key: for users with few conversations. */
export const eachByKey = sql`
      conversation_states s
      cross join lateral (
        select *
        from conversations c
        where c.app_id = s.app_id and c.key = s.conversation
        offset 0
      ) c`

/**
 * All conversations are read in the order of their keys, in one go: for users with thousands of them. The planner takes all users
 * for alike, and would join them row by row; a full join, closed by the offset, is never carried out so.
 */
export function allByKey({ app, viewer }: Whose): Fragment {
  return sql`
      (
        select s.*, c.key, c.kind, c.first, c.second, c.created_at, c.last_sent_at, c.last_id, c.listed_sent_at, c.listed_id,
          c.version
        from (
          select s.*
          from conversation_states s
          where s.app_id = ${app}
          and s.uid = ${viewer}
        ) s
        full join (
          select c.*
          from conversations c
          where c.app_id = ${app}
          and c.key = any(array(
            select o.conversation
            from conversation_states o
            where o.app_id = ${app}
            and o.uid = ${viewer}
          ))
        ) c on c.key = s.conversation
        offset 0
      ) b
      cross join lateral (select b.*) s
      cross join lateral (select b.*) c`
}
