import { limits } from '@parley/contract'
import { addJobs, type TargetRow, targetColumns } from '../../areas/webhooks/index.ts'
import { nowMs } from '../../store/clock.ts'
import type { Database, Queryable } from '../../store/database.ts'
import { type Statement, statement } from '../../store/statement.ts'

/** One webhook. */
export interface WebhookKey {
  readonly appId: number
  readonly webhook: number
}

/** How delivering to a webhook has gone so far. */
export interface Health {
  /** Attempts that failed one after the other, up to now. */
  readonly failures: number
  /** Epoch milliseconds; null when the last attempt succeeded. */
  readonly failingSince: number | null
}

/**
 * Who delivers to a webhook holds it for this long, and renews it in time; a killed process's are free thereafter. It is
 * short so that webhooks go on soon, and long enough that a busy machine or database renews it a few times.
 */
const leaseMs = 9_000
const renewMs = 2_000
/** An attempt that begins must be over before somebody else may begin one. */
const attemptMs = 1000 * limits.webhooks.timeoutSeconds + 1000

const take = statement(`
  update webhook_states
  set leased_by = $3,
    leased_until = ${nowMs} + ${leaseMs}
  where app_id = $1
  and webhook = $2
  and leased_until < ${nowMs}
  and paused_until <= ${nowMs}
  returning failures, failing_since as "failingSince"`)

const renew = statement(`
  update webhook_states
  set leased_until = ${nowMs} + ${leaseMs}
  where app_id = $1
  and webhook = $2
  and leased_by = $3
  and leased_until > ${nowMs}
  returning webhook`)

const dropAll = statement(`
  update webhook_states
  set leased_by = null,
    leased_until = 0
  where leased_by is not null
  returning webhook`)

const look = statement(`
  select s.asked, ${targetColumns}
  from webhook_states s
  join webhooks w on w.app_id = s.app_id and w.key = s.webhook
  join apps a on a.app_id = s.app_id
  where s.app_id = $1
  and s.webhook = $2
  and s.leased_by = $3
  and s.leased_until > ${nowMs}`)

/** Nothing is due: lets go, unless something has become due meanwhile, and has a job begin at the next due time. */
const release = statement(`
  with released as (
    update webhook_states
    set leased_by = null,
      leased_until = 0
    where app_id = $1
    and webhook = $2
    and leased_by = $3
    and asked = $4
    returning app_id, webhook
  ),
  added as (
    ${addJobs(`(
      select r.app_id, r.webhook, (
        select min(due_at)
        from webhook_deliveries d
        where d.app_id = r.app_id
        and d.webhook = r.webhook
        and d.due_at is not null
        and d.attempts > 0
      ) as run_at
      from released r
    ) r
    where run_at is not null`)}
  )
  select (select count(*) from released) as released, (select jobs from added) as jobs`)

/** Lets go at once; a job goes on when the pause is over, unless the webhook is disabled. */
const interrupt = statement(`
  with released as (
    update webhook_states
    set leased_by = null,
      leased_until = 0,
      paused_until = case when $4::bigint > 0 then ${nowMs} + $4::bigint else 0 end
    where app_id = $1
    and webhook = $2
    and leased_by = $3
    returning app_id, webhook, greatest(paused_until, ${nowMs}) as run_at
  )
  ${addJobs(`(
    select r.app_id, r.webhook, r.run_at
    from released r
    join webhooks w on w.app_id = r.app_id and w.key = r.webhook
    where w.enabled
  ) r`)}`)

const wait = statement(`
  ${addJobs(`(
    select app_id, webhook, paused_until as run_at
    from webhook_states
    where app_id = $1
    and webhook = $2
    and paused_until > ${nowMs}
    and leased_until < ${nowMs}
  ) s`)}`)

/** The right to deliver to one webhook, that one process at a time has. */
export interface Lease {
  /** Health at the beginning. */
  readonly health: Health
  /** False once it was not renewed in time: another process may have it soon. It does not come back. */
  readonly isHeld: boolean
  /** The webhook as it is now, and how often it was asked to deliver; undefined when the lease or the webhook is gone. */
  look(): Promise<{ asked: number; row: TargetRow } | undefined>
  /** Ends it where nothing is due. @returns false when something has become due since `asked` was read */
  release(asked: number): Promise<boolean>
  /** Ends it where something is left to do. @param pauseMs how long nobody shall try */
  interrupt(pauseMs: number): Promise<void>
  /** Stops renewing it. */
  close(): void
}

/** @returns undefined when another process has it, or it is paused; then a job begins when the pause is over */
export async function takeLease(database: Database, key: WebhookKey, holder: string): Promise<Lease | undefined> {
  const names = [key.appId, key.webhook]
  let validUntil = performance.now() + leaseMs
  let isLost = false
  const [health] = await database.query<Health>(take, [...names, holder])
  if (health === undefined) {
    await database.query(wait, names)
    return undefined
  }
  const renewing = setInterval(async () => {
    const startedAt = performance.now()
    const renewed = await runQuietly(database, renew, [...names, holder])
    if (renewed) validUntil = startedAt + leaseMs
  }, renewMs).unref()
  // What was left out meanwhile must not be overtaken by what comes later, so there is no way back.
  const isHeld = () => {
    isLost ||= performance.now() >= validUntil - attemptMs
    return !isLost
  }

  return {
    health,
    get isHeld() {
      return isHeld()
    },
    async look() {
      if (!isHeld()) return undefined
      const [row] = await database.query<TargetRow & { asked: number }>(look, [...names, holder])
      return row && { asked: row.asked, row }
    },
    async release(asked) {
      const [row] = await database.query<{ released: number }>(release, [...names, holder, asked])
      return row?.released === 1
    },
    async interrupt(pauseMs) {
      await database.query(interrupt, [...names, holder, Math.ceil(pauseMs)])
    },
    close: () => clearInterval(renewing),
  }
}

/**
 * Frees what processes held that are gone. Only for one who knows that no others serve this database, as at the start of
 * a service with a database of its own.
 */
export async function dropLeases(database: Database): Promise<void> {
  await database.query(dropAll)
}

/** What fails here is tried again, and noticed by the lease running out. */
async function runQuietly(on: Queryable, text: Statement, values: unknown[]): Promise<boolean> {
  try {
    return (await on.query(text, values)).length > 0
  } catch {
    return false
  }
}
