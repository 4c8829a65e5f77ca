import type { AppSettingsStore } from '../../chat/app-settings.ts'
import type { NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import type { RolePolicies } from '../../chat/roles/policies.ts'
import type { Config } from '../../config/index.ts'
import type { Log } from '../../log.ts'
import type { FileLinks } from '../../media/links.ts'
import type { Demand } from '../../metrics.ts'
import type { Database } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import { createHands } from '../outbound/hands.ts'
import { createPace } from '../outbound/pace.ts'
import { createSeats } from '../outbound/seats.ts'
import { createWakes } from '../outbound/wakes.ts'
import { withConnectionOfResults, withOwnConnections } from './connections.ts'
import { createFreshness } from './freshness.ts'
import type { NotificationMetrics } from './metrics.ts'
import { createTokenOpener } from './opened-tokens.ts'
import { planWhileAsked } from './planner.ts'
import type { Ready } from './ready.ts'
import { sendDue } from './send.ts'
import type { Senders } from './senders.ts'

/** Plans and sends notifications: here, or in a thread of its own (`thread/apart.ts`). */
export interface NotificationWork {
  /** Plans for an app up to the horizon, and what comes soon after. */
  plan(appId: number): Promise<void>
  /** Sends what is due by a provider, and what becomes due soon after. */
  send(provider: EndpointKey): Promise<void>
  /** There is something new to plan for in some apps. */
  wake(appIds: readonly number[]): void
  /** No new attempts; what runs ends soon. */
  stop(): void
}

export interface NotificationWorkOptions {
  readonly config: Pick<Config, 'publicUrl' | 'mailReplies'>
  readonly log: Log
  readonly metrics: NotificationMetrics
  /** Of the process, where clients are answered in the same thread. */
  readonly demand: Readonly<Demand>
  readonly database: Database
  readonly secrets: Secrets
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
  readonly policies: RolePolicies
  readonly senders: Senders
  readonly fileLinks: FileLinks
  readonly tracing: Tracing | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * Somebody waits for a push, as somebody waits for the answer to a send: where messages come faster than that, pushes give
 * way. Of webhooks, which a machine waits for, fewer go through.
 */
const leastPushesPerSecond = 1_000
/** Apps that are planned for, and providers that are sent by, of which a process waits for more. Each takes a job meanwhile. */
const mostWaiting = 10

/** Does the work in this thread. */
export function createNotificationWork(options: NotificationWorkOptions): NotificationWork {
  const { config, database, secrets, settings, notificationSettings, policies, now, tracing, senders } = options
  const stopping = new AbortController()
  const wakes = createWakes()
  const planWakes = createWakes()
  const hands = createHands<Ready>()
  const sending = {
    database: withOwnConnections(database, 'parley notifier'),
    results: withConnectionOfResults(database, 'parley notifier results'),
    ...{ policies, settings, notificationSettings, now, log: options.log, secrets, senders, tracing },
    ...{ metrics: options.metrics, openToken: createTokenOpener(secrets), fileLinks: options.fileLinks },
    ...{ wakes, hands, pace: createPace(options.demand, leastPushesPerSecond), seats: createSeats(mostWaiting) },
    freshness: createFreshness(),
    ...{ publicUrl: config.publicUrl, replyMailbox: config.mailReplies?.address },
  }
  const planning = {
    database: withOwnConnections(database, 'parley planner'),
    ...{ settings, notificationSettings, policies, now, hands, wakes, planWakes, tracing },
    seats: createSeats(mostWaiting),
  }
  return {
    plan: (appId) => planWhileAsked(planning, appId, stopping.signal),
    send: (provider) => sendDue(sending, provider, stopping.signal),
    wake(appIds) {
      for (const appId of appIds) planWakes.wake(appId)
    },
    stop: () => stopping.abort(),
  }
}
