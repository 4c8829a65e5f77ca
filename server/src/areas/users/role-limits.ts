import { sql } from 'kysely'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { isFriendsMode, requireListed, roleDenied } from '../../chat/roles/rules.ts'
import { areFriends } from '../../chat/users/friends.ts'
import { listedFor } from '../../chat/users/listed.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import type { Fragment } from '../../store/statement.ts'

/** The users that the role of a viewer can list (`listUsers.*` and the setting), as conditions on `u`. */
export function listLimits(policy: RolePolicy | undefined, appId: number, viewer: string): Fragment[] {
  const listed = listedFor(policy)
  if (listed === 'nobody') return [sql`false`]
  const { friendsOnly, roles } = listed
  return [
    ...(friendsOnly ? [isFriendOf(appId, viewer)] : []),
    ...(roles === null ? [] : [sql`u.role = any(${roles}::text[])`]),
  ]
}

export function isFriendOf(appId: number, viewer: string): Fragment {
  return sql`u.uid = any(array(
      select f.friend
      from friends f
      where f.app_id = ${appKey(appId)}
      and f.uid = ${viewer}
    ))`
}

/** Whether a viewer's role allows viewing a profile; their own is always allowed. @throws 403 `ERR_PERMISSION_DENIED` */
export async function requireVisibleProfile(
  on: Queryable,
  appId: number,
  policy: RolePolicy | undefined,
  viewer: UserRow | undefined,
  user: UserRow,
): Promise<void> {
  if (policy === undefined || viewer === undefined || user.uid === viewer.uid) return
  requireListed(policy, 'getUserDetails.allowedRoles', user.role)
  if (!isFriendsMode(policy, 'getUserDetails.mode')) return
  if (!(await areFriends(on, appId, viewer.uid, user.uid))) throw roleDenied(policy, 'getUserDetails.mode')
}
