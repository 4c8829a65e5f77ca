import { sql } from 'kysely'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Reads } from '../../store/reads.ts'
import { createPendingCount } from '../pending.ts'
import type { SendResult } from './results.ts'

/** Figures of notifications. */
export interface NotificationMetrics {
  /** Attempts were made or left out, and this is what became of the notifications: pending is to be tried again. */
  ended(provider: string, results: ReadonlyArray<Pick<SendResult, 'status'>>): void
}

const countPending = sql<{ pending: number }>`
  select count(*) as pending
  from notification_deliveries d
  join notification_providers p on p.app_id = d.app_id and p.key = d.provider
  where d.day = 0
  and d.due_at is not null`

export function createNotificationMetrics(registry: Registry, figures: Reads): NotificationMetrics {
  const attempts = new Counter({
    name: 'parley_notifications_total',
    help: 'Attempts to send notifications by provider and outcome; pending ones will be retried',
    labelNames: ['provider', 'outcome'],
    registers: [registry],
  })
  const readPending = createPendingCount(figures, countPending)
  new Gauge({
    name: 'parley_notifications_pending',
    help: 'Notifications that wait to be sent, of all processes together',
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const pending = await readPending()
      if (pending !== undefined) this.set(pending)
    },
  })
  return {
    ended(provider, results) {
      const counts = new Map<SendResult['status'], number>()
      for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1)
      for (const [outcome, count] of counts) attempts.inc({ provider, outcome }, count)
    },
  }
}
