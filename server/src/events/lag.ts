import { Gauge, type Registry } from 'prom-client'
import { nowMs } from '../store/clock.ts'
import type { Database } from '../store/database.ts'
import { statement } from '../store/statement.ts'

/** By the index `events_by_id`: of those behind the horizon, mostly none, the first. */
const selectOldest = statement(`
  select min(created_at) as "oldestAt", greatest(0, ${nowMs} / 1000 - min(created_at)) as seconds
  from (
    select created_at
    from events
    where id > (select id from event_horizon)
    order by id
    limit 1
  ) e`)

interface Waiting {
  /** Epoch seconds; null where nothing waits. */
  readonly oldestAt: number | null
  readonly seconds: number | null
}

/** Since when the oldest event waits for the relay, in epoch seconds; null where none does. */
export async function readWaitingSince(database: Pick<Database, 'query'>): Promise<number | null> {
  const [row] = await database.query<Waiting>(selectOldest)
  return row?.oldestAt ?? null
}

/** Publishes how far the relay is behind, read when metrics are asked for. */
export function watchEventLag(registry: Registry, database: Database): void {
  new Gauge({
    name: 'parley_events_behind_seconds',
    help: 'Age of the oldest event that was not handed on to webhooks and notifications; 0 when there is none',
    // Every process says the same.
    aggregator: 'max',
    registers: [registry],
    async collect() {
      // Metrics are answered while the database is away, without what only it knows.
      const [row] = await database.query<Waiting>(selectOldest).catch(() => [])
      if (row !== undefined) this.set(row.seconds ?? 0)
    },
  })
}
