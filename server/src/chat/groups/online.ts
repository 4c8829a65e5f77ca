import { getGroup, governanceOf, listGroupMembers } from '@parley/contract'
import { sql } from 'kysely'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { deniesWhole, roleList } from '../roles/rules.ts'
import { isNotApart, whoIsOnline } from '../users/presence.ts'
import { readMemberships } from './memberships.ts'
import { allowedScopes, scopeAllows } from './permissions.ts'
import { type GroupRow, readGroups } from './rows.ts'

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

/** How many members of groups are connected now, by guid, as the app is shown. */
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

/**
 * How many members of groups are online, by guid. Groups whose details or members a viewer does not see are missing. Those who
 * are connected are few beside the members of large groups, so each of them is looked up.
 */
export async function countOnlineMembers(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  policy: RolePolicy | undefined,
  asked: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const asking = [getGroup, listGroupMembers].map(({ id }) => governanceOf(id))
  if (policy !== undefined && asking.some((governance) => deniesWhole(policy, governance))) return new Map()
  const groups = await readVisible(on, appId, viewer, policy, [...new Set(asked.map((guid) => guid.toLowerCase()))])
  if (groups.size === 0) return new Map()
  const counts = await on.run(sql<{ guid: string; scope: string; count: number }>`
    select m.guid, m.scope, count(*) as count
    from (${whoIsOnline(appId)}) p
    cross join lateral (
      select m.guid, m.scope
      from group_members m
      where m.app_id = p.app_id
      and m.uid = p.uid
      and m.guid = any(${[...groups.keys()]}::text[])
      offset 0
    ) m
    where ${viewer === undefined ? sql`true` : isNotApart(appId, viewer, sql`p.uid`)}
    group by m.guid, m.scope`)
  return new Map(
    [...groups].map(([guid, scopes]) => [
      guid,
      counts
        .filter((row) => row.guid === guid && (scopes === null || scopes.includes(row.scope)))
        .reduce((sum, { count }) => sum + count, 0),
    ]),
  )
}

/** The groups of which a viewer may know how many are online, with the scopes of those who count; null for all. */
async function readVisible(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  policy: RolePolicy | undefined,
  guids: readonly string[],
): Promise<Map<string, readonly string[] | null>> {
  const types = roleList(policy, 'getGroupDetails.allowedGroupTypes')
  const found = [...(await readGroups(on, appId, guids)).values()]
  const groups = types === null ? found : found.filter(({ type }) => types.includes(type))
  if (viewer === undefined) return new Map(groups.map(({ guid }) => [guid, null]))
  const pairs = groups.map(({ guid }) => ({ guid, uid: viewer }))
  const memberships = await readMemberships(on, appId, pairs)
  return new Map(
    groups.flatMap((group: GroupRow): Array<[string, readonly string[] | null]> => {
      const member = memberships.get(`${group.guid} ${viewer}`)
      // How many are online is shown with every group that is not private.
      if (member === undefined) return group.type === 'private' ? [] : [[group.guid, null]]
      return scopeAllows(group, member, 'listMembers')
        ? [[group.guid, allowedScopes(group, member, 'listMembers')]]
        : []
    }),
  )
}
