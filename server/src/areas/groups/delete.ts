import { sql } from 'kysely'
import { lockGroup } from '../../chat/groups/access.ts'
import { countOnlineMembers } from '../../chat/groups/online.ts'
import { requireScopePermission } from '../../chat/groups/permissions.ts'
import { showGroup } from '../../chat/groups/rows.ts'
import { releaseUsesOf } from '../../chat/messages/file-uses.ts'
import { forgetReactionEvents } from '../../chat/messages/forget-reactions.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import { requireActor } from '../group-members/index.ts'

interface Traces {
  readonly appId: number
  readonly guid: string
  readonly conversation: number
}

type Place = (traces: Traces) => Fragment

const ofConversation =
  (table: string): Place =>
  ({ appId, conversation }) =>
    sql`
    delete from ${sql.table(table)}
    where app_id = ${appKey(appId)}
    and conversation = ${conversation}`

const ofMessages =
  (table: string, column: string): Place =>
  ({ appId, conversation }) =>
    sql`
    delete from ${sql.table(table)}
    where app_id = ${appKey(appId)}
    and ${sql.ref(column)} in (select id from messages where app_id = ${appKey(appId)} and conversation = ${conversation})`

const ofGroup =
  (table: string): Place =>
  ({ appId, guid }) =>
    sql`
    delete from ${sql.table(table)}
    where app_id = ${appKey(appId)}
    and guid = ${guid}`

/**
 * Where something of a group lives, table by table, in the areas of others too, so that there is one list; its test looks
 * through every table. The positions of its messages go as well: nobody has a cursor there any more. The states come
 * before the receipt steps: a mark that is being set at this moment holds its state and is waited for there.
 */
const places: readonly Place[] = [
  ofConversation('conversation_states'),
  ofConversation('receipt_steps'),
  ({ appId, conversation }) =>
    releaseUsesOf(
      appId,
      sql`(select id from messages where app_id = ${appKey(appId)} and conversation = ${conversation})`,
    ),
  ({ appId, conversation }) =>
    forgetReactionEvents.ofMessages(
      appId,
      sql`array(select id from messages where app_id = ${appKey(appId)} and conversation = ${conversation})`,
    ),
  ofMessages('reactions', 'message_id'),
  ofMessages('interactions', 'message_id'),
  ofMessages('saved_messages', 'message_id'),
  ofMessages('thread_subscriptions', 'parent_id'),
  ofConversation('threads'),
  ofConversation('pinned_messages'),
  ofConversation('messages'),
  ({ appId, conversation }) => sql`delete from conversations where app_id = ${appKey(appId)} and key = ${conversation}`,
  ({ appId, guid }) => sql`
    delete from app_pinned_conversations
    where app_id = ${appKey(appId)}
    and kind = 2
    and peer = ${guid}`,
  ofGroup('group_members'),
  ofGroup('group_bans'),
  ofGroup('groups'),
]

/** Sockets are told who was in it. */
const selectMembers = statement(`
  select uid
  from group_members
  where app_id = $1
  and guid = $2`)

/**
 * Removes a group with its members, bans, messages and everybody's side of its conversation, in one transaction.
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
    const { guid: deleted, conversation } = group
    const uids = context.events.bus.isHeard ? await tx.query<{ uid: string }>(selectMembers, [appId, deleted]) : []
    const onlineMembersCount = await countOnlineMembers(tx, appId, deleted)
    for (const place of places) await tx.run(place({ appId, guid: deleted, conversation }))
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
