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
import type { Database } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { Poster } from '../outbound/http.ts'
import { createPace } from '../outbound/pace.ts'
import { createSeats } from '../outbound/seats.ts'
import { createWakes } from '../outbound/wakes.ts'
import { withConnectionOfResults, withOwnConnections } from './connections.ts'
import { enqueuePlans } from './enqueue.ts'
import { type Unplanned, type UnplannedAsked, whyUnplanned } from './explain.ts'
import { planTask, sendTask } from './jobs.ts'
import { createNotificationMetrics } from './metrics.ts'
import { createTokenOpener } from './opened-tokens.ts'
import { planWhileAsked } from './planner.ts'
import { type Imagined, type Previewed, preview } from './preview.ts'
import { type Resent, resend } from './resend.ts'
import { sendDue } from './send.ts'
import { createSenders } from './senders.ts'
import { sampleNotification, sampleUnread } from './trial.ts'
import { plannedTriggers, takeBackTrigger } from './triggers.ts'
import { createNotificationUpkeep } from './upkeep.ts'

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
  readonly secrets: Secrets
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
  readonly policies: RolePolicies
  readonly events: Events
  /** Plans and sends; the tasks are registered here. */
  readonly jobs: JobRunner
  readonly poster: Poster
  readonly fileLinks: FileLinks
  readonly tracing: Tracing | undefined
  /** Epoch milliseconds; tests set it. */
  readonly now?: () => number
}

/**
 * Somebody waits for a push, as somebody waits for the answer to a send: where messages come faster than that, pushes give
 * way. Of webhooks, which a machine waits for, fewer go through.
 */
const leastPushesPerSecond = 1_000
/** Apps that are planned for, and providers that are sent by, of which a process waits for more. Each takes a job meanwhile. */
const mostWaiting = 10

export function createNotificationDelivery(options: NotificationDeliveryOptions): NotificationDelivery {
  const { config, log, database, secrets, settings, notificationSettings, policies, events, jobs, poster } = options
  const { now = Date.now } = options
  const senders = createSenders({ log, secrets, poster, endpoints: config.notifications })
  const metrics = createNotificationMetrics(options.metrics.registry, database)
  const stopping = new AbortController()
  const wakes = createWakes()
  const sending = {
    database: withOwnConnections(database, 'parley notifier'),
    results: withConnectionOfResults(database, 'parley notifier results'),
    ...{ policies, settings, notificationSettings, now, log, secrets, senders, metrics, tracing: options.tracing },
    openToken: createTokenOpener(secrets),
    ...{ wakes, pace: createPace(options.metrics.demand, leastPushesPerSecond), seats: createSeats(mostWaiting) },
    ...{ fileLinks: options.fileLinks, publicUrl: config.publicUrl, replyMailbox: config.mailReplies?.address },
  }
  const planWakes = createWakes()
  const planning = {
    database: withOwnConnections(database, 'parley planner'),
    ...{ settings, notificationSettings, now, wakes, planWakes, tracing: options.tracing },
    seats: createSeats(mostWaiting),
  }
  jobs.register(planTask, (payload) => planWhileAsked(planning, (payload as { appId: number }).appId, stopping.signal))
  jobs.register(sendTask, async (payload) => {
    const { appId, provider } = payload as { appId: number; provider: number }
    await sendDue(sending, { appId, endpoint: provider }, stopping.signal)
  })
  const upkeep = createNotificationUpkeep(database, log, config.appDefaults)
  // Apps that notify nobody pay nothing: their events are not even kept.
  events.keepFor(async (appId) => {
    if (!(await hasProvider(database, appId))) return []
    return (await settings.of(appId)).pushTakeBackRead ? [...plannedTriggers, takeBackTrigger] : plannedTriggers
  })
  events.onAdvance(async (tx, from, to) => {
    const apps = await enqueuePlans(tx, from, to, config.appDefaults)
    tx.afterCommit(() => {
      for (const appId of apps) planWakes.wake(appId)
    })
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
      stopping.abort()
      await upkeep.stop()
    },
    close: () => senders.close(),
  }
}
