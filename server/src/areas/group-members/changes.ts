import type { GroupScope, Message } from '@parley/contract'
import { joinConversation, leaveConversation } from '../../chat/conversations/membership.ts'
import { type GroupRow, groupColumns, showGroup } from '../../chat/groups/rows.ts'
import { draftGroupActions, type GroupAction, writeGroupAction } from '../../chat/messages/actions.ts'
import { placeOfGroup } from '../../chat/place.ts'
import { showUser, type UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Events } from '../../events/index.ts'
import type { ChatEvent } from '../../events/types.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

// The writes that change who is in a group. All run under the group's lock.

const insertRows = statement(`
  insert into group_members (app_id, guid, uid, scope, joined_at)
  select $1, $2, uid, scope, $5
  from unnest($3::text[], $4::text[]) as added(uid, scope)`)

const deleteRows = statement(`
  delete from group_members
  where app_id = $1
  and guid = $2
  and uid = any($3::text[])`)

const insertBanRows = statement(`
  insert into group_bans (app_id, guid, uid, banned_by, banned_at)
  select $1, $2, uid, $4, $5
  from unnest($3::text[]) with ordinality as banned(uid, place)
  order by place`)

const count = statement(`
  update groups g
  set members_count = g.members_count + $3,
    updated_at = $4
  where g.app_id = $1
  and g.guid = $2
  returning ${groupColumns}`)

export interface NewMember {
  readonly uid: string
  readonly scope: GroupScope
}

/** Stores memberships; the count of members is the caller's to keep. */
export async function storeMembers(
  tx: Transaction,
  appId: number,
  guid: string,
  members: readonly NewMember[],
  now: number,
): Promise<void> {
  if (members.length === 0) return
  await tx.query(insertRows, [appId, guid, members.map(({ uid }) => uid), members.map(({ scope }) => scope), now])
}

/** Stores bans, for the audit log, too; who was a member stops being one by `removeMembers`. */
export async function storeBans(
  { audit }: Pick<Context, 'audit'>,
  tx: Transaction,
  appId: number,
  guid: string,
  uids: readonly string[],
  by: string,
  now: number,
): Promise<void> {
  if (uids.length === 0) return
  await tx.query(insertBanRows, [appId, guid, uids, by, now])
  for (const target of uids) {
    await audit.record(tx, appId, { action: 'user_banned', type: 'user', target, details: { guid } })
  }
}

/** Changes the count of members (of those who are not deactivated). @returns the group after it */
export async function countMembers(
  tx: Transaction,
  appId: number,
  guid: string,
  change: number,
  now: number,
): Promise<GroupRow> {
  const [row] = await tx.query<GroupRow>(count, [appId, guid, change, now])
  if (row === undefined) throw new Error(`the group ${guid} vanished under its lock`)
  return row
}

/** Makes a user a member, with their state in the conversation. @returns the group afterwards */
export async function addMember(
  tx: Transaction,
  appId: number,
  group: GroupRow,
  member: NewMember,
  now: number,
): Promise<GroupRow> {
  await storeMembers(tx, appId, group.guid, [member], now)
  await joinConversation(tx, appId, group.conversation, [member.uid], now)
  return countMembers(tx, appId, group.guid, 1, now)
}

/** Takes members out of a group and of its receipts. @returns the group after it */
export async function removeMembers(
  events: Events,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  users: readonly UserRow[],
  now: number,
): Promise<GroupRow> {
  if (users.length === 0) return group
  const uids = users.map(({ uid }) => uid)
  const counted = users.filter(({ deactivatedAt }) => deactivatedAt === null).length
  await tx.query(deleteRows, [appId, group.guid, uids])
  await leaveConversation(events, tx, { appId, guid: group.guid, conversation: group.conversation }, uids, now)
  return countMembers(tx, appId, group.guid, -counted, now)
}

/** What happened to a member, as its action message says it. */
interface MemberEvent {
  readonly action: GroupAction['action']
  readonly by: UserRow
  readonly on: UserRow
  readonly scope?: { readonly old: GroupScope; readonly new: GroupScope }
  /** They left, or were kicked or banned: they get this message too, as the last one from the group. */
  readonly isRemoval?: boolean
  /** With which they left: it is not sent there. */
  readonly device?: string | undefined
}

const triggers = {
  joined: 'group_member_joined',
  left: 'group_member_left',
  added: 'group_member_added',
  kicked: 'group_member_kicked',
  banned: 'group_member_banned',
  unbanned: 'group_member_unbanned',
  scopeChanged: 'group_member_scope_changed',
} as const

/**
 * Writes the action message of an event and raises the event. The message goes to those who are connected, like any
 * other; webhooks and pulled events have the event, and no `message_sent`.
 * @param group as it is after the event
 * @returns the action message
 */
export async function writeAction(
  events: Events,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  event: MemberEvent,
  now: number,
): Promise<Message> {
  const message = await writeGroupAction(tx, actionOf(appId, group, event, now))
  const messageId = Number(message.id)
  const place = placeOfGroup(group)
  tx.afterCommit(() => {
    events.publish(appId, { trigger: 'message_sent', place, messageId, message })
    if (event.isRemoval === true)
      events.publish(appId, { notice: message, place, to: event.on.uid, device: event.device })
  })
  await raiseMemberEvents(events, tx, appId, group, {
    ...event,
    by: event.by.uid,
    uids: [event.on.uid],
    actionIds: new Map([[event.on.uid, messageId]]),
  })
  return message
}

/**
 * Sends each member concerned who is connected the action message of an event that leaves none in the group.
 * @returns the ids of these messages, by uid
 */
export async function noticeMembers(
  events: Events,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  { action, by, on }: Pick<MemberEvent, 'action' | 'by'> & { on: readonly UserRow[] },
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const actions = on.map((user) => actionOf(appId, group, { action, by, on: user }, now))
  const messages = await draftGroupActions(tx, actions)
  const place = placeOfGroup(group)
  tx.afterCommit(() => {
    for (const [n, notice] of messages.entries()) {
      events.publish(appId, { notice, place, to: (on[n] as UserRow).uid })
    }
  })
  return new Map(messages.map(({ id }, n) => [(on[n] as UserRow).uid, Number(id)]))
}

function actionOf(appId: number, group: GroupRow, { action, by, on, scope }: MemberEvent, now: number): GroupAction {
  const { guid, conversation } = group
  const shown = { by: showUser(by), on: showUser(on), group: showGroup(group) }
  return { appId, guid, conversation, action, ...shown, ...(scope && { scope }), now }
}

/**
 * Raises the event of what happened to members, one for each; an action message is not always written.
 * @param actionIds of the action messages that members were sent, by uid
 */
export async function raiseMemberEvents(
  events: Events,
  tx: Transaction,
  appId: number,
  { guid, conversation }: Pick<GroupRow, 'guid' | 'conversation'>,
  {
    action,
    by,
    uids,
    scope,
    actionIds,
  }: Pick<MemberEvent, 'action' | 'scope'> & {
    by: string
    uids: readonly string[]
    actionIds?: ReadonlyMap<string, number>
  },
): Promise<void> {
  const isOwn = action === 'joined' || action === 'left'
  const raised = uids.map((uid): ChatEvent => {
    const actionId = actionIds?.get(uid)
    return {
      trigger: triggers[action],
      guid,
      conversation,
      ...(!isOwn && { by }),
      members: [{ uid, ...(scope && { scope: scope.new, oldScope: scope.old }) }],
      ...(actionId !== undefined && { actionId }),
    }
  })
  await events.raise(tx, appId, raised)
}
