import { erase } from '../../chat/erasure.ts'
import { lockGroup } from '../../chat/groups/access.ts'
import { countOnlineMembersOf } from '../../chat/groups/online.ts'
import { requireScopePermission } from '../../chat/groups/permissions.ts'
import { showGroup } from '../../chat/groups/rows.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { takeTime } from '../../store/held.ts'
import { statement } from '../../store/statement.ts'
import { requireActor } from '../group-members/index.ts'

/** Sockets are notified of who was in it. */
const selectMembers = statement(`
  select uid
  from group_members
  where app_id = $1
  and guid = $2`)

/**
 * Removes a group with its members, bans, messages and everybody's state of its conversation, in one transaction.
 * @param user the acting user, who needs the permission `deleteGroup` or to own the group
 */
export async function removeGroup(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
): Promise<void> {
  await context.database.longTransaction(async (tx) => {
    const group = await lockGroup(tx, appId, guid)
    await tx.query(takeTime)
    const actor = await requireActor(tx, appId, group, user)
    if (actor.kind === 'member') requireScopePermission(group, actor.membership, 'deleteGroup')
    const { guid: deleted, conversation } = group
    const uids = context.events.bus.isHeard ? await tx.query<{ uid: string }>(selectMembers, [appId, deleted]) : []
    const onlineMembersCount = (await countOnlineMembersOf(tx, appId, [deleted])).get(deleted) ?? 0
    await erase(tx, context.tables, 'ofGroup', { appId, guid: deleted, conversation })
    await context.audit.record(tx, appId, { action: 'group_deleted', type: 'group', target: deleted })
    await context.events.raise(tx, appId, [
      {
        trigger: 'group_deleted',
        guid: deleted,
        conversation,
        uids: uids.map(({ uid }) => uid),
        group: { ...showGroup(group), onlineMembersCount },
      },
    ])
  })
}
