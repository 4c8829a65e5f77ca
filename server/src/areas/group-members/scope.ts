import type { GroupScope } from '@parley/contract'
import type { Membership } from '../../chat/groups/access.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { lockGroupFor, requireActor } from './actor.ts'
import { writeAction } from './changes.ts'
import { notAMember, sameScope } from './errors.ts'
import { refuseScopeChange } from './rules.ts'
import { holdUsers, requireActiveTarget } from './targets.ts'

const update = statement(`
  update group_members
  set scope = $4
  where app_id = $1
  and guid = $2
  and uid = $3`)

/** Gives a member another scope, under the group's lock. */
export async function storeScope(
  tx: Transaction,
  appId: number,
  guid: string,
  uid: string,
  scope: GroupScope,
): Promise<void> {
  await tx.query(update, [appId, guid, uid, scope])
}

/** Changes a member's scope. @throws 400 `ERR_NOT_A_MEMBER`, `ERR_SAME_SCOPE`, and what `refuseScopeChange` says */
export function changeScope(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
  uid: string,
  scope: GroupScope,
): Promise<Membership & { guid: string }> {
  return context.database.transaction(async (tx) => {
    await holdUsers(tx, appId, [uid])
    const group = await lockGroupFor(tx, appId, guid, user)
    const target = await requireActiveTarget(tx, appId, group.guid, uid)
    const actor = await requireActor(tx, appId, group, user)
    const refusal = refuseScopeChange(group, actor, target, scope)
    if (refusal !== undefined) throw refusal
    const { membership } = target
    if (membership === undefined) throw notAMember(group.guid, uid)
    if (membership.scope === scope) throw sameScope(uid, scope)

    await storeScope(tx, appId, group.guid, uid, scope)
    const event = {
      action: 'scopeChanged',
      by: actor.user,
      on: target.user,
      scope: { old: membership.scope, new: scope },
    } as const
    await writeAction(context.events, tx, appId, group, event, Math.floor(Date.now() / 1000))
    return { guid: group.guid, uid, scope, joinedAt: membership.joinedAt }
  })
}
