import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** From those who are connected, who are few beside the members of large groups; each is looked up by key. */
const select = statement(`
  select count(*) as online
  from (select distinct p.app_id, p.uid from presence p where p.app_id = $1) p
  where exists (
    select from group_members m
    where m.app_id = p.app_id
    and m.guid = $2
    and m.uid = p.uid
    offset 0
  )
  and not exists (
    select from blocks b
    where b.app_id = p.app_id
    and b.blocker = p.uid
    and b.blocked = $3
  )`)

/**
 * How many members of a group are connected now.
 * @param viewer whoever has blocked them seems to be away; absent where the app asks
 */
export async function countOnlineMembers(on: Queryable, appId: number, guid: string, viewer?: string): Promise<number> {
  const [row] = await on.query<{ online: number }>(select, [appId, guid, viewer ?? null])
  return row?.online ?? 0
}

const selectMany = statement(`
  select g.guid, online.count
  from unnest($2::text[]) as g(guid)
  cross join lateral (
    select count(*) as count
    from (select distinct p.app_id, p.uid from presence p where p.app_id = $1) p
    where exists (
      select from group_members m
      where m.app_id = p.app_id
      and m.guid = g.guid
      and m.uid = p.uid
      offset 0
    )
  ) online`)

/** As `countOnlineMembers`, of several groups, by guid. */
export async function countOnlineMembersOf(
  on: Queryable,
  appId: number,
  guids: Iterable<string>,
): Promise<Map<string, number>> {
  const wanted = [...new Set(guids)]
  if (wanted.length === 0) return new Map()
  const rows = await on.query<{ guid: string; count: number }>(selectMany, [appId, wanted])
  return new Map(rows.map(({ guid, count }) => [guid, count]))
}
