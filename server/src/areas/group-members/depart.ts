import { lockGroup, requireMembership } from '../../chat/groups/access.ts'
import { requireScopePermission } from '../../chat/groups/permissions.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { lockGroupFor, requireActor } from './actor.ts'
import { removeMembers, writeAction } from './changes.ts'
import { notAMember, ownerCannotLeave } from './errors.ts'
import { refuseAdmin, refuseRemoval } from './rules.ts'
import { holdUsers, requireTarget } from './targets.ts'

/**
 * A member leaves.
 * @param device with which they do
 * @throws 403 `ERR_GROUP_NO_SELF_ACTION` for the owner
 */
export async function leave(
  context: Context,
  appId: number,
  guid: string,
  uid: string,
  device: string | undefined,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    await holdUsers(tx, appId, [uid])
    const group = await lockGroup(tx, appId, guid)
    const { user } = await requireTarget(tx, appId, group.guid, uid)
    const membership = await requireMembership(tx, appId, group, uid)
    requireScopePermission(group, membership, 'leaveGroup')
    if (uid === group.owner) throw ownerCannotLeave(group.guid, uid)
    const now = Math.floor(Date.now() / 1000)
    const after = await removeMembers(context.events, tx, appId, group, [user], now)
    const event = { action: 'left', by: user, on: user, isRemoval: true, device } as const
    await writeAction(context.events, tx, appId, after, event, now)
  })
}

/**
 * Removes a member.
 * @param sparesAdmins a rule does it, not a person: admins stay
 * @throws 400 `ERR_NOT_A_MEMBER`, and what `refuseRemoval` says
 */
export async function kickMember(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
  uid: string,
  sparesAdmins = false,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    await holdUsers(tx, appId, [uid])
    const group = await lockGroupFor(tx, appId, guid, user)
    const target = await requireTarget(tx, appId, group.guid, uid)
    const actor = await requireActor(tx, appId, group, user)
    const refusal =
      refuseRemoval(group, actor, target, 'kickMembers') ?? (sparesAdmins ? refuseAdmin(group, target) : undefined)
    if (refusal !== undefined) throw refusal
    if (target.membership === undefined) throw notAMember(group.guid, uid)

    const now = Math.floor(Date.now() / 1000)
    const after = await removeMembers(context.events, tx, appId, group, [target.user], now)
    const event = { action: 'kicked', by: actor.user, on: target.user, isRemoval: true } as const
    await writeAction(context.events, tx, appId, after, event, now)
  })
}
