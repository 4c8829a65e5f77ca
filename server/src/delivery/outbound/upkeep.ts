import type { Log } from '../../log.ts'
import { nowMs } from '../../store/clock.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { type Statement, statement } from '../../store/statement.ts'
import type { Endpoints } from './endpoints.ts'

/** How often to look for what was forgotten: with the lease, what a killed process left goes on within 15 s. */
const rescueEveryMs = 4_000
const removeEveryMs = 60_000

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

/** Finds what was forgotten and removes what is too old, every now and then. */
export interface Upkeep {
  start(): void
  stop(): Promise<void>
}

export interface UpkeepOptions {
  readonly database: Database
  readonly log: Log
  readonly endpoints: Endpoints
  /** Has what else was forgotten looked after. */
  rescueMore?(): Promise<void>
  /** Removes some of what is too old. @returns how much; 0: there is no more */
  removeSome(): Promise<number>
}

export function createUpkeep({ database, log, endpoints, rescueMore, removeSome }: UpkeepOptions): Upkeep {
  const rescue = rescueStatement(endpoints)
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()
  let stopped = false
  let nextRemoval = 0

  const work = async () => {
    try {
      await database.query(rescue)
      await rescueMore?.()
      if (Date.now() < nextRemoval) return
      nextRemoval = Date.now() + removeEveryMs
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
