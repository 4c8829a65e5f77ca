import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { isNotApart, whoIsOnline } from '../../chat/users/presence.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf } from '../../store/statement.ts'
import { listLimits } from './role-limits.ts'

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
    from (${whoIsOnline(appId)}) p
    join users u on u.app_id = p.app_id and u.uid = p.uid
    where ${allOf(conditions)}`)
  return row?.total ?? 0
}
