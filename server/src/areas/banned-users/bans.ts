import { requireScopePermission } from '../../chat/groups/permissions.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import {
  holdUsers,
  lockGroupFor,
  refuseAdmin,
  refuseBan,
  removeMembers,
  requireActor,
  requireTarget,
  storeBans,
  writeAction,
} from '../group-members/index.ts'
import { notBanned } from './errors.ts'

const deleteBan = statement(`
  delete from group_bans
  where app_id = $1
  and guid = $2
  and uid = $3
  returning uid`)

/**
 * Bans a user, member or not.
 * @param sparesAdmins a rule does it, not a person: admins stay
 * @throws what `refuseBan` says
 */
export async function banUser(
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
    const refusal = refuseBan(group, actor, target) ?? (sparesAdmins ? refuseAdmin(group, target) : undefined)
    if (refusal !== undefined) throw refusal

    const now = Math.floor(Date.now() / 1000)
    const expelled = target.membership === undefined ? [] : [target.user]
    const after = await removeMembers(context.events, tx, appId, group, expelled, now)
    await storeBans(context, tx, appId, group.guid, [uid], actor.user.uid, now)
    const isRemoval = expelled.length > 0
    await writeAction(
      context.events,
      tx,
      appId,
      after,
      { action: 'banned', by: actor.user, on: target.user, isRemoval },
      now,
    )
  })
}

/** Lifts a ban; it makes nobody a member. @throws 400 `ERR_NOT_A_BANNED_USER`, 403 `ERR_PERMISSION_DENIED` */
export async function unbanUser(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
  uid: string,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    await holdUsers(tx, appId, [uid])
    const group = await lockGroupFor(tx, appId, guid, user)
    const target = await requireTarget(tx, appId, group.guid, uid)
    const actor = await requireActor(tx, appId, group, user)
    if (actor.kind === 'member') requireScopePermission(group, actor.membership, 'unban')
    const removed = await tx.query(deleteBan, [appId, group.guid, uid])
    if (removed.length === 0) {
      throw notBanned(group.guid, uid)
    }
    const details = { guid: group.guid }
    await context.audit.record(tx, appId, { action: 'user_unbanned', type: 'user', target: uid, details })
    const event = { action: 'unbanned', by: actor.user, on: target.user } as const
    await writeAction(context.events, tx, appId, group, event, Math.floor(Date.now() / 1000))
  })
}
