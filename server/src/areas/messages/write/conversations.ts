import { latestByKey, latestByParts } from '../../../chat/conversations/latest.ts'
import { storedKind } from '../../../chat/kind.ts'
import { partsOf } from '../../../chat/naming.ts'
import { plainArray, textArray } from '../../../store/arrays.ts'
import type { Query } from '../../../store/channel.ts'
import { type Statement, statement } from '../../../store/statement.ts'

/**
 * Makes the one-to-one conversations that a batch needs and that are not there, with both users' states. Rows of one
 * order (by parts), before any lock is taken on what exists, so that batches cannot deadlock over them.
 */
export const createConversations = statement(`
  with wanted as materialized (
    select distinct r.app_id, r.first, r.second
    from unnest($1::int[], $2::text[], $3::text[]) as r(app_id, first, second)
  ),
  present as materialized (
    select u.app_id, u.uid
    from (
      select app_id, first as uid from wanted
      union
      select app_id, second from wanted
      order by app_id, uid
    ) w
    cross join lateral (
      select app_id, uid, deactivated_at
      from users
      where app_id = w.app_id and uid = w.uid
      for key share
    ) u
    where ($5::boolean or u.deactivated_at is null)
  ),
  created as (
    insert into conversations (app_id, kind, first, second, created_at)
    select app_id, 1, first, second, $4
    from wanted w
    where ((app_id, first) in (select app_id, uid from present)) is true
    and ((app_id, second) in (select app_id, uid from present)) is true
    order by app_id, first collate "C", second collate "C"
    on conflict (app_id, kind, first, second) do nothing
    returning app_id, key, first, second
  )
  insert into conversation_states (app_id, uid, conversation)
  select app_id, first, key from created
  union
  select app_id, second, key from created`)

/**
 * Locks a batch's conversations in the order of their keys. A statement of its own: one that waits for a lock goes on
 * with the snapshot from before the wait, and would check stale membership. Of the rows that it locks it gives the
 * latest state.
 * @param columns of `c`
 */
export function lockConversations(columns: string): Statement {
  return statement(`
  select ${columns}
  from (
    select n.app_id, n.key
    from (
      select distinct r.app_id, r.kind, r.first, r.second
      from unnest($1::int[], $2::smallint[], $3::text[], $4::text[]) as r(app_id, kind, first, second)
    ) r
    cross join lateral ${latestByParts('v.app_id, v.key', 'r')} n
    order by n.app_id, n.key
  ) o
  cross join lateral ${latestByKey('v.*', 'o', 'for no key update')} c`)
}

/** As `lockConversations`, where nothing is wanted of them but the locks. */
export const lockKeys = statement(`
  select count(*)
  from (${lockConversations('c.key').text}) l`)

/** The columns of what names the conversations of messages: apps, kinds, and both parts. */
export function namingOf(rows: ReadonlyArray<{ readonly appId: number } & Parameters<typeof partsOf>[0]>) {
  const parts = rows.map(partsOf)
  return {
    appIds: plainArray(rows.map(({ appId }) => appId)),
    kinds: plainArray(rows.map(({ kind }) => storedKind(kind))),
    firsts: textArray(parts.map(([first]) => first)),
    seconds: textArray(parts.map(([, second]) => second)),
  }
}

/**
 * Which rows of a batch would wait for somebody: who has locked their conversation, or a user between whom and the other one it
 * would be made. Waits for nobody itself. Gives their places, from 1.
 */
const findHeldKeys = statement(`
  select w.n::int as place
  from unnest($1::int[], $2::smallint[], $3::text[], $4::text[]) with ordinality as w(app_id, kind, first, second, n)
  where exists (
    select
    from conversations c
    where c.app_id = w.app_id and c.kind = w.kind and c.first = w.first and c.second = w.second
    and not exists (
      select
      from (select v.key from conversations v where v.app_id = c.app_id and v.key = c.key for no key update skip locked) free
    )
  )
  or w.kind = 1 and exists (
    select
    from users u
    where u.app_id = w.app_id and u.uid in (w.first, w.second)
    and not exists (
      select
      from (select v.uid from users v where v.app_id = u.app_id and v.uid = u.uid for key share skip locked) free
    )
  )`)

/** Asks which rows of a batch would wait for somebody. */
export function heldQuery(rows: Parameters<typeof namingOf>[0]): Query {
  const { appIds, kinds, firsts, seconds } = namingOf(rows)
  return { ...findHeldKeys, values: [appIds, kinds, firsts, seconds] }
}
