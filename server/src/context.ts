import type { GroupMarkWriter } from './areas/conversations/group-marks.ts'
import type { MessageSearch, MessageWriter } from './areas/messages/index.ts'
import type { ModerationActions } from './areas/moderation/actions/sweep.ts'
import type { ChangeWatch, Passwords, SignInProvider } from './areas/operators/index.ts'
import type { AppSettingsStore } from './chat/app-settings.ts'
import type { AppRegistry } from './chat/apps.ts'
import type { Audit } from './chat/audit/audit.ts'
import type { KeyRing } from './chat/credentials/keys.ts'
import type { Tokens } from './chat/credentials/tokens.ts'
import type { ErasableTable } from './chat/erasure.ts'
import type { GroupPasswords } from './chat/groups/password.ts'
import type { EngineSettingsStore } from './chat/moderation/engine-settings.ts'
import type { ReasonsStore } from './chat/moderation/reasons.ts'
import type { Rulebook } from './chat/moderation/rulebook.ts'
import type { NotificationSettingsStore } from './chat/notifications/settings.ts'
import type { RolePolicies } from './chat/roles/policies.ts'
import type { Usage } from './chat/usage/usage.ts'
import type { Judge } from './chat/writing/judges.ts'
import type { Config } from './config/index.ts'
import type { Questions } from './delivery/moderation/index.ts'
import type { NotificationDelivery } from './delivery/notifications/index.ts'
import type { Outbound } from './delivery/outbound/index.ts'
import type { WebhookDelivery } from './delivery/webhooks/index.ts'
import type { Events } from './events/index.ts'
import type { JobRunner } from './jobs/runner.ts'
import type { Limits } from './limits/index.ts'
import type { Log } from './log.ts'
import type { MediaLibrary } from './media/library.ts'
import type { FileLinks } from './media/links.ts'
import type { Metrics } from './metrics.ts'
import type { Addresses } from './protocol/addresses.ts'
import type { WrongCredentials } from './protocol/wrong-credentials.ts'
import type { AgeClock } from './store/age-clock.ts'
import type { Database } from './store/database.ts'
import type { Invalidation } from './store/invalidation.ts'
import type { DatabaseMonitor } from './store/monitor.ts'
import type { RedisLink } from './store/redis.ts'
import type { Secrets } from './store/secrets.ts'
import type { Span, Tracing } from './tracing/tracing.ts'

/** What the areas work with; built once in app.ts and passed down. */
export interface Context {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  readonly database: Database
  /** The clock by which things are removed for their age. */
  readonly ageClock: AgeClock
  /** Every table, with what becomes of its rows when a user, a group or a message is removed for good. */
  readonly tables: readonly ErasableTable[]
  readonly monitor: DatabaseMonitor
  readonly secrets: Secrets
  readonly invalidation: Invalidation
  /** Where requests went, and what answers say of it. */
  readonly addresses: Addresses
  /** The audit log. Handlers write to it as whoever calls them. */
  readonly audit: Audit
  readonly apps: AppRegistry
  /** Passwords of groups, as they are kept. */
  readonly groupPasswords: GroupPasswords
  /** Passwords of operators, as they are kept. */
  readonly operatorPasswords: Passwords
  /** The OpenID Connect provider by which operators sign in; absent: they have passwords. */
  readonly signInProvider: SignInProvider | undefined
  /** What each app has set. */
  readonly settings: AppSettingsStore
  /** The engines outside that rules of moderation ask. */
  readonly engineSettings: EngineSettingsStore
  /** What users can give as reasons for flagging. */
  readonly flagReasons: ReasonsStore
  /** The questions that wait for those engines. */
  readonly questions: Questions
  /** What each app has decided about its notifications. */
  readonly notificationSettings: NotificationSettingsStore
  readonly keys: KeyRing
  readonly tokens: Tokens
  /** What roles deny to their users. */
  readonly policies: RolePolicies
  /** Whoever has a say in what may be sent or edited, in the order in which they are asked. */
  readonly judges: readonly Judge[]
  /** The rules of moderation of each app, compiled. */
  readonly rulebook: Rulebook
  /** Counts how much apps are used. */
  readonly usage: Usage
  /** Every message goes through here, sent or imported. */
  readonly messages: MessageWriter
  /** Marks of members in groups. */
  readonly groupMarks: GroupMarkWriter
  /** Finds messages by what they say. */
  readonly search: MessageSearch
  /** What rules ask to be done to those who send. */
  readonly moderationActions: ModerationActions
  /** Files sent with messages. */
  readonly media: MediaLibrary
  /** Addresses of those files that expire, where an app wants that. */
  readonly fileLinks: FileLinks
  /** Publishes what happened. */
  readonly events: Events
  /** Has operators wait until something happens. */
  readonly changes: ChangeWatch
  /** Runs jobs; whoever has a task registers it. */
  readonly jobs: JobRunner
  /** Requests to addresses that others name. */
  readonly outbound: Outbound
  /** Delivers events to webhooks. */
  readonly webhooks: WebhookDelivery
  /** Counts requests, sockets that log in, and wrong passwords of groups. */
  readonly limits: Limits
  /** Slows down whoever tries keys and tokens. */
  readonly wrongCredentials: WrongCredentials
  /** Notifies users of what happened while they were away. */
  readonly notifications: NotificationDelivery
  /** What several processes share; absent where there is one. */
  readonly redis: RedisLink | undefined
  /** Sends a collector what becomes of requests; absent: there is none. */
  readonly tracing: Tracing | undefined
  /** The request that is being answered, where it is traced. */
  readonly span: Span | undefined
}
