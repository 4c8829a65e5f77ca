import type { GroupScope } from '@parley/contract'
import { joinConversations } from '../../chat/conversations/membership.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A membership to be stored. */
export interface Enrolment {
  readonly guid: string
  /** Key of the group's conversation. */
  readonly conversation: number
  readonly uid: string
  readonly scope: GroupScope
  /** Epoch seconds. */
  readonly joinedAt: number
  /** False for an owner whom no record of an import has named as a member yet. */
  readonly explicit: boolean
}

/** What matters about a user when their memberships change. */
export interface HeldUser {
  readonly isActive: boolean
  /** Number of groups they are a member of. */
  readonly groups: number
}

const hold = statement(`
  select uid, deactivated_at is null as "isActive"
  from users
  where app_id = $1
  and uid = any($2::text[])
  order by uid
  for no key update`)

/**
 * Holds users until the transaction ends: nobody deactivates them, so that who is counted stays right, and they enter no
 * other group. @returns those that exist, by uid
 */
export async function holdUsers(
  tx: Transaction,
  appId: number,
  uids: Iterable<string>,
): Promise<ReadonlyMap<string, HeldUser>> {
  const wanted = [...new Set(uids)]
  if (wanted.length === 0) return new Map()
  const rows = await tx.query<{ uid: string; isActive: boolean }>(hold, [appId, wanted])
  const groups = await countGroups(tx, appId, wanted)
  return new Map(rows.map(({ uid, isActive }) => [uid, { isActive, groups: groups.get(uid) ?? 0 }]))
}

const count = statement(`
  select uid, count(*) as groups
  from group_members
  where app_id = $1
  and uid = any($2::text[])
  group by uid`)

/** How many groups users are members of; who is in none is missing. */
export async function countGroups(
  on: Queryable,
  appId: number,
  uids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (uids.length === 0) return new Map()
  const rows = await on.query<{ uid: string; groups: number }>(count, [appId, uids])
  return new Map(rows.map(({ uid, groups }) => [uid, groups]))
}

const insert = statement(`
  insert into group_members (app_id, guid, uid, scope, joined_at, explicit)
  select $1, r.guid, r.uid, r.scope, r.joined_at, r.explicit
  from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[])
    as r(guid, uid, scope, joined_at, explicit)`)

const recount = statement(`
  update groups g
  set members_count = g.members_count + changed.members,
    updated_at = $3
  from (select guid, count(*) as members from unnest($2::text[]) as joined(guid) group by guid) changed
  where g.app_id = $1
  and g.guid = changed.guid`)

/**
 * Stores memberships, with the members' states of the conversations; there is no action message about them. Deactivated members
 * are not counted, and get their state when they come back. Under the locks of the conversations, the users held.
 */
export async function enrol(
  tx: Transaction,
  appId: number,
  members: readonly Enrolment[],
  users: ReadonlyMap<string, HeldUser>,
  now: number,
): Promise<void> {
  if (members.length === 0) return
  await tx.query(insert, [
    appId,
    members.map(({ guid }) => guid),
    members.map(({ uid }) => uid),
    members.map(({ scope }) => scope),
    members.map(({ joinedAt }) => joinedAt),
    members.map(({ explicit }) => explicit),
  ])
  const active = members.filter(({ uid }) => users.get(uid)?.isActive === true)
  if (active.length === 0) return
  await joinConversations(tx, appId, active)
  await tx.query(recount, [appId, active.map(({ guid }) => guid), now])
}
