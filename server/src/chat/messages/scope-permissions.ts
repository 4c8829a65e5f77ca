import type { ScopePermissionKey } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { type Membership, readMembership } from '../groups/access.ts'
import { requireScopePermission } from '../groups/permissions.ts'
import { type GroupRow, readGroup } from '../groups/rows.ts'
import type { App } from '../identity.ts'
import { unknownMessage } from './read.ts'
import type { StoredMessage } from './rows.ts'

/**
 * Whether their scope lets a user do something with a message that they can read, and with what belongs to it: edit or delete it,
 * react, use its thread. In one-to-one conversations no scope restricts anybody.
 * @returns the group and their membership, if the message is in a group
 * @throws 403 `ERR_PERMISSION_DENIED`; 404 if they have left the group meanwhile
 */
export async function requireMessageScopePermission(
  on: Queryable,
  app: App,
  uid: string,
  message: StoredMessage,
  key: ScopePermissionKey,
): Promise<{ group: GroupRow; membership: Membership } | undefined> {
  if (message.kind === 'user') return undefined
  const [group, membership] = await Promise.all([
    readGroup(on, app.appId, message.receiver),
    readMembership(on, app.appId, message.receiver, uid),
  ])
  if (group === undefined || membership === undefined) throw unknownMessage(message.id)
  requireScopePermission(group, membership, key)
  return { group, membership }
}
