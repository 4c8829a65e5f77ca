import type { Log } from '../../log.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import type { Database, Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { createUpkeep, type Upkeep } from '../outbound/upkeep.ts'
import { maxRetryAfterSeconds, webhookEndpoints } from './endpoints.ts'

/** The oldest first, by the index `webhook_deliveries_by_creation`: mostly there are none, and nothing else is read. */
const removeOld = statement(`
  delete from webhook_deliveries
  where ctid in (
    select ctid
    from webhook_deliveries
    where created_at < $1
    order by created_at
    limit 2000
    for update skip locked
  )
  returning id`)

/**
 * Removes some deliveries that are too old.
 * @param before epoch seconds, when the youngest of them was made
 * @returns how many
 */
export async function removeOldDeliveries(on: Pick<Queryable, 'query'>, before: number): Promise<number> {
  return (await on.query(removeOld, [before])).length
}

interface WebhookUpkeepOptions {
  readonly database: Database
  readonly ageClock: AgeClock
  readonly log: Log
  /** Seconds that deliveries are kept. */
  readonly retention: number
  /** Seconds between attempts. */
  readonly delays: readonly number[]
}

export function createWebhookUpkeep({ database, ageClock, log, retention, delays }: WebhookUpkeepOptions): Upkeep {
  return createUpkeep({
    ...{ database, log, endpoints: webhookEndpoints },
    longestWaitMs: Math.max(maxRetryAfterSeconds, ...delays) * 1000,
    removeSome: async () => removeOldDeliveries(database, Math.floor((await ageClock.now()) / 1000) - retention),
  })
}
