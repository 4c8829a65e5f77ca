import { deliverTask, deliveryId, type Target } from '../../areas/webhooks/index.ts'
import type { Config } from '../../config/index.ts'
import type { Events } from '../../events/index.ts'
import type { JobRunner } from '../../jobs/runner.ts'
import type { Log } from '../../log.ts'
import type { FileLinks } from '../../media/links.ts'
import type { Metrics } from '../../metrics.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import type { Reads } from '../../store/reads.ts'
import type { Secrets } from '../../store/secrets.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { Poster } from '../outbound/http.ts'
import { createPace } from '../outbound/pace.ts'
import { type Attempt, attempt } from './attempt.ts'
import { type BeforeMessage, createBeforeMessage } from './before-message.ts'
import { deliverDue } from './deliver.ts'
import { enqueueDeliveries } from './enqueue.ts'
import { createDeliveryMetrics } from './metrics.ts'
import { type Body, createBodies, type Rendered } from './render.ts'
import { listenedEvents } from './subscriptions.ts'
import { createWebhookUpkeep } from './upkeep.ts'

export { webhookEndpoints } from './endpoints.ts'

/** Delivers events to webhooks. */
export interface WebhookDelivery {
  /** Asked before a message is sent. */
  readonly hooks: BeforeMessage
  /** Sends a sample event now. @param id number of the delivery */
  test(target: Target, id: number): Promise<Attempt>
  /** @returns what an attempt of a delivery would send now; undefined where its event is gone or cannot be shown */
  bodyOf(target: Target, delivery: Rendered): Promise<string | undefined>
  start(): void
  /** No new attempts; the job runner lets those under way end. What waits is left to others, or to the next start. */
  stop(): Promise<void>
}

export interface WebhookDeliveryOptions {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  readonly database: Database
  readonly ageClock: AgeClock
  /** Connections on which rows are counted for the metrics. */
  readonly figures: Reads
  readonly secrets: Secrets
  readonly invalidation: Invalidation
  readonly events: Events
  /** Runs deliveries; the task is registered here. */
  readonly jobs: JobRunner
  readonly poster: Poster
  readonly fileLinks: FileLinks
  readonly tracing: Tracing | undefined
}

export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { config, log, database, ageClock, secrets, invalidation, events, poster, jobs, fileLinks, tracing } = options
  const metrics = createDeliveryMetrics(options.metrics.registry, options.figures)
  const bodies = createBodies(database, fileLinks)
  const stopping = new AbortController()
  const deliverOptions = {
    ...{
      database,
      ageClock,
      invalidation,
      secrets,
      log,
      poster,
      bodies,
      metrics,
      tracing,
      pace: createPace(options.metrics.demand),
    },
    delays: config.webhooks.retrySchedule,
    disableAfter: config.webhooks.disableAfterHours * 3600,
  }
  jobs.register(deliverTask, async (payload) => {
    const { appId, webhook } = payload as { appId: number; webhook: number }
    await deliverDue(deliverOptions, { appId, endpoint: webhook }, stopping.signal)
  })
  const upkeep = createWebhookUpkeep({
    ...{ database, ageClock, log, retention: config.eventsRetentionDays * 86_400 },
    delays: config.webhooks.retrySchedule,
  })
  events.keepFor(listenedEvents(database))
  events.onAdvance(enqueueDeliveries)

  return {
    hooks: createBeforeMessage({ database, invalidation, secrets, poster, metrics, fileLinks }),
    async test(target, id) {
      const { text } = (await bodies.render(target, [{ id, sample: true }])).get(id) as Body
      const made = await attempt(poster, target, deliveryId(target.key, id), text)
      metrics.attempted(made.succeeded ? 'delivered' : 'failed')
      return made
    },
    async bodyOf(target, delivery) {
      return (await bodies.render(target, [delivery])).get(delivery.id)?.text
    },
    start: () => upkeep.start(),
    async stop() {
      stopping.abort()
      await upkeep.stop()
    },
  }
}
