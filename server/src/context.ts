import type { GroupMarkWriter } from './areas/conversations/group-marks.ts'
import type { MessageSearch, MessageWriter } from './areas/messages/index.ts'
import type { AppSettingsStore } from './chat/app-settings.ts'
import type { AppRegistry } from './chat/apps.ts'
import type { KeyRing } from './chat/credentials/keys.ts'
import type { ErasableTable } from './chat/erasure.ts'
import type { RolePolicies } from './chat/roles/policies.ts'
import type { Judge } from './chat/writing/judges.ts'
import type { Config } from './config/index.ts'
import type { Outbound } from './delivery/outbound/index.ts'
import type { WebhookDelivery } from './delivery/webhooks/index.ts'
import type { Events } from './events/index.ts'
import type { RateLimiter } from './http/rate-limits.ts'
import type { JobRunner } from './jobs/runner.ts'
import type { Log } from './log.ts'
import type { MediaLibrary } from './media/library.ts'
import type { Metrics } from './metrics.ts'
import type { Addresses } from './protocol/addresses.ts'
import type { Database } from './store/database.ts'
import type { Invalidation } from './store/invalidation.ts'
import type { DatabaseMonitor } from './store/monitor.ts'
import type { RedisLink } from './store/redis.ts'
import type { Secrets } from './store/secrets.ts'

/** What the areas work with; built once in app.ts and passed down. */
export interface Context {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  readonly database: Database
  /** Every table, with what becomes of its rows when a user, a group or a message is removed for good. */
  readonly tables: readonly ErasableTable[]
  readonly monitor: DatabaseMonitor
  readonly secrets: Secrets
  readonly invalidation: Invalidation
  /** Where requests went, and what answers say of it. */
  readonly addresses: Addresses
  readonly apps: AppRegistry
  /** What each app has set. */
  readonly settings: AppSettingsStore
  readonly keys: KeyRing
  /** What roles deny to their users. */
  readonly policies: RolePolicies
  /** Whoever has a say in what may be sent or edited, in the order in which they are asked. */
  readonly judges: readonly Judge[]
  /** Every message goes through here, sent or imported. */
  readonly messages: MessageWriter
  /** Marks of members in groups. */
  readonly groupMarks: GroupMarkWriter
  /** Finds messages by what they say. */
  readonly search: MessageSearch
  /** Files sent with messages. */
  readonly media: MediaLibrary
  /** Tells what happened. */
  readonly events: Events
  /** Runs jobs; whoever has a task registers it. */
  readonly jobs: JobRunner
  /** Requests to addresses that others name. */
  readonly outbound: Outbound
  /** Delivers events to webhooks. */
  readonly webhooks: WebhookDelivery
  /** Counts requests, and sockets that log in. */
  readonly rateLimiter: RateLimiter
  /** What several processes share; absent where there is one. */
  readonly redis: RedisLink | undefined
}
