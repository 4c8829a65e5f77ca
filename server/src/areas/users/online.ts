import { getGroup, governanceOf } from '@parley/contract'
import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { readMemberships } from '../../chat/groups/memberships.ts'
import { allowedScopes, scopeAllows } from '../../chat/groups/permissions.ts'
import { type GroupRow, readGroups } from '../../chat/groups/rows.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { deniesWhole, roleList } from '../../chat/roles/rules.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'
import { listLimits } from './role-limits.ts'

/** Who has a socket, in whichever process, each once. */
const online = (appId: number) => sql`
      select distinct p.app_id, p.uid
      from presence p
      where p.app_id = ${appKey(appId)}`

/** A user who is in no block with the viewer. */
function isNotApart(appId: number, viewer: string, uid: Fragment): Fragment {
  return sql`${uid} <> all(array(
      select b.blocked from blocks b where b.app_id = ${appKey(appId)} and b.blocker = ${viewer}
      union all
      select b.blocker from blocks b where b.app_id = ${appKey(appId)} and b.blocked = ${viewer}
    ))`
}

/** How many users are online, of those that a viewer may list; all where the app asks. */
export async function countOnline(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  policy: RolePolicy | undefined,
): Promise<number> {
  const conditions = [sql`u.deactivated_at is null`, sql`u.uid <> ${systemUid}`]
  if (viewer !== undefined) {
    conditions.push(isNotApart(appId, viewer, sql`u.uid`), ...listLimits(policy, appId, viewer))
  }
  const [row] = await on.run(sql<{ total: number }>`
    select count(*) as total
    from (${online(appId)}) p
    join users u on u.app_id = p.app_id and u.uid = p.uid
    where ${allOf(conditions)}`)
  return row?.total ?? 0
}

/** How many members of groups are online, by guid. Groups whose details or members a viewer does not see are missing. */
export async function countOnlineMembers(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  policy: RolePolicy | undefined,
  asked: readonly string[],
): Promise<Record<string, number>> {
  if (policy !== undefined && deniesWhole(policy, governanceOf(getGroup.id))) return {}
  const groups = await readVisible(on, appId, viewer, policy, [...new Set(asked.map((guid) => guid.toLowerCase()))])
  if (groups.size === 0) return {}
  const counts = await on.run(sql<{ guid: string; scope: string; count: number }>`
    select m.guid, m.scope, count(*) as count
    from (${online(appId)}) p
    join group_members m on m.app_id = p.app_id and m.uid = p.uid
    where m.guid = any(${[...groups.keys()]}::text[])
    and ${viewer === undefined ? sql`true` : isNotApart(appId, viewer, sql`m.uid`)}
    group by m.guid, m.scope`)
  return Object.fromEntries(
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
