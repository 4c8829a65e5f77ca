import { hasReached, type ImportGroupDetails, type ImportUser } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { unknownGroup } from '../../chat/groups/access.ts'
import { type GroupRow, readGroups } from '../../chat/groups/rows.ts'
import { unknownRole } from '../../chat/roles/rows.ts'
import { readErased, userErased } from '../../chat/users/erased.ts'
import { unknownUser } from '../../chat/users/require.ts'
import { readUids, readUsers, type UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { tooManyGroups } from '../group-members/index.ts'
import { countGroups } from './memberships.ts'
import { type Failure, refuse } from './outcomes.ts'

/** A group that a record brings along, with the user who shall own it. */
export interface NewGroup {
  readonly details: ImportGroupDetails
  /** In lower case; the system user where nobody is named. */
  readonly owner: string
}

/** What a record brings along in case it is missing, and what it cannot do without. Ids in `needs` in lower case. */
export interface Links {
  readonly users?: ReadonlyArray<ImportUser | undefined>
  readonly groups?: readonly NewGroup[]
  readonly needsUsers?: readonly string[]
  readonly needsGroups?: readonly string[]
  /** Somebody new may have the uid of a user who was erased. */
  readonly recreate?: boolean | undefined
}

/**
 * The users and groups that a request names: those that are there, and those that its records bring along. Records are
 * admitted in their order, as if each were imported alone after the one before it.
 */
export interface Roster {
  /** Those to be made, each once. */
  readonly newUsers: readonly ImportUser[]
  readonly newGroups: readonly NewGroup[]
  hasUser(uid: string): boolean
  hasGroup(guid: string): boolean
  /**
   * Takes in what a record brings along and is missing, unless the record is refused: `ERR_ROLE_NOT_FOUND`,
   * `ERR_UID_NOT_FOUND`, `ERR_IMPORT_UID_ERASED`, `ERR_GUID_NOT_FOUND`, `ERR_PLAN_QUOTA_RESTRICTION` where the owner of a group is in too many.
   */
  admit(links: Links): Failure | undefined
}

type Surroundings = Pick<Context, 'settings' | 'secrets'>

/** Reads what is there of all that the records of a request name. To make what is missing, in its transaction. */
export async function readRoster(
  context: Surroundings,
  on: Queryable,
  appId: number,
  records: readonly Links[],
): Promise<Roster & { readonly rows: PresentRows }> {
  const present = await readPresent(context, on, appId, records)
  return Object.assign(openRoster(present), { rows: present })
}

/** The same, where nobody asks for more than whether they are there. */
export async function readNames(
  context: Surroundings,
  on: Queryable,
  appId: number,
  records: readonly Links[],
): Promise<Roster> {
  const { uids, guids } = namedIn(records)
  const [users, groups] = await Promise.all([readUids(on, appId, uids), readGroups(on, appId, guids)])
  return openRoster(await besides(context, on, appId, records, { users, groups, uids }))
}

export async function readPresent(
  context: Surroundings,
  on: Queryable,
  appId: number,
  records: readonly Links[],
): Promise<Present> {
  const { uids, guids } = namedIn(records)
  const [users, groups] = await Promise.all([readUsers(on, appId, uids), readGroups(on, appId, guids)])
  return { ...(await besides(context, on, appId, records, { users, groups, uids })), users, groups }
}

const none: readonly never[] = []

/** All users and groups that records name, in lower case. */
function namedIn(records: readonly Links[]): { uids: Set<string>; guids: Set<string> } {
  const uids = new Set<string>()
  const guids = new Set<string>()
  for (const { users = none, groups = none, needsUsers = none, needsGroups = none } of records) {
    for (const user of users) if (user !== undefined) uids.add(user.uid.toLowerCase())
    for (const { details, owner } of groups) {
      guids.add(details.guid.toLowerCase())
      uids.add(owner)
    }
    for (const uid of needsUsers) uids.add(uid)
    for (const guid of needsGroups) guids.add(guid)
  }
  return { uids, guids }
}

/** What else decides about records that bring along somebody who is not there. */
async function besides(
  { settings, secrets }: Surroundings,
  on: Queryable,
  appId: number,
  records: readonly Links[],
  { users, groups, uids }: Pick<Known, 'users' | 'groups'> & { readonly uids: ReadonlySet<string> },
): Promise<Known> {
  const missing: ImportUser[] = []
  const owners: string[] = []
  for (const { users: brought = none, groups: founded = none } of records) {
    for (const user of brought) if (user !== undefined && !users.has(user.uid.toLowerCase())) missing.push(user)
    for (const { details, owner } of founded) if (!groups.has(details.guid.toLowerCase())) owners.push(owner)
  }
  const unknown = [...uids].filter((uid) => !users.has(uid))
  return {
    users,
    groups,
    erased: await readErased(on, secrets, appId, 'uid', unknown),
    roles: await keepRoles(on, appId, missing),
    memberships: await countGroups(on, appId, [...new Set(owners)]),
    maxGroupsPerUser: (await settings.of(appId)).maxGroupsPerUser,
  }
}

const selectRoles = statement(`
  select role
  from roles
  where app_id = $1
  and role = any($2::text[])
  order by role
  for key share`)

/** The roles among those that users shall have that exist; in a transaction they do until it ends. */
async function keepRoles(
  on: Queryable,
  appId: number,
  users: ReadonlyArray<ImportUser | undefined>,
): Promise<Set<string>> {
  const wanted = new Set(users.flatMap((user) => user?.role?.toLowerCase() ?? []))
  if (wanted.size === 0) return wanted
  const rows = await on.query<{ role: string }>(selectRoles, [appId, [...wanted]])
  return new Set(rows.map(({ role }) => role))
}

/** Those that are there, by uid and guid. */
export interface PresentRows {
  readonly users: ReadonlyMap<string, UserRow>
  readonly groups: ReadonlyMap<string, GroupRow>
}

type Names = Pick<ReadonlySet<string>, 'has'>

/** What is there of all that records name. */
export interface Known {
  readonly users: Names
  readonly groups: Names
  readonly roles: ReadonlySet<string>
  /** Of uids that nobody has: those of users who were erased. */
  readonly erased: ReadonlySet<string>
  /** Of those who shall own a group: how many they are in. */
  readonly memberships: ReadonlyMap<string, number>
  /** How many anybody can be in; 0: any number. */
  readonly maxGroupsPerUser: number
}

export type Present = Known & PresentRows

/** The rules of a roster, apart from where it is read. */
export function openRoster({ users, groups, roles, erased, memberships, maxGroupsPerUser }: Known): Roster {
  const newUsers = new Map<string, ImportUser>()
  const newGroups = new Map<string, NewGroup>()
  const hasUser = (uid: string) => users.has(uid) || newUsers.has(uid)
  const hasGroup = (guid: string) => groups.has(guid) || newGroups.has(guid)
  const founded = new Map<string, number>()
  const isInTooManyGroups = (uid: string) =>
    uid !== systemUid && hasReached(maxGroupsPerUser, (memberships.get(uid) ?? 0) + (founded.get(uid) ?? 0))

  /** Most records bring nobody along. */
  const admit = (links: Links): Failure | undefined => {
    if (links.users !== undefined || links.groups !== undefined) return admitWith(links)
    for (const uid of links.needsUsers ?? []) {
      if (!hasUser(uid)) return refuse(erased.has(uid) ? userErased(uid) : unknownUser(uid))
    }
    for (const guid of links.needsGroups ?? []) if (!hasGroup(guid)) return refuse(unknownGroup(guid))
    return undefined
  }

  const admitWith = (links: Links): Failure | undefined => {
    const bringsUsers = new Map<string, ImportUser>()
    const bringsGroups = new Map<string, NewGroup>()
    const willHaveUser = (uid: string) => hasUser(uid) || bringsUsers.has(uid)

    for (const user of links.users ?? []) {
      if (user === undefined || willHaveUser(user.uid.toLowerCase())) continue
      if (erased.has(user.uid.toLowerCase()) && links.recreate !== true) return refuse(userErased(user.uid))
      const role = user.role?.toLowerCase()
      if (role !== undefined && !roles.has(role)) return refuse(unknownRole(role))
      bringsUsers.set(user.uid.toLowerCase(), user)
    }
    for (const group of links.groups ?? []) {
      const guid = group.details.guid.toLowerCase()
      if (hasGroup(guid)) continue
      if (!willHaveUser(group.owner) && erased.has(group.owner)) return refuse(userErased(group.owner))
      if (!willHaveUser(group.owner)) return refuse(unknownUser(group.owner, `the owner of the group ${guid}`))
      if (isInTooManyGroups(group.owner)) return refuse(tooManyGroups(group.owner, maxGroupsPerUser))
      bringsGroups.set(guid, group)
    }
    for (const uid of links.needsUsers ?? []) {
      if (!willHaveUser(uid)) return refuse(erased.has(uid) ? userErased(uid) : unknownUser(uid))
    }
    for (const guid of links.needsGroups ?? []) {
      if (!hasGroup(guid) && !bringsGroups.has(guid)) return refuse(unknownGroup(guid))
    }
    for (const [uid, user] of bringsUsers) newUsers.set(uid, user)
    for (const [guid, group] of bringsGroups) {
      newGroups.set(guid, group)
      founded.set(group.owner, (founded.get(group.owner) ?? 0) + 1)
    }
    return undefined
  }
  return {
    get newUsers() {
      return [...newUsers.values()]
    },
    get newGroups() {
      return [...newGroups.values()]
    },
    hasUser,
    hasGroup,
    admit,
  }
}

/** The owner of an imported group: the one it names, else the user in its owner details, else the system user. */
export function ownerOf(group: ImportGroupDetails, ownerDetails: ImportUser | undefined): string {
  return (group.owner ?? ownerDetails?.uid ?? systemUid).toLowerCase()
}
