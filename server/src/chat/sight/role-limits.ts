import { sql } from 'kysely'
import type { Queryable } from '../../store/database.ts'
import type { Fragment } from '../../store/statement.ts'
import { systemUid } from '../apps.ts'
import type { StoredMessage } from '../messages/rows.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { isFriendsMode, roleDenied, roleList } from '../roles/rules.ts'
import { areFriends } from '../users/friends.ts'
import { contentLimits } from './group-limits.ts'

/**
 * What the role of a user lets him see of histories (`listMessages.*`), as conditions on `m`. What he wrote himself is
 * his to see, whoever else he may read, and what the app itself says is for everybody.
 */
export function roleLimits(policy: RolePolicy | undefined, viewer: string): Fragment[] {
  if (policy === undefined) return []
  const conditions = contentLimits(policy.permissions)
  const receiverTypes = roleList(policy, 'listMessages.allowedReceiverTypes')
  if (receiverTypes !== null) {
    const kinds = receiverTypes.map((type) => (type === 'user' ? 1 : 2))
    conditions.push(sql`m.kind = any(${kinds}::smallint[])`)
  }
  const senderRoles = roleList(policy, 'listMessages.allowedSenderRoles')
  if (senderRoles !== null) {
    conditions.push(
      orOwn(
        viewer,
        sql`exists (
          select from users u
          where u.app_id = m.app_id and u.uid = m.sender and u.role = any(${senderRoles}::text[])
        )`,
      ),
    )
  }
  if (isFriendsMode(policy, 'listMessages.mode')) {
    conditions.push(
      orOwn(
        viewer,
        sql`exists (
          select from friends f
          where f.app_id = m.app_id and f.uid = ${viewer} and f.friend = m.sender
        )`,
      ),
    )
  }
  return conditions
}

function orOwn(viewer: string, condition: Fragment): Fragment {
  return sql`(m.sender in (${viewer}, ${systemUid}) or ${condition})`
}

/** Whether a user's role lets him open a single message. @throws 403 `ERR_PERMISSION_DENIED` */
export async function requireOpenMessage(
  on: Queryable,
  appId: number,
  policy: RolePolicy | undefined,
  viewer: string | undefined,
  { sender }: StoredMessage,
): Promise<void> {
  if (policy === undefined || viewer === undefined || !isFriendsMode(policy, 'getMessageDetails.mode')) return
  if (sender === viewer || sender === systemUid) return
  if (!(await areFriends(on, appId, viewer, sender))) throw roleDenied(policy, 'getMessageDetails.mode')
}
