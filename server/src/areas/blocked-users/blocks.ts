import { ApiError, type ErrorBody, type listBlockedUsers, type QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import type { PageRequest } from '../../paging.ts'
import type { Database, Queryable } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'
import { systemUid } from '../apps/index.ts'
import { keepActive, nameKey, type UserRow, unknownUser, userColumns } from '../users/index.ts'

/** What became of each uid, by uid. */
export type OutcomeByUid = Record<string, { success: boolean; message?: string } & Partial<ErrorBody>>

const insert = statement(`
  insert into blocks (app_id, blocker, blocked, blocked_at)
  select $1, $2, b.uid, $4
  from unnest($3::text[]) as b(uid)
  on conflict (app_id, blocker, blocked) do nothing`)

/** Blocks users for another; one that is blocked already stays so, with its time. */
export async function blockUsers(
  database: Database,
  appId: number,
  blocker: string,
  uids: readonly string[],
): Promise<OutcomeByUid> {
  const wanted = lowerCased(uids)
  return database.transaction(async (tx) => {
    const active = await keepActive(tx, appId, [blocker, ...wanted])
    if (!active.has(blocker)) throw unknownUser(blocker)
    const outcomes = wanted.map((uid): [string, OutcomeByUid[string]] => {
      const refusal = refusalOf(blocker, uid, active)
      if (refusal !== undefined) return [uid, { success: false, ...refusal.toBody() }]
      return [uid, { success: true, message: `${blocker} blocked ${uid}.` }]
    })
    const blocked = outcomes.filter(([, outcome]) => outcome.success).map(([uid]) => uid)
    await tx.query(insert, [appId, blocker, blocked, Math.floor(Date.now() / 1000)])
    return Object.fromEntries(outcomes)
  })
}

function refusalOf(blocker: string, uid: string, active: ReadonlySet<string>): ApiError | undefined {
  if (uid === blocker) return new ApiError('ERR_CANNOT_BLOCK_SELF', `${uid} cannot block himself.`)
  if (!active.has(uid)) return unknownUser(uid)
  if (uid === systemUid) return new ApiError('ERR_PERMISSION_DENIED', `${systemUid} cannot be blocked.`)
  return undefined
}

const remove = statement(`
  delete from blocks
  where app_id = $1
  and blocker = $2
  and blocked = any($3::text[])`)

/** Unblocks users; one that was not blocked is fine. */
export async function unblockUsers(
  database: Database,
  appId: number,
  blocker: string,
  uids: readonly string[],
): Promise<OutcomeByUid> {
  const wanted = lowerCased(uids)
  await database.query(remove, [appId, blocker, wanted])
  return Object.fromEntries(wanted.map((uid) => [uid, { success: true, message: `${blocker} unblocked ${uid}.` }]))
}

function lowerCased(uids: readonly string[]): string[] {
  return [...new Set(uids.map((uid) => uid.toLowerCase()))]
}

/** A page of the users that a user blocked, or who blocked him, newest block first, and how many there are. */
export async function selectBlocked(
  on: Queryable,
  appId: number,
  uid: string,
  { direction = 'blockedByMe', searchKey }: QueryOf<typeof listBlockedUsers>,
  page: PageRequest,
): Promise<{ users: UserRow[]; total: number }> {
  const sides = {
    blockedByMe: sql`select blocked as uid, ordinal from blocks where app_id = ${appId} and blocker = ${uid}`,
    hasBlockedMe: sql`select blocker as uid, ordinal from blocks where app_id = ${appId} and blocked = ${uid}`,
  }
  const blocks = direction === 'both' ? sql`${sides.blockedByMe} union all ${sides.hasBlockedMe}` : sides[direction]
  const conditions: Fragment[] = [sql`u.app_id = ${appId}`]
  if (searchKey !== undefined) {
    const key = nameKey(searchKey)
    conditions.push(sql`(starts_with(u.name_key, ${key}) or starts_with(u.uid, ${key}))`)
  }
  const rows = await on.run<UserRow & { total: number }>(
    sql`
    select ${sql.raw(userColumns)}, count(*) over () as total
    from (select uid, max(ordinal) as ordinal from (${blocks}) b group by uid) b
    join users u on u.uid = b.uid
    where ${allOf(conditions)}
    order by b.ordinal desc
    limit ${page.perPage} offset ${page.offset}` as Fragment<UserRow & { total: number }>,
  )
  return { users: rows, total: rows[0]?.total ?? 0 }
}
