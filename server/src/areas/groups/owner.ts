import { systemUid } from '../../chat/apps.ts'
import { type GroupRow, groupColumns } from '../../chat/groups/rows.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import {
  addMember,
  type GroupActor,
  holdUsers,
  lockGroupFor,
  notAMember,
  raiseMemberEvents,
  refuseBlocker,
  refuseMembership,
  requireActiveTarget,
  requireActor,
  storeScope,
} from '../group-members/index.ts'

import { alreadyTheOwner, notTheOwner } from './errors.ts'

const update = statement(`
  update groups g
  set owner = $3,
    updated_at = $4,
    updated_by = $5
  where g.app_id = $1
  and g.guid = $2
  returning ${groupColumns}`)

/**
 * Transfers the ownership of a group, for its owner or the app. The new owner must be a member, unless the app acts.
 * There is no action message for it.
 * @throws 403 `ERR_GROUP_NO_CLEARANCE` if the acting user does not own the group, 400 `ERR_NOT_A_MEMBER`
 */
export function transferGroup(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
  owner: string,
): Promise<{ group: GroupRow; actor: GroupActor }> {
  return context.database.transaction(async (tx) => {
    await holdUsers(tx, appId, [owner])
    const group = await lockGroupFor(tx, appId, guid, user)
    const { membership } =
      owner === systemUid && user === undefined
        ? { membership: undefined }
        : await requireActiveTarget(tx, appId, group.guid, owner)
    const actor = await requireActor(tx, appId, group, user)
    if (actor.kind === 'member') {
      if (actor.user.uid !== group.owner) throw notTheOwner(group.guid, actor.user.uid)
      if (owner === group.owner) throw alreadyTheOwner(group.guid, owner)
      if (membership === undefined) throw notAMember(group.guid, owner)
      await refuseBlocker(tx, appId, actor.user, owner)
    }
    return { group: await appointOwner(context, tx, appId, group, owner, actor), actor }
  })
}

/**
 * Makes a user the owner, and if needed a member and an admin. The user must be held and the group locked. The system
 * user can own a group without being a member.
 * @throws 404 `ERR_UID_NOT_FOUND`, 403 `ERR_BANNED_GROUPMEMBER`, `ERR_PLAN_QUOTA_RESTRICTION`
 */
export async function appointOwner(
  context: Pick<Context, 'events' | 'settings'>,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  owner: string,
  actor: GroupActor,
): Promise<GroupRow> {
  if (owner === group.owner) return group
  const now = Math.floor(Date.now() / 1000)
  if (owner !== systemUid) await makeAdmin(context, tx, appId, group, owner, actor, now)
  const [row] = await tx.query<GroupRow>(update, [appId, group.guid, owner, now, actor.user.uid])
  if (row === undefined) throw new Error(`the group ${group.guid} vanished under its lock`)
  const { guid, conversation, owner: oldOwner } = group
  await context.events.raise(tx, appId, [{ trigger: 'group_owner_transferred', guid, conversation, owner, oldOwner }])
  return row
}

async function makeAdmin(
  { events, settings }: Pick<Context, 'events' | 'settings'>,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  uid: string,
  actor: GroupActor,
  now: number,
): Promise<void> {
  const target = await requireActiveTarget(tx, appId, group.guid, uid)
  if (target.membership !== undefined) {
    await storeScope(tx, appId, group.guid, uid, 'admin')
    return
  }
  const refusal = refuseMembership(group, target, await settings.of(appId))
  if (refusal !== undefined) throw refusal
  await addMember(tx, appId, group, { uid, scope: 'admin' }, now)
  await raiseMemberEvents(events, tx, appId, group, { action: 'added', by: actor.user.uid, uids: [uid] })
}
