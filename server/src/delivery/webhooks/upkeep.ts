import { addJobs } from '../../areas/webhooks/index.ts'
import type { Log } from '../../log.ts'
import { nowMs } from '../../store/clock.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** What has been due for a while and nobody delivers: a process was killed, or a job was lost with the database. */
const rescue = statement(`
  with forgotten as (
    select s.app_id, s.webhook, 0::bigint as run_at
    from webhook_states s
    join webhooks w on w.app_id = s.app_id and w.key = s.webhook
    where w.enabled
    and s.leased_until < ${nowMs}
    and s.paused_until < ${nowMs} - 2000
    and (
      exists (
        select
        from webhook_deliveries d
        where d.app_id = s.app_id
        and d.webhook = s.webhook
        and d.due_at is not null
        and d.attempts = 0
      )
      or exists (
        select
        from webhook_deliveries d
        where d.app_id = s.app_id
        and d.webhook = s.webhook
        and d.due_at < ${nowMs} - 2000
        and d.attempts > 0
      )
    )
  )
  ${addJobs('forgotten')}`)

const removeOld = statement(`
  delete from webhook_deliveries
  where ctid in (
    select ctid
    from webhook_deliveries
    where created_at < $1
    limit 2000
    for update skip locked
  )
  returning id`)

/** How often to look for what was forgotten: with the lease, what a killed process left goes on within 15 s. */
const rescueEveryMs = 4_000
const removeEveryMs = 60_000

/** Finds what was forgotten and removes what is too old, every now and then. */
export interface Upkeep {
  start(): void
  stop(): Promise<void>
}

/** @param retention seconds that deliveries are kept */
export function createUpkeep(database: Database, log: Log, retention: number): Upkeep {
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()
  let stopped = false
  let nextRemoval = 0

  const work = async () => {
    try {
      await database.query(rescue)
      if (Date.now() < nextRemoval) return
      nextRemoval = Date.now() + removeEveryMs
      const before = Math.floor(Date.now() / 1000) - retention
      while (!stopped && (await database.query(removeOld, [before])).length > 0);
    } catch (error) {
      if (!isConnectionFailure(error)) log.error({ err: error }, 'the maintenance of webhook deliveries failed')
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
