import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { EngineFailure } from '../../events/types.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { EngineKind } from './ask/line.ts'

/** Figures of engines outside. */
export interface EngineMetrics {
  /** An engine was asked, or left alone since it fails all the time. @param seconds that it took */
  asked(kind: EngineKind, outcome: 'answered' | 'skipped' | EngineFailure['category'], seconds?: number): void
}

const countWaiting = statement(`
  select count(*) as waiting, coalesce(min(updated_at), 0) as oldest
  from message_moderation
  where due_at is not null`)

export function createEngineMetrics(registry: Registry, database: Database, paused: () => number): EngineMetrics {
  const asked = new Counter({
    name: 'parley_moderation_engine_requests_total',
    help: 'Questions to moderation engines by outcome; skipped: the engine failed too often to be asked',
    labelNames: ['engine', 'outcome'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'parley_moderation_engine_seconds',
    help: 'How long moderation engines took to answer, or to fail',
    labelNames: ['engine'],
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 2, 5, 10, 30],
    registers: [registry],
  })
  new Gauge({
    name: 'parley_moderation_engines_failing',
    help: 'Moderation engines that fail, as this process sees them; those that fail again and again are left alone',
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(paused())
    },
  })
  const oldest = new Gauge({
    name: 'parley_moderation_engine_waiting_seconds',
    help: 'For how long the oldest message waits for a moderation engine, of all processes together',
    aggregator: 'max',
    registers: [registry],
  })
  new Gauge({
    name: 'parley_moderation_engine_waiting',
    help: 'Messages that wait for a moderation engine, of all processes together',
    aggregator: 'max',
    registers: [registry],
    async collect() {
      // Metrics are answered while the database is away, without what only it knows.
      const [row] = await database.query<{ waiting: number; oldest: number }>(countWaiting).catch(() => [])
      if (row === undefined) return
      this.set(row.waiting)
      oldest.set(row.waiting === 0 ? 0 : Math.max(0, Math.floor(Date.now() / 1000) - row.oldest))
    },
  })
  return {
    asked(engine, outcome, took) {
      asked.inc({ engine, outcome })
      if (took !== undefined) seconds.observe({ engine }, took)
    },
  }
}
