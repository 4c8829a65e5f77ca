import { ApiError } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { lockGroup } from '../../chat/groups/access.ts'
import { type GroupRow, groupColumns } from '../../chat/groups/rows.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Events } from '../../events/index.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import {
  addMember,
  type GroupActor,
  holdUsers,
  notAMember,
  publishChange,
  refuseMembership,
  requireActiveTarget,
  requireActor,
  storeScope,
  vacancies,
} from '../group-members/index.ts'

const update = statement(`
  update groups g
  set owner = $3,
    updated_at = $4,
    updated_by = $5
  where g.app_id = $1
  and g.guid = $2
  returning ${groupColumns}`)

/**
 * Passes a group on, by its owner or by the app. The new owner must be a member, unless the app decides. No action
 * message tells of it.
 * @throws 403 `ERR_GROUP_NO_CLEARANCE` for who does not own the group, 400 `ERR_NOT_A_MEMBER`
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
    const group = await lockGroup(tx, appId, guid)
    const { membership } =
      owner === systemUid && user === undefined
        ? { membership: undefined }
        : await requireActiveTarget(tx, appId, group.guid, owner)
    const actor = await requireActor(tx, appId, group, user)
    if (actor.kind === 'member') {
      if (actor.user.uid !== group.owner) {
        throw new ApiError('ERR_GROUP_NO_CLEARANCE', `${actor.user.uid} does not own the group ${group.guid}.`)
      }
      if (owner === group.owner) throw new ApiError('ERR_GROUP_NO_SELF_ACTION', `${owner} owns the group already.`)
      if (membership === undefined) throw notAMember(group.guid, owner)
    }
    return { group: await appointOwner(context.events, tx, appId, group, owner, actor), actor }
  })
}

/**
 * Makes somebody the owner, an admin and a member where he is not; he is held, the group locked. The system user owns a group
 * without being its member.
 * @throws 404 `ERR_UID_NOT_FOUND`, 403 `ERR_BANNED_GROUPMEMBER`, `ERR_PLAN_QUOTA_RESTRICTION`
 */
export async function appointOwner(
  events: Events,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  owner: string,
  actor: GroupActor,
): Promise<GroupRow> {
  if (owner === group.owner) return group
  const now = Math.floor(Date.now() / 1000)
  if (owner !== systemUid) await makeAdmin(events, tx, appId, group, owner, actor, now)
  const [row] = await tx.query<GroupRow>(update, [appId, group.guid, owner, now, actor.user.uid])
  if (row === undefined) throw new Error(`the group ${group.guid} vanished under its lock`)
  const { guid, conversation, owner: oldOwner } = group
  await events.raise(tx, appId, [{ trigger: 'group_owner_transferred', guid, conversation, owner, oldOwner }])
  return row
}

async function makeAdmin(
  events: Events,
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
  const refusal = refuseMembership(group, target, vacancies(group))
  if (refusal !== undefined) throw refusal
  await addMember(tx, appId, group, { uid, scope: 'admin' }, now)
  await publishChange(events, tx, appId, group, { action: 'added', by: actor.user.uid, uids: [uid] })
}
