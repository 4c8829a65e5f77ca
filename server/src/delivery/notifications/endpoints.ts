import { providerColumns } from '../../chat/notifications/providers.ts'
import type { Endpoints } from '../outbound/endpoints.ts'
import { addSendJobs } from './jobs.ts'

/** How long a service outside may take for one attempt, with all that belongs to it. */
export const sendTimeoutMs = 10_000

/** A provider may put itself off by `Retry-After`, but not for longer. */
export const longestPauseMs = 600_000

/** Providers of notifications as those who send by them know them. */
export const providerEndpoints: Endpoints = {
  ...{ table: 'notification_providers', as: 'p', columns: `a.name as "appName", a.region, ${providerColumns}` },
  ...{ states: 'notification_senders', deliveries: 'notification_deliveries', name: 'provider' },
  scheduled: 'd.day = 0 and d.due_at is not null',
  longestPauseMs,
  attemptMs: sendTimeoutMs + 1_000,
  addJobs: addSendJobs,
}
