import { Counter, Gauge, type Registry } from 'prom-client'
import { nowMs } from '../../store/clock.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { dayMs } from './clock.ts'

/** What is counted, as Prometheus metrics of this process. */
export interface UsageMetrics {
  readonly sent: Counter
  readonly receipts: Counter<'receipt'>
}

const selectActiveToday = statement(`
  select a.name as app, sum(bit_count(b.bits))::int as active
  from active_user_bits b
  join apps a on a.app_id = b.app_id
  where b.day = ${nowMs} / ${dayMs}
  group by a.name`)

export function createUsageMetrics(registry: Registry, database: Database): UsageMetrics {
  new Gauge({
    name: 'parley_active_users',
    help: 'Users who were active today (UTC), by app',
    labelNames: ['app'],
    // The same figure from every process.
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const rows = await database.query<{ app: string; active: number }>(selectActiveToday).catch(() => [])
      this.reset()
      for (const { app, active } of rows) this.set({ app }, active)
    },
  })
  return {
    sent: new Counter({
      name: 'parley_messages_sent_total',
      help: 'Messages that were sent',
      registers: [registry],
    }),
    receipts: new Counter({
      name: 'parley_receipts_total',
      help: 'Marks that rose: messages that were delivered or read',
      labelNames: ['receipt'],
      registers: [registry],
    }),
  }
}
