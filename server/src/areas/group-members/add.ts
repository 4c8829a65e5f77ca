import type { AddOutcome, ApiError, Message, UidOutcome } from '@parley/contract'
import { joinConversation } from '../../chat/conversations/membership.ts'
import { lockGroup } from '../../chat/groups/access.ts'
import { requireScopePermission } from '../../chat/groups/permissions.ts'
import type { GroupRow } from '../../chat/groups/rows.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { type GroupActor, requireActor } from './actor.ts'
import { type Addition, type ListName, type Plan, planAdditions } from './additions.ts'
import {
  countMembers,
  type NewMember,
  noticeMembers,
  raiseMemberEvents,
  removeMembers,
  storeBans,
  storeMembers,
  writeAction,
} from './changes.ts'
import { readUnwilling } from './consent.ts'
import { holdUsers, readTargets } from './targets.ts'

export type Outcomes = Record<ListName, Record<string, AddOutcome>>

/**
 * Adds members and bans users, each checked on their own. If the actor cannot add (or ban) at all, everything is refused.
 * An addition leaves an action message in the history, a ban leaves none; a member who is banned is sent one all the same.
 */
export function addMembers(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
  additions: readonly Addition[],
): Promise<Outcomes> {
  return context.database.transaction(async (tx) => {
    const uids = additions.map(({ uid }) => uid)
    await holdUsers(tx, appId, uids)
    const group = await lockGroup(tx, appId, guid)
    const actor = await requireActor(tx, appId, group, user)
    if (actor.kind === 'member') requireAddPermissions(group, actor, additions)

    const targets = await readTargets(tx, appId, group.guid, uids)
    const unwilling = await readUnwilling(context, tx, appId, user, uids)
    const plan = planAdditions(group, actor, targets, additions, unwilling, await context.settings.of(appId))
    const outcomes = refusals(plan)

    const now = Math.floor(Date.now() / 1000)
    const userOf = (uid: string) => targets.get(uid)?.user as UserRow
    await storeMembers(tx, appId, group.guid, plan.members, now)
    let current = group
    let first: Message | undefined
    for (const { uid, list } of plan.members) {
      current = await countMembers(tx, appId, group.guid, 1, now)
      const data = await writeAction(
        context.events,
        tx,
        appId,
        current,
        { action: 'added', by: actor.user, on: userOf(uid) },
        now,
      )
      first ??= data
      outcomes[list][uid] = { success: true, data }
    }
    const added = plan.members.map(({ uid }) => uid)
    if (added.length > 0) await joinConversation(tx, appId, group.conversation, added, now, first)

    const banned = plan.bans.map(({ uid }) => uid)
    const expelled = banned.filter((uid) => targets.get(uid)?.membership !== undefined).map(userOf)
    const after = await removeMembers(context.events, tx, appId, current, expelled, now)
    await storeBans(context, tx, appId, group.guid, banned, actor.user.uid, now)
    const by = actor.user
    const actionIds = await noticeMembers(context.events, tx, appId, after, { action: 'banned', by, on: expelled }, now)
    await raiseMemberEvents(context.events, tx, appId, group, { action: 'banned', by: by.uid, uids: banned, actionIds })
    for (const uid of banned) outcomes.usersToBan[uid] = { success: true }
    return outcomes
  })
}

function requireAddPermissions(
  group: GroupRow,
  { membership }: Extract<GroupActor, { kind: 'member' }>,
  additions: readonly Addition[],
): void {
  if (additions.some(({ scope }) => scope !== undefined)) requireScopePermission(group, membership, 'addMembers')
  if (additions.some(({ scope }) => scope === undefined)) requireScopePermission(group, membership, 'ban')
}

/** What is to be done for the lists of a new group, and who is in it from the start, also where no list names them. */
export interface FirstMembers extends Plan {
  readonly everybody: readonly NewMember[]
}

/** The first members of a new group, without action messages. @returns what became of each whom a list names */
export async function storeFirstMembers(
  context: Pick<Context, 'audit'>,
  tx: Transaction,
  appId: number,
  group: Pick<GroupRow, 'guid' | 'conversation'>,
  plan: FirstMembers,
  by: string,
  now: number,
): Promise<Outcomes> {
  const outcomes = refusals(plan)
  const banned = plan.bans.map(({ uid }) => uid)
  await storeMembers(tx, appId, group.guid, plan.everybody, now)
  await storeBans(context, tx, appId, group.guid, banned, by, now)
  for (const { uid, list } of [...plan.members, ...plan.bans]) outcomes[list][uid] = { success: true }
  return outcomes
}

function refusals(plan: Plan): Outcomes {
  const outcomes: Outcomes = { admins: byUid(), moderators: byUid(), participants: byUid(), usersToBan: byUid() }
  for (const { uid, list, error } of plan.refused) outcomes[list][uid] = refusalOutcome(error)
  return outcomes
}

/** Without a prototype: `__proto__` is a uid like any other. */
function byUid(): Record<string, AddOutcome> {
  return Object.create(null)
}

function refusalOutcome({ code, message, devMessage }: ApiError): UidOutcome {
  return { success: false, error: { code, message, devMessage } }
}
