import { sql } from 'kysely'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Reads } from '../../store/reads.ts'
import { createPendingCount } from '../pending.ts'

/** Figures of deliveries to webhooks. */
export interface DeliveryMetrics {
  /** An attempt was made, and this is what became of the delivery: pending is to be tried again. */
  attempted(outcome: 'delivered' | 'failed' | 'pending'): void
  /** A before_message webhook was called; skipped: its endpoint failed too often to be called. */
  hooked(outcome: 'passed' | 'blocked' | 'failed' | 'skipped'): void
}

/** By the two partial indexes; what was left of removed webhooks waits for nothing. */
const countPending = sql<{ pending: number }>`
  select count(*) as pending
  from (
    select app_id, webhook from webhook_deliveries where due_at is not null and attempts = 0
    union all
    select app_id, webhook from webhook_deliveries where due_at is not null and attempts > 0
  ) d
  join webhooks w on w.app_id = d.app_id and w.key = d.webhook`

export function createDeliveryMetrics(registry: Registry, figures: Reads): DeliveryMetrics {
  const attempts = new Counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts to deliver to webhooks by outcome; pending ones will be retried',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const hooks = new Counter({
    name: 'parley_webhook_before_message_total',
    help: 'Calls of before_message webhooks by outcome; skipped: the endpoint failed too often to be called',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const readPending = createPendingCount(figures, countPending)
  new Gauge({
    name: 'parley_webhook_deliveries_pending',
    help: 'Pending deliveries, of all processes together',
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const pending = await readPending()
      if (pending !== undefined) this.set(pending)
    },
  })
  return {
    attempted: (outcome) => attempts.inc({ outcome }),
    hooked: (outcome) => hooks.inc({ outcome }),
  }
}
