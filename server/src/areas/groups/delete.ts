import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import { requireActor } from '../group-members/index.ts'
import type { UserRow } from '../users/index.ts'
import { lockGroup } from './access.ts'
import { requireScopePermission } from './permissions.ts'

/** Everything that hangs on the conversation; the positions of its messages go too, nobody has a cursor there any more. */
const deleteOfConversation = ['messages', 'receipt_steps', 'conversation_states'].map((table) =>
  statement(`
  delete from ${table}
  where app_id = $1
  and conversation = $2`),
)

const deleteConversation = statement(`
  delete from conversations
  where app_id = $1
  and key = $2`)

const deleteOfGroup = ['group_members', 'group_bans', 'groups'].map((table) =>
  statement(`
  delete from ${table}
  where app_id = $1
  and guid = $2`),
)

/**
 * Removes a group with its members, bans, messages and everybody's side of its conversation.
 * @param user the acting user, who needs the permission `deleteGroup` or to own the group
 */
export async function removeGroup(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    const group = await lockGroup(tx, appId, guid)
    const actor = await requireActor(tx, appId, group, user)
    if (actor.kind === 'member') requireScopePermission(group, actor.membership, 'deleteGroup')
    for (const remove of deleteOfConversation) await tx.query(remove, [appId, group.conversation])
    await tx.query(deleteConversation, [appId, group.conversation])
    for (const remove of deleteOfGroup) await tx.query(remove, [appId, group.guid])
  })
}
