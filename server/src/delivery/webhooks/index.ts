import { deliverTask, deliveryId, type Target } from '../../areas/webhooks/index.ts'
import type { Config } from '../../config/index.ts'
import type { Events } from '../../events/index.ts'
import { createJobRunner } from '../../jobs/runner.ts'
import type { JobRunnerState } from '../../jobs/watch.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { ConnectionSettings } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import type { Secrets } from '../../store/secrets.ts'
import { createPoster } from '../outbound/http.ts'
import { createPace } from '../outbound/pace.ts'
import { type Attempt, attempt } from './attempt.ts'
import { type BeforeMessage, createBeforeMessage } from './before-message.ts'
import { drain } from './drain.ts'
import { enqueueDeliveries } from './enqueue.ts'
import { createDeliveryMetrics } from './metrics.ts'
import { createBodies } from './render.ts'
import { listenedEvents } from './subscriptions.ts'
import { createUpkeep } from './upkeep.ts'

export { dropLeases } from './lease.ts'

/** Tells webhooks what happened. */
export interface WebhookDelivery {
  /** Do jobs run in this process? Without them, nothing is delivered. */
  readonly jobs: JobRunnerState
  /** Asked before a message is sent. */
  readonly hooks: BeforeMessage
  /** Sends a sample event now. @param id number of the delivery */
  test(target: Target, id: number): Promise<Attempt>
  start(): void
  /** Lets attempts under way end; what waits is left to other processes, or to the next start. */
  stop(): Promise<void>
}

export interface WebhookDeliveryOptions {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  readonly connection: ConnectionSettings
  readonly database: Database
  readonly secrets: Secrets
  readonly invalidation: Invalidation
  readonly events: Events
}

export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { config, log, connection, database, secrets, invalidation, events } = options
  const metrics = createDeliveryMetrics(options.metrics.registry, database)
  const poster = createPoster({ allowPrivate: config.webhooks.allowPrivate })
  const bodies = createBodies(database)
  const stopping = new AbortController()
  const drainOptions = {
    ...{ database, invalidation, secrets, log, poster, bodies, metrics, pace: createPace() },
    delays: config.webhooks.retrySchedule,
    disableAfter: config.webhooks.disableAfterHours * 3600,
  }
  const jobs = createJobRunner({
    connection,
    log,
    registry: options.metrics.registry,
    tasks: {
      [deliverTask]: async (payload) => {
        const { appId, webhook } = payload as { appId: number; webhook: number }
        await drain(drainOptions, { appId, webhook }, stopping.signal)
      },
    },
  })
  const upkeep = createUpkeep(database, log, config.eventsRetentionDays * 86_400)
  events.keepFor(listenedEvents(database))
  events.onAdvance(enqueueDeliveries)

  return {
    get jobs() {
      return jobs.state
    },
    hooks: createBeforeMessage({ database, invalidation, secrets, poster, metrics }),
    async test(target, id) {
      const body = (await bodies.render(target, [{ id, sample: true }])).get(id) as string
      const made = await attempt(poster, target, deliveryId(target.key, id), body)
      metrics.attempted(made.succeeded ? 'delivered' : 'failed')
      return made
    },
    start() {
      jobs.start()
      upkeep.start()
    },
    async stop() {
      stopping.abort()
      await upkeep.stop()
      await jobs.stop()
      await poster.close()
    },
  }
}
