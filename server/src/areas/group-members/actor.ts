import { systemUid } from '../../chat/apps.ts'
import { lockGroup, type Membership, requireMembership } from '../../chat/groups/access.ts'
import type { GroupRow } from '../../chat/groups/rows.ts'
import { requireUser } from '../../chat/users/require.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Queryable, Transaction } from '../../store/database.ts'

/** Who acts in a group: the app itself, whom no rule of scopes binds, or one of the members. */
export type GroupActor =
  | { readonly kind: 'app'; readonly user: UserRow }
  | { readonly kind: 'member'; readonly user: UserRow; readonly membership: Membership }

/**
 * @param user the acting user; absent when the app acts, in the name of the system user
 * @throws as `requireMembership` for a user who is not a member
 */
export async function requireActor(
  on: Queryable,
  appId: number,
  group: Pick<GroupRow, 'guid' | 'type'>,
  user: UserRow | undefined,
): Promise<GroupActor> {
  if (user === undefined) return { kind: 'app', user: await requireUser(on, appId, systemUid) }
  return { kind: 'member', user, membership: await requireMembership(on, appId, group, user.uid) }
}

/**
 * As `lockGroup`, and checks the membership before anything else is looked up: to those who are not members, a private group does
 * not exist.
 * @param user the acting user; absent when the app acts
 * @throws 404 `ERR_GUID_NOT_FOUND`
 */
export async function lockGroupFor(
  tx: Transaction,
  appId: number,
  guid: string,
  user: UserRow | undefined,
): Promise<GroupRow> {
  const group = await lockGroup(tx, appId, guid)
  if (user !== undefined && group.type === 'private') await requireMembership(tx, appId, group, user.uid)
  return group
}
