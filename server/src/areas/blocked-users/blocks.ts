import type { ApiError, ErrorBody, listBlockedUsers, QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { everywhere, hasText } from '../../chat/name-search.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { roleDenied, roleList } from '../../chat/roles/rules.ts'
import { keepActive } from '../../chat/users/locks.ts'
import { unknownUser } from '../../chat/users/require.ts'
import { readUsers, type UserRow, userColumns } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { ChatEvent } from '../../events/types.ts'
import { type PageRequest, totalOf } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'
import * as errors from './errors.ts'

/** What became of each uid, by uid. */
export type OutcomeByUid = Record<string, { success: boolean; message?: string } & Partial<ErrorBody>>

const insert = statement(`
  insert into blocks (app_id, blocker, blocked, blocked_at)
  select $1, $2, b.uid, $4
  from unnest($3::text[]) as b(uid)
  on conflict (app_id, blocker, blocked) do nothing
  returning blocked`)

/**
 * Blocks users for another; one that is blocked already stays so, with its time.
 * @param policy of the blocker's role, if they act themselves; it may only allow blocking users with some roles
 */
export async function blockUsers(
  { database, events }: Pick<Context, 'database' | 'events'>,
  appId: number,
  blocker: string,
  uids: readonly string[],
  policy?: RolePolicy,
): Promise<OutcomeByUid> {
  const wanted = lowerCased(uids)
  return database.transaction(async (tx) => {
    const active = await keepActive(tx, appId, [blocker, ...wanted])
    if (!active.has(blocker)) throw unknownUser(blocker)
    const denials = await denialsByRole(tx, appId, policy, 'blockUser.allowedRoles', wanted)
    const outcomes = wanted.map((uid): [string, OutcomeByUid[string]] => {
      const refusal = refusalOf(blocker, uid, active) ?? denials.get(uid)
      if (refusal !== undefined) return [uid, { success: false, ...refusal.toBody() }]
      return [uid, { success: true, message: `${blocker} blocked ${uid}.` }]
    })
    const blocked = outcomes.filter(([, outcome]) => outcome.success).map(([uid]) => uid)
    const values = [appId, blocker, blocked, Math.floor(Date.now() / 1000)]
    const changed = await tx.query<{ blocked: string }>(insert, values)
    await events.raise(tx, appId, blockEvents('user_blocked', blocker, changed))
    return Object.fromEntries(outcomes)
  })
}

function refusalOf(blocker: string, uid: string, active: ReadonlySet<string>): ApiError | undefined {
  if (uid === blocker) return errors.noSelfBlock(uid)
  if (!active.has(uid)) return unknownUser(uid)
  if (uid === systemUid) return errors.systemCannotBeBlocked(uid)
  if (blocker === systemUid) return errors.systemCannotBlock(blocker)
  return undefined
}

const remove = statement(`
  delete from blocks
  where app_id = $1
  and blocker = $2
  and blocked = any($3::text[])
  returning blocked`)

/** Unblocks users; one that was not blocked is fine. @param policy as for `blockUsers` */
export async function unblockUsers(
  { database, events }: Pick<Context, 'database' | 'events'>,
  appId: number,
  blocker: string,
  uids: readonly string[],
  policy?: RolePolicy,
): Promise<OutcomeByUid> {
  const wanted = lowerCased(uids)
  const denials = await denialsByRole(database, appId, policy, 'unblockedUser.allowedRoles', wanted)
  const allowed = wanted.filter((uid) => !denials.has(uid))
  await database.transaction(async (tx) => {
    const changed = await tx.query<{ blocked: string }>(remove, [appId, blocker, allowed])
    await events.raise(tx, appId, blockEvents('user_unblocked', blocker, changed))
  })
  const outcomes = wanted.map((uid): [string, OutcomeByUid[string]] => {
    const denial = denials.get(uid)
    if (denial !== undefined) return [uid, { success: false, ...denial.toBody() }]
    return [uid, { success: true, message: `${blocker} unblocked ${uid}.` }]
  })
  return Object.fromEntries(outcomes)
}

/** An event for each block that was set or lifted. */
function blockEvents(
  trigger: 'user_blocked' | 'user_unblocked',
  by: string,
  changed: ReadonlyArray<{ blocked: string }>,
): ChatEvent[] {
  return changed.map(({ blocked }) => ({ trigger, by, uids: [blocked] }))
}

/** Those of some users whose roles are not among those that a permission is narrowed to, each with the refusal. */
async function denialsByRole(
  on: Queryable,
  appId: number,
  policy: RolePolicy | undefined,
  key: 'blockUser.allowedRoles' | 'unblockedUser.allowedRoles',
  uids: readonly string[],
): Promise<Map<string, ApiError>> {
  const roles = roleList(policy, key)
  if (policy === undefined || roles === null) return new Map()
  const users = [...(await readUsers(on, appId, uids)).values()]
  return new Map(users.filter(({ role }) => !roles.includes(role)).map(({ uid }) => [uid, roleDenied(policy, key)]))
}

function lowerCased(uids: readonly string[]): string[] {
  return [...new Set(uids.map((uid) => uid.toLowerCase()))]
}

/**
 * A page of the users whom a user blocked, or who blocked them, newest block first, and the total. Deactivated ones are not
 * listed; their blocks stay.
 * @param visibleRoles only users with these roles, if the user's own role cannot see all
 */
export async function selectBlocked(
  on: Queryable,
  appId: number,
  uid: string,
  { direction = 'blockedByMe', searchKey }: QueryOf<typeof listBlockedUsers>,
  page: PageRequest,
  visibleRoles: readonly string[] | null = null,
): Promise<{ users: UserRow[]; total: number }> {
  const sides = {
    blockedByMe: sql`select blocked as uid, ordinal from blocks where app_id = ${appKey(appId)} and blocker = ${uid}`,
    hasBlockedMe: sql`select blocker as uid, ordinal from blocks where app_id = ${appKey(appId)} and blocked = ${uid}`,
  }
  const blocks = direction === 'both' ? sql`${sides.blockedByMe} union all ${sides.hasBlockedMe}` : sides[direction]
  const conditions: Fragment[] = [sql`u.deactivated_at is null`]
  if (visibleRoles !== null) conditions.push(sql`u.role = any(${visibleRoles}::text[])`)
  if (searchKey !== undefined) {
    conditions.push(hasText({ key: searchKey, ...everywhere }, { name: sql`u.name_key`, id: sql`u.uid` }))
  }
  // The offset keeps it a look by key for each; the planner would rather read all users in the order of their uids.
  const matching = sql`
    from (select uid, max(ordinal) as ordinal from (${blocks}) b group by uid) b
    cross join lateral (
      select *
      from users u
      where u.app_id = ${appKey(appId)}
      and u.uid = b.uid
      offset 0
    ) u
    where ${allOf(conditions)}`
  const rows = await on.run<UserRow & { total: number }>(
    sql`
    select ${sql.raw(userColumns)}, count(*) over () as total
    ${matching}
    order by b.ordinal desc
    limit ${page.perPage} offset ${page.offset}` as Fragment<UserRow & { total: number }>,
  )
  return { users: rows, total: await totalOf(on, rows, page, matching) }
}
