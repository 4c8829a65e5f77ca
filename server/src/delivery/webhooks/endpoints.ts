import { limits } from '@parley/contract'
import { addJobs, targetColumns } from '../../areas/webhooks/index.ts'
import type { Endpoints } from '../outbound/endpoints.ts'

/** An endpoint may put itself off by `Retry-After`, but not for longer. */
export const maxRetryAfterSeconds = 3600

/** Webhooks as those who deliver to them know them. */
export const webhookEndpoints: Endpoints = {
  ...{ table: 'webhooks', as: 'w', columns: targetColumns },
  ...{ states: 'webhook_states', deliveries: 'webhook_deliveries', name: 'webhook' },
  scheduled: 'd.due_at is not null and d.attempts > 0',
  untried: 'd.due_at is not null and d.attempts = 0',
  longestPauseMs: maxRetryAfterSeconds * 1000,
  attemptMs: 1000 * limits.webhooks.timeoutSeconds + 1000,
  addJobs,
}
