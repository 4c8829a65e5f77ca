import type { Membership } from '../../chat/groups/access.ts'
import { deactivatedUser, unknownUser } from '../../chat/users/require.ts'
import { readUsers } from '../../chat/users/rows.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Target } from './rules.ts'

const lockUsers = statement(`
  select uid
  from users
  where app_id = $1
  and uid = any($2::text[])
  order by uid
  for no key update`)

/**
 * Locks users whose memberships are about to change, so that nobody is deactivated meanwhile (deactivated users are not counted),
 * and nobody takes two last places at once. To be called before the group is locked: whoever locks both takes the users first, by
 * uid, so that no two wait for each other.
 */
export async function holdUsers(tx: Transaction, appId: number, uids: readonly string[]): Promise<void> {
  if (uids.length > 0) await tx.query(lockUsers, [appId, uids])
}

const selectMemberships = statement(`
  select uid, scope, joined_at as "joinedAt"
  from group_members
  where app_id = $1
  and guid = $2
  and uid = any($3::text[])`)

const selectBans = statement(`
  select uid
  from group_bans
  where app_id = $1
  and guid = $2
  and uid = any($3::text[])`)

const countGroups = statement(`
  select uid, count(*) as groups
  from group_members
  where app_id = $1
  and uid = any($2::text[])
  group by uid`)

/** How users stand to a group, by uid, those who do not exist too. Users held, group locked. */
export async function readTargets(
  tx: Transaction,
  appId: number,
  guid: string,
  uids: readonly string[],
): Promise<ReadonlyMap<string, Target>> {
  if (uids.length === 0) return new Map()
  const users = await readUsers(tx, appId, uids)
  const memberships = await tx.query<Membership>(selectMemberships, [appId, guid, uids])
  const bans = await tx.query<{ uid: string }>(selectBans, [appId, guid, uids])
  const counts = await tx.query<{ uid: string; groups: number }>(countGroups, [appId, uids])

  const membershipOf = new Map(memberships.map((membership) => [membership.uid, membership]))
  const banned = new Set(bans.map(({ uid }) => uid))
  const groupsOf = new Map(counts.map(({ uid, groups }) => [uid, groups]))
  return new Map(
    uids.map((uid) => [
      uid,
      {
        uid,
        user: users.get(uid),
        membership: membershipOf.get(uid),
        isBanned: banned.has(uid),
        groups: groupsOf.get(uid) ?? 0,
      },
    ]),
  )
}

/** A target that there must be. */
export type KnownTarget = Target & { readonly user: NonNullable<Target['user']> }

/** How one user stands to a group. @throws 404 `ERR_UID_NOT_FOUND` */
export async function requireTarget(tx: Transaction, appId: number, guid: string, uid: string): Promise<KnownTarget> {
  const target = (await readTargets(tx, appId, guid, [uid])).get(uid)
  const user = target?.user
  if (target === undefined || user === undefined) throw unknownUser(uid)
  return { ...target, user }
}

/** As `requireTarget`, of a user who is not deactivated. @throws 404 `ERR_UID_NOT_FOUND` */
export async function requireActiveTarget(
  tx: Transaction,
  appId: number,
  guid: string,
  uid: string,
): Promise<KnownTarget> {
  const target = await requireTarget(tx, appId, guid, uid)
  if (target.user.deactivatedAt !== null) throw deactivatedUser(uid)
  return target
}
