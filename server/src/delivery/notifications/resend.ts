import type { NotificationStatus } from '@parley/contract'
import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { nowMs } from '../../store/clock.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'
import { addSendJobs } from './jobs.ts'
import { timeToLiveMs } from './time-to-live.ts'

/** Which entries of the log: one, or those of a status and a stretch of time, epoch milliseconds. */
export type Resent =
  | { readonly id: number }
  | {
      readonly status: NotificationStatus
      readonly from?: number
      readonly to?: number
      readonly uid?: string
      readonly provider?: string
    }

const batch = 2_000

const ask = statement(`
  with asked as (
    update notification_senders
    set asked = asked + 1
    where app_id = $1
    and provider = any($2::bigint[])
    returning app_id, provider, leased_until, greatest(paused_until, ${nowMs}) as run_at
  )
  ${addSendJobs(`asked where leased_until < ${nowMs}`)}`)

/**
 * Has pushes sent again that are in the log, whatever became of them. They are decided again before that, as each that is
 * about to be sent. Those of a provider that is removed are left as they are.
 * @returns how many
 */
export async function resend(database: Database, appId: number, which: Resent): Promise<number> {
  let count = 0
  let after = 0
  for (;;) {
    const ids = await database.transaction((tx) => resendSome(tx, appId, which, after))
    count += ids.length
    if (ids.length < batch) return count
    after = Math.max(...ids)
  }
}

async function resendSome(tx: Transaction, appId: number, which: Resent, after: number): Promise<number[]> {
  const rows = await tx.run<{ id: number; provider: number }>(sql`
    update notification_deliveries d
    set status = 'pending',
      day = 0,
      reason = null,
      error = null,
      due_at = ${sql.raw(nowMs)},
      expires_at = ${sql.raw(`${nowMs} + ${timeToLiveMs.push}`)},
      ended_at = null
    from (
      select d.id
      from notification_deliveries d
      join notification_providers p on p.app_id = d.app_id and p.key = d.provider
      where ${allOf([sql`d.app_id = ${appKey(appId)}`, sql`d.channel = 'push'`, sql`d.id > ${after}`, ...conditionsOf(which)])}
      order by d.id
      limit ${batch}
      for update of d
    ) c
    where d.app_id = ${appKey(appId)}
    and d.id = c.id
    returning d.id, d.provider`)
  if (rows.length > 0) await tx.query(ask, [appId, [...new Set(rows.map(({ provider }) => provider))]])
  return rows.map(({ id }) => id)
}

function conditionsOf(which: Resent): Fragment[] {
  if ('id' in which) return [sql`d.id = ${which.id}`]
  const { status, from, to, uid, provider } = which
  return [
    sql`d.status = ${status}`,
    ...(from === undefined ? [] : [sql`d.created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`d.created_at <= ${to}`]),
    ...(uid === undefined ? [] : [sql`d.uid = ${uid}`]),
    ...(provider === undefined ? [] : [sql`d.provider_kind = ${provider}`]),
  ]
}
