import { type BodyOf, type claimMessages, limits, type releaseClaims } from '@parley/contract'
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { appKey } from '../../../store/app-key.ts'
import { allOf, type Fragment, statement } from '../../../store/statement.ts'
import { type Filters, isClaimed, readConditionsOf } from './filters.ts'

/** Claims of an app are made one after the other, so that no two reviewers are given the same message. */
const lockClaims = statement("select pg_advisory_xact_lock(hashtextextended('moderation claims ' || $1::int, 0))")

const put = statement(`
  insert into moderation_claims (app_id, message, reviewer, until)
  select $1, c.message, $3, $4
  from unnest($2::bigint[]) as c(message)
  on conflict (app_id, message) do update
  set reviewer = excluded.reviewer,
    until = excluded.until`)

const removeOver = statement(`
  delete from moderation_claims
  where app_id = $1
  and until <= $2`)

const defaultSeconds = 600
const defaultLimit = 10

/**
 * Gives a reviewer messages that nobody else can decide about for some time: those that they name and nobody else has, or the
 * oldest that nobody has.
 */
export async function claim(context: Context, appId: number, body: BodyOf<typeof claimMessages>) {
  const { list, reviewer, ids, limit = defaultLimit, seconds = defaultSeconds, ...filters } = body
  const now = Math.floor(Date.now() / 1000)
  const until = now + seconds
  const found = await readConditionsOf(context.database, appId, filters, list)
  return context.database.transaction(async (tx) => {
    await tx.query(lockClaims, [appId])
    const free = sql`not ${isClaimed()}`
    const mine = sql`exists (
      select
      from moderation_claims c
      where c.app_id = m.app_id
      and c.message = m.id
      and c.reviewer = ${reviewer}
    )`
    const which =
      ids === undefined ? [free] : [sql`m.id = any(${ids.map(Number)}::bigint[])`, sql`(${free} or ${mine})`]
    const most = ids === undefined ? limit : limits.moderation.decisionsPerRequest
    const rows = await tx.run(selectIds(found, which, most))
    await tx.query(removeOver, [appId, now])
    await tx.query(put, [appId, rows.map(({ id }) => id), reviewer, until])
    return { ids: rows.map(({ id }) => String(id)), until }
  })
}

function selectIds({ from, conditions, at, id }: Filters, which: readonly Fragment[], limit: number) {
  return sql<{ id: number }>`
    select m.id
    from ${from}
    where ${allOf([...conditions, ...which])}
    order by ${at}, ${id}
    limit ${limit}`
}

/** Gives back what a reviewer has claimed, all or some of it. @returns how many messages that were */
export async function unclaim(
  { database }: Context,
  appId: number,
  { reviewer, ids }: BodyOf<typeof releaseClaims>,
): Promise<number> {
  const which = ids === undefined ? sql`true` : sql`message = any(${ids.map(Number)}::bigint[])`
  const rows = await database.run(sql`
    delete from moderation_claims
    where app_id = ${appKey(appId)}
    and reviewer = ${reviewer}
    and ${which}
    returning message`)
  return rows.length
}
