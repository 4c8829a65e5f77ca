import { ApiError, type GroupScope } from '@parley/contract'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { lockConversation, lockConversations } from '../conversations/membership.ts'
import { readMemberships } from './memberships.ts'
import { type GroupRow, type GroupViewer, readGroup, readGroups } from './rows.ts'

/** One user's membership of one group. */
export interface Membership {
  readonly uid: string
  readonly scope: GroupScope
  /** Epoch seconds. */
  readonly joinedAt: number
}

const selectBan = statement(`
  select uid
  from group_bans
  where app_id = $1
  and guid = $2
  and uid = $3`)

/** @returns undefined if they are not a member */
export async function readMembership(
  on: Queryable,
  appId: number,
  guid: string,
  uid: string,
): Promise<Membership | undefined> {
  return (await readMemberships(on, appId, [{ guid, uid }])).get(`${guid} ${uid}`)
}

export async function isBanned(on: Queryable, appId: number, guid: string, uid: string): Promise<boolean> {
  return (await on.query(selectBan, [appId, guid, uid])).length > 0
}

/** The group, by its guid in whatever case. @throws 404 `ERR_GUID_NOT_FOUND` */
export async function requireGroup(on: Queryable, appId: number, guid: string): Promise<GroupRow> {
  const group = await readGroup(on, appId, guid.toLowerCase())
  if (group === undefined) throw unknownGroup(guid)
  return group
}

/**
 * Takes the lock under which everything in a group happens one after the other (messages too) and reads the group as it
 * then stands. To be the first thing in a transaction that changes a group or its members.
 * @throws 404 `ERR_GUID_NOT_FOUND`
 */
export async function lockGroup(tx: Transaction, appId: number, guid: string): Promise<GroupRow> {
  let group = await requireGroup(tx, appId, guid)
  for (;;) {
    await lockConversation(tx, appId, group.conversation)
    const current = await requireGroup(tx, appId, guid)
    // Deleted and made anew while this waited: what is locked belongs to the group that is gone.
    if (current.conversation === group.conversation) return current
    group = current
  }
}

/** As `lockGroup`, of several by their guids in lower case; one that is not there, or is deleted meanwhile, is missing. */
export async function lockGroups(
  tx: Transaction,
  appId: number,
  guids: readonly string[],
): Promise<Map<string, GroupRow>> {
  const before = await readGroups(tx, appId, guids)
  const locked = new Set([...before.values()].map(({ conversation }) => conversation))
  await lockConversations(tx, appId, [...locked])
  const groups = await readGroups(tx, appId, guids)
  return new Map([...groups].filter(([, { conversation }]) => locked.has(conversation)))
}

/**
 * A group and the membership of the user who wants to use it.
 * @throws 404 `ERR_GUID_NOT_FOUND` if it does not exist, or is private and the user is not a member;
 * 403 `ERR_BANNED_GROUPMEMBER`, `ERR_GROUP_NOT_JOINED`
 */
export async function requireGroupAccess(
  on: Queryable,
  appId: number,
  guid: string,
  uid: string,
): Promise<{ group: GroupRow; membership: Membership }> {
  const [group, membership] = await Promise.all([
    requireGroup(on, appId, guid),
    readMembership(on, appId, guid.toLowerCase(), uid),
  ])
  return { group, membership: membership ?? (await refuseOutsider(on, appId, group, uid)) }
}

/** The membership of a user who wants to use this group. @throws as `requireGroupAccess` */
export async function requireMembership(
  on: Queryable,
  appId: number,
  group: Pick<GroupRow, 'guid' | 'type'>,
  uid: string,
): Promise<Membership> {
  return (await readMembership(on, appId, group.guid, uid)) ?? refuseOutsider(on, appId, group, uid)
}

async function refuseOutsider(
  on: Queryable,
  appId: number,
  group: Pick<GroupRow, 'guid' | 'type'>,
  uid: string,
): Promise<never> {
  if (group.type === 'private') throw unknownGroup(group.guid)
  if (await isBanned(on, appId, group.guid, uid)) throw bannedFrom(group.guid, uid)
  throw notJoined(group.guid, uid)
}

/** How a user is related to a group, for `showGroup`. @throws 404 for a private group they are not a member of */
export async function readViewer(
  on: Queryable,
  appId: number,
  group: Pick<GroupRow, 'guid' | 'type'>,
  uid: string,
): Promise<GroupViewer> {
  const membership = await readMembership(on, appId, group.guid, uid)
  if (membership !== undefined) return membership
  if (group.type === 'private') throw unknownGroup(group.guid)
  return { hasJoined: false, isBanned: await isBanned(on, appId, group.guid, uid) }
}

/** In lower case, as guids are kept: the case must not tell a private group from one that does not exist. */
export function unknownGroup(guid: string): ApiError {
  return new ApiError('ERR_GUID_NOT_FOUND', `There is no group with the guid ${guid.toLowerCase()}.`)
}

export function groupExists(guid: string): ApiError {
  return new ApiError('ERR_GUID_ALREADY_EXISTS', `A group with the guid ${guid} already exists.`)
}

export function bannedFrom(guid: string, uid: string): ApiError {
  return new ApiError('ERR_BANNED_GROUPMEMBER', `${uid} is banned from the group ${guid}.`)
}

/** 403: whoever acts is not a member. */
export function notJoined(guid: string, uid: string): ApiError {
  return new ApiError('ERR_GROUP_NOT_JOINED', `${uid} is not a member of the group ${guid}.`)
}
