import type { Log } from '../../log.ts'
import { isTooFar, nowMs } from '../../store/clock.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { type Statement, statement } from '../../store/statement.ts'
import type { Endpoints } from './endpoints.ts'
import { leaseMsOf } from './lease-statements.ts'

/** How often to look for what was forgotten: with the lease, what a killed process left goes on within 15 s. */
const rescueEveryMs = 4_000
const seldomMs = 60_000
const hastenedAtOnce = 1_000

/** What has been due for a while and nobody delivers: a process was killed, or a job was lost with the database. */
function rescueStatement({ table, states, deliveries, name, scheduled, untried, addJobs }: Endpoints): Statement {
  const waits = (condition: string) => `exists (
        select
        from ${deliveries} d
        where d.app_id = s.app_id
        and d.${name} = s.${name}
        and ${condition}
      )`
  const overdue = waits(`${scheduled} and d.due_at < ${nowMs} - 2000`)
  return statement(`
  with forgotten as (
    select s.app_id, s.${name}, 0::bigint as run_at
    from ${states} s
    join ${table} e on e.app_id = s.app_id and e.key = s.${name}
    join apps a on a.app_id = s.app_id
    where e.enabled
    and a.paused_at is null
    and s.leased_until < ${nowMs}
    and s.paused_until < ${nowMs} - 2000
    and (
      ${untried === undefined ? overdue : `${overdue} or ${waits(untried)}`}
    )
  )
  ${addJobs('forgotten')}`)
}

/** Leases and pauses that a clock gave which was ahead: they would hold up everything until the time comes that it showed. */
function freeingStatement(endpoints: Endpoints): Statement {
  const isLeaseTooFar = isTooFar('leased_until', leaseMsOf(endpoints))
  const isPauseTooFar = isTooFar('paused_until', endpoints.longestPauseMs)
  return statement(`
  update ${endpoints.states}
  set leased_by = case when ${isLeaseTooFar} then null else leased_by end,
    leased_until = case when ${isLeaseTooFar} then 0 else leased_until end,
    paused_until = case when ${isPauseTooFar} then 0 else paused_until end
  where ${isLeaseTooFar}
  or ${isPauseTooFar}
  returning app_id`)
}

/** Some of what would wait for longer than anything does is due now, by the index on due times. @param longestWaitMs between attempts, or before the first */
export function hasteningStatement(
  { states, deliveries, name, scheduled }: Endpoints,
  longestWaitMs: number,
): Statement {
  return statement(`
  update ${deliveries} d
  set due_at = ${nowMs}
  from (
    select s.app_id, s.${name}, w.id
    from ${states} s
    cross join lateral (
      select d.id
      from ${deliveries} d
      where d.app_id = s.app_id
      and d.${name} = s.${name}
      and ${scheduled}
      and ${isTooFar('d.due_at', longestWaitMs)}
      order by d.due_at desc
      limit ${hastenedAtOnce}
    ) w
  ) w
  where d.app_id = w.app_id
  and d.${name} = w.${name}
  and d.id = w.id
  and ${scheduled}
  returning d.id`)
}

/** Finds what was forgotten and removes what is too old, every now and then. */
export interface Upkeep {
  start(): void
  stop(): Promise<void>
}

export interface UpkeepOptions {
  readonly database: Database
  readonly log: Log
  readonly endpoints: Endpoints
  /** How long deliveries wait for an attempt at most, in milliseconds. */
  readonly longestWaitMs: number
  /** Has what else was forgotten looked after. */
  rescueMore?(): Promise<void>
  /** Removes some of what is too old. @returns how much; 0: there is no more */
  removeSome(): Promise<number>
}

export function createUpkeep(options: UpkeepOptions): Upkeep {
  const { database, log, endpoints, rescueMore, removeSome } = options
  const rescue = rescueStatement(endpoints)
  const free = freeingStatement(endpoints)
  const hasten = hasteningStatement(endpoints, options.longestWaitMs)
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()
  let stopped = false
  let nextSeldom = Number.NEGATIVE_INFINITY

  const work = async () => {
    try {
      await database.query(rescue)
      await rescueMore?.()
      if (performance.now() < nextSeldom) return
      nextSeldom = performance.now() + seldomMs
      await database.query(free)
      while (!stopped && (await database.query(hasten)).length > 0);
      while (!stopped && (await removeSome()) > 0);
    } catch (error) {
      if (!isConnectionFailure(error)) log.error({ err: error }, `the maintenance of ${endpoints.deliveries} failed`)
    }
  }
  const round = () => {
    working = work().then(() => {
      // Not all processes at once.
      if (!stopped) timer = setTimeout(round, rescueEveryMs * (0.7 + Math.random() * 0.6)).unref()
    })
  }
  return {
    start: round,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await working
    },
  }
}
