import { hasReached, type Message } from '@parley/contract'
import { joinConversation } from '../../chat/conversations/membership.ts'
import { bannedFrom, lockGroup, unknownGroup } from '../../chat/groups/access.ts'
import { wrongGroupPassword } from '../../chat/groups/password.ts'
import type { GroupRow } from '../../chat/groups/rows.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { requireListed } from '../../chat/roles/rules.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { countMembers, storeMembers, writeAction } from './changes.ts'
import { alreadyJoined, noVacancy } from './errors.ts'
import { isStillProven, type ProvenPassword, provePassword } from './password.ts'
import { type GroupLimits, refuseMembership, type Target } from './rules.ts'
import { holdUsers, requireActiveTarget } from './targets.ts'

/**
 * A user joins as a participant; for others, a private group does not exist.
 * @param policy of the user's role, which may limit the types of groups they can join
 * @returns the action message that it leaves in the group
 */
export async function joinGroup(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow,
  policy: RolePolicy | undefined,
  password: string,
): Promise<Message> {
  for (let attempts = 1; ; attempts++) {
    const proven = await provePassword(context, appId, guid.toLowerCase(), user.uid, policy, password)
    const message = await join(context, appId, guid, user, policy, proven)
    if (message !== undefined) return message
    if (attempts === maxAttempts) throw wrongGroupPassword(guid)
  }
}

/** What is kept of a password changes rarely, even more so while somebody joins. */
const maxAttempts = 3

/** @returns undefined when the password must be proven anew, since it changed meanwhile */
function join(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow,
  policy: RolePolicy | undefined,
  proven: ProvenPassword | undefined,
): Promise<Message | undefined> {
  return context.database.transaction(async (tx) => {
    await holdUsers(tx, appId, [user.uid])
    const group = await lockGroup(tx, appId, guid)
    const target = await requireActiveTarget(tx, appId, group.guid, user.uid)
    if (group.type === 'private' && target.membership === undefined) throw unknownGroup(guid)
    requireListed(policy, 'joinGroup.allowedGroupTypes', group.type)
    requireOpen(group, target)
    if (group.type === 'password' && !(await isStillProven(tx, appId, group.guid, proven))) return undefined
    requireVacancy(group, target, await context.settings.of(appId))

    const now = Math.floor(Date.now() / 1000)
    await storeMembers(tx, appId, group.guid, [{ uid: target.uid, scope: 'participant' }], now)
    const after = await countMembers(tx, appId, group.guid, 1, now)
    const message = await writeAction(
      context.events,
      tx,
      appId,
      after,
      { action: 'joined', by: target.user, on: target.user },
      now,
    )
    await joinConversation(tx, appId, group.conversation, [target.uid], now, message)
    return message
  })
}

/** @throws 409 `ERR_ALREADY_JOINED`, 403 `ERR_BANNED_GROUPMEMBER` */
function requireOpen({ guid }: GroupRow, { uid, membership, isBanned }: Target): void {
  if (membership === undefined && isBanned) throw bannedFrom(guid, uid)
  if (membership !== undefined) throw alreadyJoined(guid, uid)
}

/** @throws 403 `ERR_NO_VACANCY`, `ERR_PLAN_QUOTA_RESTRICTION` for a user who is in too many groups */
function requireVacancy(group: GroupRow, target: Target, limits: GroupLimits): void {
  const { maxGroupMembers } = limits
  if (hasReached(maxGroupMembers, group.membersCount)) throw noVacancy(group.guid, maxGroupMembers)
  const refusal = refuseMembership(group, target, limits)
  if (refusal !== undefined) throw refusal
}
