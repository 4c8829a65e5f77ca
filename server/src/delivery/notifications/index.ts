import { randomUUID } from 'node:crypto'
import type { Trial } from '@parley/contract'
import type { AppSettingsStore } from '../../chat/app-settings.ts'
import type { App } from '../../chat/identity.ts'
import { hasProvider, type ProviderRow } from '../../chat/notifications/providers.ts'
import type { NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import type { RolePolicies } from '../../chat/roles/policies.ts'
import type { Config } from '../../config/index.ts'
import type { Events } from '../../events/index.ts'
import type { JobRunner } from '../../jobs/runner.ts'
import type { Log } from '../../log.ts'
import type { FileLinks } from '../../media/links.ts'
import type { Metrics } from '../../metrics.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import type { OpenSecrets } from '../../store/data-keys.ts'
import type { Database } from '../../store/database.ts'
import type { Reads } from '../../store/reads.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { Poster } from '../outbound/http.ts'
import { enqueuePlans } from './enqueue.ts'
import { type Unplanned, type UnplannedAsked, whyUnplanned } from './explain.ts'
import { planTask, sendTask } from './jobs.ts'
import { createNotificationMetrics } from './metrics.ts'
import { type Imagined, type Previewed, preview } from './preview.ts'
import { type Resent, resend } from './resend.ts'
import { createSenders } from './senders.ts'
import { type ApartOptions, createWorkApart } from './thread/apart.ts'
import { sampleNotification, sampleUnread } from './trial.ts'
import { plannedTriggers, takeBackTrigger } from './triggers.ts'
import { createNotificationUpkeep } from './upkeep.ts'
import { createNotificationWork } from './work.ts'

export { providerEndpoints } from './endpoints.ts'

/** Notifies users of what happened while they were away. */
export interface NotificationDelivery {
  /** Sends a made-up notification by a provider now. @param to token of the device, or address, where the provider needs one */
  trial(app: App, provider: ProviderRow, to?: string): Promise<Trial>
  /** Why a user is in no log of something. */
  whyUnplanned(app: App, asked: UnplannedAsked): Promise<Unplanned>
  /** Who would be notified of a message, and how. */
  preview(app: App, imagined: Imagined): Promise<Previewed[]>
  /** Has pushes of the log sent again, soon. @returns how many */
  resend(app: App, which: Resent): Promise<number>
  start(): void
  /** No new attempts; the job runner lets those under way end. */
  stop(): Promise<void>
  /** Once no job runs any more. */
  close(): Promise<void>
}

export interface NotificationDeliveryOptions {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  readonly database: Database
  readonly ageClock: AgeClock
  /** Connections on which rows are counted for the metrics. */
  readonly figures: Reads
  readonly secrets: OpenSecrets
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
  readonly policies: RolePolicies
  readonly events: Events
  /** Plans and sends; the tasks are registered here. */
  readonly jobs: JobRunner
  readonly poster: Poster
  readonly fileLinks: FileLinks
  readonly tracing: Tracing | undefined
  /** Plans and sends in a thread of its own; absent: in this one. */
  readonly thread?: Pick<ApartOptions, 'connection' | 'ownDatabase' | 'patienceMs'> | undefined
  /** Epoch milliseconds; tests set it. */
  readonly now?: () => number
}

export function createNotificationDelivery(options: NotificationDeliveryOptions): NotificationDelivery {
  const { config, log, database, secrets, settings, notificationSettings, events, jobs, poster } = options
  const { now = Date.now } = options
  const senders = createSenders({ log, secrets, poster, endpoints: config.notifications })
  const metrics = createNotificationMetrics(options.metrics.registry, options.figures)
  const { demand } = options.metrics
  const apart =
    options.thread && createWorkApart({ ...options.thread, config, log, metrics, secrets, tracing: options.tracing })
  const work = apart ?? createNotificationWork({ ...options, config, metrics, demand, senders, now })
  jobs.register(planTask, (payload) => work.plan((payload as { appId: number }).appId))
  jobs.register(sendTask, async (payload) => {
    const { appId, provider } = payload as { appId: number; provider: number }
    await work.send({ appId, endpoint: provider })
  })
  const upkeep = createNotificationUpkeep({ database, ageClock: options.ageClock, log }, config.appDefaults)
  // Apps that notify nobody pay nothing: their events are not even kept.
  events.keepFor(async (appId) => {
    if (!(await hasProvider(database, appId))) return []
    return (await settings.of(appId)).pushTakeBackRead ? [...plannedTriggers, takeBackTrigger] : plannedTriggers
  })
  events.onAdvance(async (tx, from, to) => {
    const apps = await enqueuePlans(tx, from, to, config.appDefaults)
    tx.afterCommit(() => work.wake(apps))
  })

  return {
    async trial(app, provider, to) {
      // A device is taken for what its provider notifies most.
      const sending = {
        id: `trial_${randomUUID()}`,
        token: to ?? '',
        platform: `${provider.kind}_android`,
        expiresAt: now() + 60_000,
      }
      const sender = senders.of(app, provider)
      const { channel } = provider
      const sample = channel === 'push' ? sampleNotification(now()) : sampleUnread(channel, to, now())
      const { outcome, status, text, error, durationMs } = await sender.send(sending, sample)
      return {
        success: outcome === 'accepted',
        ...(status !== undefined && { status }),
        ...(text && { answer: text }),
        ...(error !== undefined && { error }),
        durationMs: Math.round(durationMs),
      }
    },
    whyUnplanned: (app, asked) => whyUnplanned({ database, settings, notificationSettings }, app, asked),
    preview: (app, imagined) => preview({ database, settings, notificationSettings, now }, app, imagined),
    resend: ({ appId }, which) => resend(database, appId, which),
    start: () => upkeep.start(),
    async stop() {
      work.stop()
      await upkeep.stop()
    },
    async close() {
      await Promise.all([apart?.close(), senders.close()])
    },
  }
}
