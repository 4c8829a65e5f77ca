// Printed from the declarations of the contract by `npm run client:types`: not to be edited.

export interface AddOutcome {
  success: boolean
  error?: {
    code: string
    message: string
    devMessage: string
  }
  data?: Message
}

export interface AppSettingsOut {
  /** What authOnly keys can do. `full`: create and update users, and create tokens for any user; for development only. `createOnly`: create users with the default role, and tokens for those users. Default: `full` if the service listens on a loopback address only, else `createOnly` */
  authKeys: 'full' | 'createOnly'
  /** Who can add another user to a group: everybody, only their friends, or nobody (users join by themselves). The app itself always can. Default: `everybody` */
  addMembers: 'everybody' | 'friends' | 'nobody'
  /** Time zone of users who have not set their own, for schedules of notifications: an IANA name such as `Europe/Oslo`. Default `UTC` */
  timezone: string
  /** Members of the largest group whose messages are pushed; 0: no limit. Default 1000 */
  pushGroupSize: number
  /** Members of the largest group whose unread messages are sent by e-mail; 0: no limit. Default 30 */
  emailGroupSize: number
  /** Members of the largest group whose unread messages are told by SMS; 0: no limit. Default 30 */
  smsGroupSize: number
  /** Segments of one SMS (160 characters, or 70 with any that GSM-7 does not have); longer texts are cut. Default 3 */
  smsMaxSegments: number
  /** Seconds to wait before a push to users who are connected; what they read meanwhile is not pushed. Default 0 */
  pushWaitOnlineSeconds: number
  /** Whether what a user reads on one device is taken back on their others, which also corrects their badges. Front ends must know `action: read`. Default false */
  pushTakeBackRead: boolean
  /** Days that the logs of notifications are kept. Default 14 */
  notificationLogDays: number
  /** Whether messages that the app itself sends or edits, on nobody’s behalf, are judged by the rules of moderation. Default false */
  moderateApp: boolean
  /** Seconds after its creation for which an auth token is valid; 0: no limit. Default 0 */
  tokenLifetime: number
  /** Seconds without use after which an auth token is no longer valid; 0: no limit. Default 0 */
  tokenIdleTimeout: number
  /** Who signs tokens of users, beside auth tokens: `iss` of these JWTs. They are taken once issuer, audience and address of the keys are set. Default: nobody */
  jwtIssuer: string
  /** What `aud` of these JWTs must hold. Each app should have its own, so that a token of one opens no other. Default: none */
  jwtAudience: string
  /** Address of the public keys that these JWTs are signed by (a JWKS). Default: none */
  jwtKeysUrl: string
  /** Days that messages are kept, unless a group has set otherwise; 0: for ever. Default 0 */
  messageRetentionDays: number
  /** What becomes of messages that are older. `delete`: they are removed for good. `strip`: they stay as deleted ones, without their content. Default: `delete` */
  messageRetention: 'delete' | 'strip'
  /** When the data of a user is put together after they have asked for it. `onRelease`: once the app releases it. `atOnce`: without that. Default: `onRelease` */
  personExports: 'onRelease' | 'atOnce'
  /** API keys of the app; 0: no limit. Default 25 */
  maxApiKeys: number
  /** Roles of the app, including the default role; 0: no limit. Default 25 */
  maxRoles: number
  /** Bots of the app; 0: no limit. Default 25 */
  maxBots: number
  /** Webhooks of the app; 0: no limit. Default 25 */
  maxWebhooks: number
  /** Members of one group; 0: no limit. Default 100000 */
  maxGroupMembers: number
  /** Groups that one user is a member of; 0: no limit. Default 2000 */
  maxGroupsPerUser: number
  /** Users in one request that adds members or creates a group; 0: no limit. Default 25 */
  maxMembersPerRequest: number
  /** Friends of one user; 0: no limit. Default 1000 */
  maxFriends: number
  /** Users in one request that adds or removes friends; 0: no limit. Default 25 */
  maxFriendsPerRequest: number
  /** Pinned messages of one conversation, pinned by the app and by users together; 0: no limit. Default 100 */
  maxPinnedMessages: number
  /** Saved messages of one user; 0: no limit. Default 100 */
  maxSavedMessages: number
  /** Conversations that one user has pinned; 0: no limit. Default 5 */
  maxPinnedConversations: number
  /** Conversations that are pinned for every user of the app; 0: no limit. Default 5 */
  maxAppPinnedConversations: number
  /** Megabytes that one user can upload on one day (UTC). What was taken in counts, also if its message was refused or is deleted later; 0: no limit. Default 2000 */
  uploadMegabytesPerDay: number
  /** Megabytes that all files of the app can take together; 0: no limit. Default 0 */
  mediaMegabytes: number
  /** Addresses of files. `permanent`: whoever has one can read the file as long as it exists. `signed`: they expire, and each answer has new ones. Default: `permanent` */
  fileLinks: 'permanent' | 'signed'
  /** Seconds for which a signed address of a file is valid at most. Default 3600 */
  fileLinkSeconds: number
}

export interface AuditEntry {
  id: string
  action: 'app_created' | 'app_settings_updated' | 'app_paused' | 'app_resumed' | 'app_deleted' | 'app_undeleted' | 'app_removed' | 'notification_settings_updated' | 'apikey_created' | 'apikey_updated' | 'apikey_deleted' | 'token_created' | 'token_deleted' | 'user_created' | 'user_updated' | 'user_deleted' | 'group_retention_updated' | 'retention_hold_set' | 'retention_hold_lifted' | 'person_export_asked' | 'person_export_released' | 'person_export_made' | 'person_export_fetched' | 'user_banned' | 'user_unbanned' | 'group_deleted' | 'role_created' | 'role_updated' | 'role_deleted' | 'role_permissions_updated' | 'role_features_updated' | 'scope_permissions_updated' | 'data_imported' | 'webhook_created' | 'webhook_updated' | 'webhook_deleted' | 'provider_created' | 'provider_updated' | 'provider_deleted' | 'moderation_engine_updated' | 'moderation_engine_deleted' | 'moderation_rule_created' | 'moderation_rule_updated' | 'moderation_rule_deleted' | 'moderation_dry_run_started' | 'moderation_list_created' | 'moderation_list_updated' | 'moderation_list_deleted' | 'moderation_reason_created' | 'moderation_reason_updated' | 'moderation_reason_deleted' | 'message_reviewed' | 'moderation_acted' | 'operator_created' | 'operator_updated' | 'operator_deleted' | 'operator_invited' | 'operator_invitation_withdrawn' | 'operator_signed_in' | 'operator_signed_out' | 'operator_session_ended' | 'operator_password_changed' | 'operator_linked' | 'operator_unlinked' | 'operator_sign_in_refused' | 'operator_totp_enabled' | 'operator_totp_disabled' | 'operator_token_created' | 'operator_token_deleted' | 'operator_acted' | 'reading_opened' | 'conversation_read' | 'emulators_read' | 'doctor_started' | 'doctor_stopped' | 'master_key_changed'
  createdAt: number
  actor: {
    caller: 'fullAccess' | 'authOnly' | 'token' | 'operator' | 'command' | 'service'
    /** The first 8 digits of the digest of an API key, as in the log */
    key?: string
    /** The acting user */
    uid?: string
    /** ID of the operator */
    operator?: string
    /** ID of the personal token that the operator acted by */
    token?: string
    /** IP address of the client */
    address?: string
  }
  target: {
    type: 'app' | 'apikey' | 'user' | 'group' | 'role' | 'webhook' | 'provider' | 'engine' | 'rule' | 'list' | 'reason' | 'message' | 'conversation' | 'operator' | 'session' | 'doctor' | 'master_key'
    id: string
  }
  details?: Record<string, unknown>
}

export interface BlockedMessage {
  appId: string
  ruleId?: string
  ruleName?: string
  revisionId?: string
  condition?: Record<string, unknown>
  /** Beyond the public contract: what was found and where, in UTF-16 units */
  match?: {
    in: 'text' | 'custom'
    start: number
    end: number
    text?: string
  }
  /** Of an engine, in percent */
  confidence?: number
  /** What an engine said */
  reason?: string
  action?: string[]
  message: Message
  /** When moderation first held it, in epoch seconds */
  createdAt: number
  /** When it was last decided, in epoch seconds */
  updatedAt: number
  /** Epoch seconds, a dot, and the id of the message with 15 digits */
  blockedAt?: string
  decision?: 'approved' | 'disapproved' | 'rejected' | 'reviewed'
  /** When it was decided, in epoch seconds */
  reviewedAt?: number
  reviewedBy?: string
  claim?: Claim
  notes?: ModerationNote[]
}

export interface Claim {
  reviewer: string
  /** When it ends, in epoch seconds */
  until: number
}

export interface ClientSettings {
  /** Required: without it, front ends lose the login when the page is reloaded */
  APP_VERSION: number
  /** Host and port of all REST requests */
  CLIENT_API_HOST: string
  ADMIN_API_HOST: string
  /** Host of the socket */
  CHAT_HOST: string
  CHAT_HOST_OVERRIDE: string
  CHAT_HOST_APP_SPECIFIC: string
  CHAT_WSS_PORT: string
  CHAT_API_VERSION: string
  /** Version in the paths that front ends request on the host of the socket */
  WS_API_VERSION: string
  MODE: string
  ANALYTICS_PING_DISABLED: boolean
  SECURED_MEDIA_HOST: string
  /** Maximum number of files in a message */
  'file.count.max': number
  /** Maximum bytes of one file */
  'file.size.max': number
  /** Feature switches and limits, with dotted names */
  parameters: Record<string, boolean | number>
  extensions: Record<string, unknown>[]
  /** Reasons that users can give for flagging a message */
  flagReasons: {
    id: string
    name: string
    description: string
    /** Epoch seconds */
    createdAt: number
    /** Epoch seconds */
    updatedAt: number
    default: boolean
  }[]
  settingsHash: string
  /** Epoch seconds */
  settingsHashReceivedAt: number
}

export interface ContactDetails {
  email?: string
  phno?: string
}

export interface Conversation {
  conversationId: string
  conversationType: 'user' | 'group'
  /** Decimal string */
  unreadMessageCount?: string
  /** Epoch seconds */
  createdAt?: number
  /** Epoch seconds */
  updatedAt?: number
  lastMessage?: Message
  conversationWith?: Record<string, unknown>
  tags?: string[]
  pinnedBy?: string
  /** Epoch seconds */
  pinnedAt?: number
}

export interface CursorMeta {
  previous?: {
    affix: 'append' | 'prepend'
    id?: string
    /** Epoch seconds */
    sentAt?: number
    /** Epoch seconds */
    updatedAt?: number
  }
  current: {
    limit: number
    count: number
  }
  next?: {
    affix: 'append' | 'prepend'
    id?: string
    /** Epoch seconds */
    sentAt?: number
    /** Epoch seconds */
    updatedAt?: number
  }
  cursor: {
    affix: 'append' | 'prepend'
    id?: string
    /** Epoch seconds */
    sentAt?: number
    /** Epoch seconds */
    updatedAt?: number
  }
  pagination: {
    count: number
    per_page: number
  }
}

export interface CustomApiEngine {
  /** What a failure means. `approve-message` (the default): the condition is not met, and the others are looked at. `drop-message`: what the rule does when it is met is done */
  onError: 'approve-message' | 'drop-message'
  /** Messages of the conversation that are sent along. Default 0 */
  contextMessages: number
}

export interface Delivery {
  /** Same as the header `webhook-id` */
  id: string
  /** Id of the event; can be used as a cursor of `GET /events` */
  eventId: string
  trigger: string
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  /** Epoch seconds of the event */
  createdAt: number
  /** Epoch seconds of the last attempt */
  attemptedAt?: number
  /** Epoch seconds; absent if there will be no further attempt */
  nextAttemptAt?: number
  answer?: {
    /** HTTP status of the last attempt */
    status: number
    /** Start of the response body; kept for failures only */
    excerpt?: string
  }
  /** Why the last attempt failed */
  error?: string
  /** Duration of the last attempt */
  durationMs?: number
  /** Sent by `POST /webhooks/{id}/test` */
  test?: boolean
}

export interface Done {
  data: {
    success: true
  }
}

export interface DryRun {
  ruleId: string
  revisionId: string
  status: 'running' | 'done' | 'stopped' | 'failed'
  /** Why it failed */
  error?: string
  /** Epoch seconds */
  from: number
  /** Epoch seconds */
  to: number
  /** Share of the messages that it looks at, up to 1 */
  sample: number
  /** From 0 to 1 */
  progress: number
  /** Messages that it looked at */
  looked: number
  /** Messages that the rule would have met */
  hits: number
  /** Ids of conditions that are not asked: what engines outside answer, rate and repetition */
  ignored: number[]
  days: {
    /** In UTC, such as 2026-03-01 */
    day: string
    looked: number
    hits: number
  }[]
  /** Those with the most hits, up to 100 */
  senders: {
    uid: string
    hits: number
  }[]
  /** Hits, drawn at random, the latest first */
  examples: ({
    messageId: string
    sender: string
    /** Epoch seconds */
    sentAt: number
    /** What the rule looked at, as the message says it now */
    text?: string
    /** Id of the condition that was met */
    condition: number
    match?: {
      in: 'text' | 'custom'
      /** UTF-16 units from the start of the text */
      start: number
      /** The first unit behind it */
      end: number
      text: string
    }
    label?: 'right' | 'wrong'
  })[]
  /** By the labels of the examples, with the limits of its Wilson interval of 95 % */
  precision?: {
    labelled: number
    right: number
    /** Of the labelled hits those that are right */
    share: number
    low: number
    high: number
  }
  /** Epoch seconds */
  createdAt: number
  /** Epoch seconds */
  finishedAt?: number
}

export interface Erasure {
  uid: string
  /** Epoch seconds */
  erasedAt: number
  /** Nothing was left in any table when it was read back */
  isClean: boolean
  /** Messages that were removed */
  messages: number
  /** Digests under the master key, by which imports refuse what was erased */
  digests: {
    uids: number
    muids: number
  }
  /** What stays on purpose: messages in groups, of a deleted user, and bans of the uid */
  kept: {
    groupMessages: number
    groupBans: number
  }
  places: {
    table: string
    /** Rows that were removed */
    removed?: number
    /** Rows that named the user, or their files, and no longer do */
    changed?: number
    /** Rows that were found when it was read back */
    left?: number
    /** Why nothing is of the user in it */
    untouched?: string
  }[]
}

export interface FeedEvent {
  /** Decimal string; rises */
  id: string
  /** The frame of the socket: `{type, sender, receiver, receiverType, body}`, see /asyncapi.json */
  frame: Record<string, unknown>
}

export interface Flag {
  uid: string
  name: string
  avatar?: string
  role?: string
  reasonId?: string
  reasonName?: string
  /** Of the reason */
  description?: string
  remark?: string
  /** When they flagged it last, in epoch seconds */
  flaggedAt: number
}

export interface FlaggedMessage {
  appId: string
  id: string
  muid?: string
  conversationId: string
  sender: string
  receiverType: 'user' | 'group'
  receiver: string
  category: string
  type: string
  data: Record<string, unknown>
  parentId?: string
  quotedMessageId?: string
  quotedMessage?: Record<string, unknown>
  tags?: string[]
  /** Epoch seconds */
  sentAt: number
  /** Epoch seconds */
  deliveredAt?: number
  /** Epoch seconds */
  readAt?: number
  /** Epoch seconds */
  deliveredToMeAt?: number
  /** Epoch seconds */
  readByMeAt?: number
  /** Epoch seconds */
  editedAt?: number
  editedBy?: string
  /** Epoch seconds */
  deletedAt?: number
  deletedBy?: string
  /** Epoch seconds */
  updatedAt: number
  replyCount?: number
  unreadRepliesCount?: number
  threadSubscribed?: boolean
  reactions?: {
    reaction: string
    count: number
    reactedByMe?: boolean
  }[]
  pinnedBy?: string
  /** Epoch seconds */
  pinnedAt?: number
  /** Epoch seconds */
  savedAt?: number
  /** Those who flagged it, in the order in which they did, at most 100 */
  flaggedBy: Flag[]
  /** How many users flagged it */
  flaggedCount: number
  flaggedByRules?: FlaggingRule[]
  /** Since when it waits for a review, in epoch seconds */
  openedAt: number
  claim?: Claim
  notes?: ModerationNote[]
}

export interface FlaggingRule {
  ruleId: string
  ruleName: string
  revisionId: string
  condition: Record<string, unknown>
}

export interface Group {
  guid: string
  name: string
  type: 'public' | 'password' | 'private'
  icon?: string
  description?: string
  owner?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  membersCount?: number
  onlineMembersCount?: number
  conversationId?: string
  /** Epoch seconds */
  createdAt?: number
  /** Epoch seconds */
  updatedAt?: number
  updatedBy?: string
  scope?: 'admin' | 'moderator' | 'participant'
  /** Epoch seconds */
  joinedAt?: number
  hasJoined?: boolean
  isBanned?: boolean
}

export interface ImportGroupDetails {
  guid: string
  name: string
  type: 'public' | 'password' | 'private'
  description?: string
  /** a valid http or https URL */
  icon?: string
  password?: string
  /** in place of password: "scrypt$16384$8$1$", the salt and the key in base64, with "$" between them */
  passwordHash?: string
  owner?: string
  /** epoch seconds, an integer or a decimal string of at most ten digits */
  createdAt?: number | string
  metadata?: Record<string, unknown>
  tags?: string[]
}

export interface ImportUser {
  uid: string
  name: string
  /** a valid http or https URL */
  avatar?: string
  /** a valid http or https URL */
  link?: string
  role?: string
  statusMessage?: string
  /** epoch seconds, an integer or a decimal string of at most ten digits */
  createdAt?: number | string
  /** epoch seconds, an integer or a decimal string of at most ten digits */
  lastActiveAt?: number | string
  /** epoch seconds, an integer or a decimal string of at most ten digits */
  deactivatedAt?: number | string
  metadata?: Record<string, unknown>
  tags?: string[]
  /** In a user record: makes somebody new where the user with this uid was erased; embedded it does nothing */
  recreate?: boolean
}

export interface ImportedMember {
  guid: string
  uid: string
  scope: 'admin' | 'moderator' | 'participant'
  /** Epoch seconds */
  joinedAt: number
  /** true: imported as a ban, not as a member */
  isBanned?: boolean
}

export interface KeywordList {
  id: string
  name: string
  description?: string
  /** What the list holds. Beyond the public contract: `custom-api`, the address of an engine, and `prompt`, what a language model is asked to look for */
  category: 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt'
  /** Its terms came from a file, and are as they stood there, with their quotes */
  isCSV: boolean
  /** Words and patterns */
  searchTerms?: string[]
  /** Sentences */
  disallowedSentences?: string[]
  /** What a language model is asked to look for */
  prompts?: string[]
  /** The address of an engine */
  url?: string
  basicAuthEnabled?: boolean
  username?: string
  /** Epoch seconds */
  createdAt: number
  /** Epoch seconds; of this revision */
  updatedAt: number
  /** `<appId>_<listId>_<n>`, where n counts from 1 */
  revisionId: string
  /** This revision is the current one */
  active: boolean
  /** true on predefined lists */
  default?: boolean
}

export interface KeywordListRevision {
  id: string
  name: string
  description?: string
  /** What the list holds. Beyond the public contract: `custom-api`, the address of an engine, and `prompt`, what a language model is asked to look for */
  category: 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt'
  /** Its terms came from a file, and are as they stood there, with their quotes */
  isCSV: boolean
  /** The address of an engine */
  url?: string
  basicAuthEnabled?: boolean
  username?: string
  /** Epoch seconds */
  createdAt: number
  /** Epoch seconds; of this revision */
  updatedAt: number
  /** `<appId>_<listId>_<n>`, where n counts from 1 */
  revisionId: string
  /** This revision is the current one */
  active: boolean
  /** true on predefined lists */
  default?: boolean
  /** How many it has */
  terms: number
}

export interface LabelsEngine {
  /** The https URL that is asked for the labels of pictures and videos */
  url?: string
  /** Whether a key is set */
  hasApiKey: boolean
  /** What a failure means. `approve-message` (the default): the condition is not met, and the others are looked at. `drop-message`: what the rule does when it is met is done */
  onError: 'approve-message' | 'drop-message'
}

export interface ListedReason {
  id: string
  name: string
  description?: string
  /** Epoch seconds, as a decimal string */
  createdAt: string
  /** Epoch seconds, as a decimal string */
  updatedAt: string
  /** Whether it is predefined */
  default: boolean
}

export interface LlmEngine {
  /** Base URL of an API that is compatible with that of OpenAI, such as `https://api.openai.com/v1`: `/chat/completions` is added */
  url?: string
  /** The model that is asked */
  model?: string
  /** Whether a key is set */
  hasApiKey: boolean
  /** What a failure means. `approve-message` (the default): the condition is not met, and the others are looked at. `drop-message`: what the rule does when it is met is done */
  onError: 'approve-message' | 'drop-message'
  /** Messages of the conversation that are sent along. Default 0 */
  contextMessages: number
}

export interface Me {
  id: string
  email: string
  name: string
  role: 'owner' | 'developer' | 'moderator' | 'support'
  /** Ids of apps; `null`: all */
  apps: string[] | null
  /** Whether they may read what people wrote */
  mayRead: boolean
  /** What the role allows, in each of the apps */
  rights: ('look' | 'read' | 'moderate' | 'rules' | 'manage' | 'configure' | 'keys' | 'apps' | 'health' | 'doctor' | 'operators')[]
  hasTotp: boolean
  /** Accounts that were made by OpenID Connect have none */
  hasPassword: boolean
  /** The OpenID Connect provider that the account is linked with; absent: none */
  issuer?: string
  /** Absent for personal tokens */
  sessionId?: string
}

export interface Message {
  id: string
  muid?: string
  conversationId: string
  sender: string
  receiverType: 'user' | 'group'
  receiver: string
  category: string
  type: string
  data: Record<string, unknown>
  parentId?: string
  quotedMessageId?: string
  quotedMessage?: Record<string, unknown>
  tags?: string[]
  /** Epoch seconds */
  sentAt: number
  /** Epoch seconds */
  deliveredAt?: number
  /** Epoch seconds */
  readAt?: number
  /** Epoch seconds */
  deliveredToMeAt?: number
  /** Epoch seconds */
  readByMeAt?: number
  /** Epoch seconds */
  editedAt?: number
  editedBy?: string
  /** Epoch seconds */
  deletedAt?: number
  deletedBy?: string
  /** Epoch seconds */
  updatedAt: number
  replyCount?: number
  unreadRepliesCount?: number
  threadSubscribed?: boolean
  reactions?: {
    reaction: string
    count: number
    reactedByMe?: boolean
  }[]
  pinnedBy?: string
  /** Epoch seconds */
  pinnedAt?: number
  /** Epoch seconds */
  savedAt?: number
}

export interface MessageData {
  /** Required in a text; the caption of files otherwise */
  text?: string
  /** Files, by their addresses; required in an image, video, audio or file */
  attachments?: {
    url: string
    name?: string
    extension?: string
    mimeType?: string
    /** Bytes */
    size?: number
    [other: string]: unknown
  }[]
  metadata?: Record<string, unknown>
  /** Required in a custom message */
  customData?: Record<string, unknown>
  /** Of an interactive message */
  interactiveData?: Record<string, unknown>
  [other: string]: unknown
}

export interface MessagePage {
  data: Message[]
  meta: CursorMeta
}

export interface MessageReceipt {
  recipient: User
  /** Epoch seconds */
  deliveredAt: number
  /** Epoch seconds */
  readAt?: number
}

export interface ModerationEngines {
  customApi: CustomApiEngine
  llm: LlmEngine
  labels: LabelsEngine
}

export interface ModerationListMeta {
  current: {
    limit: number
    count: number
  }
}

export interface ModerationNote {
  id: string
  text: string
  author?: string
  /** When it was left, in epoch seconds */
  createdAt: number
}

export interface ModerationRule {
  id: string
  name: string
  description?: string
  /** The rule acts: its mode is `on` */
  enabled: boolean
  /** Beyond the public contract. `shadow`: decides and logs, and does nothing. `enabled` is true where the mode is `on` */
  mode: 'off' | 'shadow' | 'on'
  filters?: RuleFilter[]
  conditions: RuleCondition[]
  exceptions?: string[]
  action: string[]
  /** This revision is the current one */
  active: boolean
  /** Epoch seconds */
  createdAt: number
  /** Epoch seconds; of this revision */
  updatedAt: number
  /** `<appId>_<ruleId>_<n>`, where n counts from 1 */
  revisionId: string
  /** true on predefined rules */
  default?: boolean
}

export interface MutedConversation {
  id: string
  type: 'oneOnOne' | 'group'
  /** Epoch milliseconds in the future; without it, until it is unmuted */
  until?: number
}

export interface NotificationLog {
  _id: string
  /** Epoch milliseconds */
  processingStartedAtMS: number
  /** Epoch milliseconds */
  processingEndedAtMS?: number
  totalProcessingTimeInMS?: number
  component: string
  channel: 'push' | 'email' | 'sms'
  provider: string
  providerId?: string
  messageId?: number
  reactionId?: number
  trigger: string
  /** Epoch milliseconds */
  messageSentAtMS?: number
  /** Who sent the message */
  sender?: string
  reactionSender?: string
  /** uid or guid */
  receiver: string
  reactionReceiver?: string
  receiverType: 'user' | 'group'
  /** The member of a group who was to be notified */
  member?: string
  /** Who was to be notified */
  uid: string
  tokenType?: string
  /** Shortened */
  pushToken?: string
  /** Whether a provider is, or was, called */
  notificationTriggered: boolean
  /** Why no provider was called, or why it was given up */
  reason?: string
  /** Whether the provider accepted it; absent while it waits */
  success?: boolean
  attempts: number
  /** Epoch milliseconds */
  nextAttemptAtMS?: number
  answer?: {
    status?: number
    text?: string
  }
  error?: string
}

export interface NotificationSettings {
  preferences: {
    group: {
      /** 1 never, 2 every message, 3 only messages that mention the user */
      messagesSetting: number
      /** Whether users can choose messages themselves */
      messagesOverride: boolean
      /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
      repliesSetting: number
      /** Whether users can choose replies themselves */
      repliesOverride: boolean
      /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
      quotedRepliesSetting: number
      /** Whether users can choose quotedReplies themselves */
      quotedRepliesOverride: boolean
      /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
      reactionsSetting: number
      /** Whether users can choose reactions themselves */
      reactionsOverride: boolean
      /** 1 never, 2 always */
      memberLeftSetting: number
      /** Whether users can choose memberLeft themselves */
      memberLeftOverride: boolean
      /** 1 never, 2 always */
      memberAddedSetting: number
      /** Whether users can choose memberAdded themselves */
      memberAddedOverride: boolean
      /** 1 never, 2 always */
      memberJoinedSetting: number
      /** Whether users can choose memberJoined themselves */
      memberJoinedOverride: boolean
      /** 1 never, 2 always */
      memberKickedSetting: number
      /** Whether users can choose memberKicked themselves */
      memberKickedOverride: boolean
      /** 1 never, 2 always */
      memberBannedSetting: number
      /** Whether users can choose memberBanned themselves */
      memberBannedOverride: boolean
      /** 1 never, 2 always */
      memberUnbannedSetting: number
      /** Whether users can choose memberUnbanned themselves */
      memberUnbannedOverride: boolean
      /** 1 never, 2 always */
      memberScopeChangedSetting: number
      /** Whether users can choose memberScopeChanged themselves */
      memberScopeChangedOverride: boolean
      /** 1 never, 2 always */
      messageEditedSetting: number
      /** 1 never, 2 always */
      messageDeletedSetting: number
    }
    oneOnOne: {
      /** 1 never, 2 every message, 3 only messages that mention the user */
      messagesSetting: number
      /** Whether users can choose messages themselves */
      messagesOverride: boolean
      /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
      repliesSetting: number
      /** Whether users can choose replies themselves */
      repliesOverride: boolean
      /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
      quotedRepliesSetting: number
      /** Whether users can choose quotedReplies themselves */
      quotedRepliesOverride: boolean
      /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
      reactionsSetting: number
      /** Whether users can choose reactions themselves */
      reactionsOverride: boolean
      /** 1 never, 2 always */
      messageEditedSetting: number
      /** 1 never, 2 always */
      messageDeletedSetting: number
    }
    bypassPreferencesForMentions: boolean
    bypassPreferencesForGroupMentions: boolean
    call: {
      /** 1 never, 2 always */
      initiatedSetting: number
      /** 1 never, 2 always */
      ongoingSetting: number
      /** 1 never, 2 always */
      cancelledSetting: number
      /** 1 never, 2 always */
      busySetting: number
      /** 1 never, 2 always */
      rejectedSetting: number
      /** 1 never, 2 always */
      unansweredSetting: number
      /** 1 never, 2 always */
      endedSetting: number
      initiatedOverride: boolean
      ongoingOverride: boolean
      cancelledOverride: boolean
      busyOverride: boolean
      rejectedOverride: boolean
      unansweredOverride: boolean
      endedOverride: boolean
    }
    mute: {
      /** 1 do not disturb is off, 2 it is on: nothing is sent */
      dndPreferenceSetting: number
      schedulePreferenceSetting: Schedule
      dndPreferenceOverride: boolean
      schedulePreferenceOverride: boolean
      mutedGroupsOverride: boolean
      mutedOneOnOnesOverride: boolean
    }
    email: {
      /** false: messages that were read are listed, too */
      notifyForUnreadOnly: boolean
      intervalInSeconds: number
      maxPerDay: number
      maxPerDayPerConversation: number
      /** Whether the message itself is sent along */
      includeMessageObjectSetting: boolean
      /** Whether that has the metadata of its sender */
      includeSenderMetadataSetting: boolean
      /** Whether that has the metadata of its receiver */
      includeReceiverMetadataSetting: boolean
      /** Whether that has the metadata of the message */
      includeMessageMetadataSetting: boolean
    }
    sms: {
      /** false: messages that were read are listed, too */
      notifyForUnreadOnly: boolean
      intervalInSeconds: number
      maxPerDay: number
      maxPerDayPerConversation: number
      /** Whether the message itself is sent along */
      includeMessageObjectSetting: boolean
      /** Whether that has the metadata of its sender */
      includeSenderMetadataSetting: boolean
      /** Whether that has the metadata of its receiver */
      includeReceiverMetadataSetting: boolean
      /** Whether that has the metadata of the message */
      includeMessageMetadataSetting: boolean
    }
    push: {
      /** Whether the message itself is sent along */
      includeMessageObjectSetting: boolean
      /** Whether that has the metadata of its sender */
      includeSenderMetadataSetting: boolean
      /** Whether that has the metadata of its receiver */
      includeReceiverMetadataSetting: boolean
      /** Whether that has the metadata of the message */
      includeMessageMetadataSetting: boolean
      /** Whether long texts are shortened in it */
      trimTextFieldSetting: boolean
      customJson: Record<string, unknown>
    }
  }
  sound: {
    chat: string
    call: string
  }
  templates: Templates
}

export interface Operator {
  id: string
  email: string
  name: string
  role: 'owner' | 'developer' | 'moderator' | 'support'
  /** Ids of apps; `null`: all */
  apps: string[] | null
  /** Whether they may read what people wrote */
  mayRead: boolean
  hasTotp: boolean
  /** The OpenID Connect provider that the account is linked with; absent: none */
  issuer?: string
  /** When the account was made, epoch seconds */
  createdAt: number
  /** When they last did something, to the minute, epoch seconds */
  lastSeenAt?: number
  /** When the account was disabled, epoch seconds */
  disabledAt?: number
}

export interface Outcome {
  success: boolean
  message: string
}

export interface PageMeta {
  /** true where the search has more than 10000 hits: so many were counted. Otherwise absent, and counts are exact */
  countAtLeast?: boolean
  pagination: {
    total: number
    count: number
    per_page: number
    current_page: number
    total_pages: number
  }
}

export interface PreferencesWithOverrides {
  preferences: {
    group: {
      /** 1 never, 2 every message, 3 only messages that mention the user */
      messagesSetting: number
      /** Whether users can choose messages themselves */
      messagesOverride: boolean
      /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
      repliesSetting: number
      /** Whether users can choose replies themselves */
      repliesOverride: boolean
      /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
      quotedRepliesSetting: number
      /** Whether users can choose quotedReplies themselves */
      quotedRepliesOverride: boolean
      /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
      reactionsSetting: number
      /** Whether users can choose reactions themselves */
      reactionsOverride: boolean
      /** 1 never, 2 always */
      memberLeftSetting: number
      /** Whether users can choose memberLeft themselves */
      memberLeftOverride: boolean
      /** 1 never, 2 always */
      memberAddedSetting: number
      /** Whether users can choose memberAdded themselves */
      memberAddedOverride: boolean
      /** 1 never, 2 always */
      memberJoinedSetting: number
      /** Whether users can choose memberJoined themselves */
      memberJoinedOverride: boolean
      /** 1 never, 2 always */
      memberKickedSetting: number
      /** Whether users can choose memberKicked themselves */
      memberKickedOverride: boolean
      /** 1 never, 2 always */
      memberBannedSetting: number
      /** Whether users can choose memberBanned themselves */
      memberBannedOverride: boolean
      /** 1 never, 2 always */
      memberUnbannedSetting: number
      /** Whether users can choose memberUnbanned themselves */
      memberUnbannedOverride: boolean
      /** 1 never, 2 always */
      memberScopeChangedSetting: number
      /** Whether users can choose memberScopeChanged themselves */
      memberScopeChangedOverride: boolean
    }
    oneOnOne: {
      /** 1 never, 2 every message, 3 only messages that mention the user */
      messagesSetting: number
      /** Whether users can choose messages themselves */
      messagesOverride: boolean
      /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
      repliesSetting: number
      /** Whether users can choose replies themselves */
      repliesOverride: boolean
      /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
      quotedRepliesSetting: number
      /** Whether users can choose quotedReplies themselves */
      quotedRepliesOverride: boolean
      /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
      reactionsSetting: number
      /** Whether users can choose reactions themselves */
      reactionsOverride: boolean
    }
    mute: {
      /** 1 do not disturb is off, 2 it is on: nothing is sent */
      dndPreferenceSetting: number
      dndPreferenceOverride: boolean
      schedulePreferenceSetting: Schedule
      schedulePreferenceOverride: boolean
      mutedGroupsOverride: boolean
      mutedOneOnOnesOverride: boolean
    }
  }
  /** Whether the privacy templates hold for this user */
  usePrivacyTemplate: boolean
  sound: {
    chat: string
    call: string
  }
  templates: PushTemplates
}

export interface PulledEvent {
  /** Increases over time; the same in each webhook delivery of this event */
  id: string
  trigger: 'message_sent' | 'message_edited' | 'message_deleted' | 'message_delivery_receipt' | 'message_read_receipt' | 'message_delivered_to_all' | 'message_read_by_all' | 'message_reaction_added' | 'message_reaction_removed' | 'user_mentioned' | 'user_blocked' | 'user_unblocked' | 'user_connection_status_changed' | 'group_created' | 'group_updated' | 'group_deleted' | 'group_owner_transferred' | 'group_member_joined' | 'group_member_left' | 'group_member_added' | 'group_member_kicked' | 'group_member_banned' | 'group_member_unbanned' | 'group_member_scope_changed' | 'moderation_engine_approved' | 'moderation_engine_blocked' | 'moderation_manual_approved' | 'moderation_engine_failed'
  data: Record<string, unknown>
  appId: string
  region: string
  /** Epoch seconds */
  createdAt: number
}

export interface PushSubscription {
  /** https, at one of the push services that the deployment allows (`WEB_PUSH_HOSTS`) */
  endpoint: string
  keys: {
    /** Public key of the browser, in base64url */
    p256dh: string
    /** 16 bytes, in base64url */
    auth: string
  }
}

export interface PushTemplates {
  /** 1 default templates, 2 privacy templates, 3 default templates unless the user chooses privacy */
  usePrivacyTemplate: number
  textMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  textMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  mediaMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body_image: string
    body_audio: string
    body_video: string
    body_file: string
  }
  mediaMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body_image: string
    body_audio: string
    body_video: string
    body_file: string
  }
  pollMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  pollMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  reminderMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  reminderMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  customMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  customMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  interactiveFormTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveFormTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCardTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCardTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveSchedulerTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveSchedulerTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCustomTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCustomTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
}

export interface PushToken {
  /** The auth token that registered it; front ends see only that of the request */
  authToken?: string
  pushTokenType: 'chat' | 'voip'
  /** ISO 8601 */
  createdAt: string
  /** ISO 8601 */
  updatedAt: string
  platform: string
  providerId: string
  /** With `web_push`: the endpoint of the subscription */
  pushToken: string
  uid: string
}

export interface Reaction {
  id: string
  messageId: string
  reaction: string
  uid: string
  /** Epoch seconds */
  reactedAt: number
  reactedBy: User
}

export interface Reason {
  id: string
  name: string
  description?: string
  /** Epoch seconds */
  createdAt: number
  /** Epoch seconds */
  updatedAt: number
  /** true on predefined reasons */
  default?: boolean
}

export interface ReviewedMessage {
  appId: string
  ruleId?: string
  ruleName?: string
  revisionId?: string
  condition?: Record<string, unknown>
  /** Beyond the public contract: what was found and where, in UTF-16 units */
  match?: {
    in: 'text' | 'custom'
    start: number
    end: number
    text?: string
  }
  /** Of an engine, in percent */
  confidence?: number
  /** What an engine said */
  reason?: string
  action?: string[]
  message: Message
  /** When moderation first held it, in epoch seconds */
  createdAt: number
  /** When it was last decided, in epoch seconds */
  updatedAt: number
  /** Epoch seconds, a dot, and the id of the message with 15 digits */
  blockedAt?: string
  /** Those who flagged it, in the order in which they did, at most 100 */
  flaggedBy: Flag[]
  /** How many users flagged it */
  flaggedCount: number
  flaggedByRules?: FlaggingRule[]
  list: 'flagged' | 'blocked'
  decision: 'approved' | 'disapproved' | 'rejected' | 'reviewed'
  /** When it was decided, in epoch seconds */
  reviewedAt: number
  reviewedBy?: string
  claim?: Claim
  notes?: ModerationNote[]
}

export interface RuleCondition {
  /** Counts from 1 inside the rule */
  id: number
  isKeywordsReferencePresent: boolean
  /** The same */
  isKeywordReferencePresent?: boolean
  /** The same */
  isListReferencePresent?: boolean
  isMediaPresent: boolean
  entity: string
  operand: 'text' | 'image' | 'video' | 'custom'
  category: string
  operator: 'contains' | 'equals'
  /** a text, or a list of up to 100 texts, none of them empty or longer than 1,000 characters */
  value: string | string[]
  /** a text, or a list of up to 100 texts, none of them empty or longer than 1,000 characters */
  message?: string | string[]
}

export interface RuleFilter {
  type: 'sender' | 'receiver'
  entity: 'user' | 'group'
  /** Of users uid, name, role, tags and createdAt; of groups guid, name, type, tags and createdAt. Beyond the public contract `scope`: that of the sender in the group; empty if they are not a member */
  operand: 'uid' | 'guid' | 'name' | 'role' | 'type' | 'tags' | 'createdAt' | 'scope'
  /** Beside `in` and `notIn` the value holds several values, separated by commas */
  operator: 'equals' | 'notEquals' | 'not equals' | 'in' | 'notIn' | 'not in' | 'startsWith' | 'endsWith' | 'lessThan' | 'greaterThan'
  value: string
}

export interface Schedule {
  monday: ScheduleDay
  tuesday: ScheduleDay
  wednesday: ScheduleDay
  thursday: ScheduleDay
  friday: ScheduleDay
  saturday: ScheduleDay
  sunday: ScheduleDay
}

export interface ScheduleDay {
  /** HHMM as a number: 930 is 09:30 */
  from: number
  /** HHMM as a number: 930 is 09:30 */
  to: number
  /** true: nothing on this day */
  dnd: boolean
}

export interface Templates {
  /** 1 default templates, 2 privacy templates, 3 default templates unless the user chooses privacy */
  usePrivacyTemplate: number
  textMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  textMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  mediaMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body_image: string
    body_audio: string
    body_video: string
    body_file: string
  }
  mediaMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body_image: string
    body_audio: string
    body_video: string
    body_file: string
  }
  pollMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  pollMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  reminderMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  reminderMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  customMessageTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  customMessageTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
    body_fallback: string
  }
  interactiveFormTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveFormTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCardTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCardTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveSchedulerTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveSchedulerTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCustomTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  interactiveCustomTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    body: string
  }
  emailSubjectTemplateDefault: {
    subjectGroup: string
    subjectOneOnOne: string
  }
  emailSubjectTemplatePrivacy: {
    subjectGroup: string
    subjectOneOnOne: string
  }
  smsContentTemplateDefault: {
    bodyGroup: string
    bodyOneOnOne: string
  }
  smsContentTemplatePrivacy: {
    bodyGroup: string
    bodyOneOnOne: string
  }
  userMentionTemplateDefault: {
    titleOneOnOne: string
    titleGroup: string
    bodyOneOnOne: string
    bodyGroup: string
    body_fallback: string
  }
  userMentionTemplatePrivacy: {
    titleOneOnOne: string
    titleGroup: string
    bodyOneOnOne: string
    bodyGroup: string
    body_fallback: string
  }
  groupMentionTemplateDefault: {
    titleGroup: string
    body: string
    body_fallback: string
  }
  groupMentionTemplatePrivacy: {
    titleGroup: string
    body: string
    body_fallback: string
  }
}

export interface Thread {
  id: string
  muid?: string
  conversationId: string
  sender: string
  receiverType: 'user' | 'group'
  receiver: string
  category: string
  type: string
  data: Record<string, unknown>
  parentId?: string
  quotedMessageId?: string
  quotedMessage?: Record<string, unknown>
  tags?: string[]
  /** Epoch seconds */
  sentAt: number
  /** Epoch seconds */
  deliveredAt?: number
  /** Epoch seconds */
  readAt?: number
  /** Epoch seconds */
  deliveredToMeAt?: number
  /** Epoch seconds */
  readByMeAt?: number
  /** Epoch seconds */
  editedAt?: number
  editedBy?: string
  /** Epoch seconds */
  deletedAt?: number
  deletedBy?: string
  /** Epoch seconds */
  updatedAt: number
  /** Replies that are not deleted */
  replyCount: number
  unreadRepliesCount?: number
  threadSubscribed?: boolean
  reactions?: {
    reaction: string
    count: number
    reactedByMe?: boolean
  }[]
  pinnedBy?: string
  /** Epoch seconds */
  pinnedAt?: number
  /** Epoch seconds */
  savedAt?: number
  lastReply?: Message
  /** With withUnreadReplyCount */
  unreadReplyCount?: number
  /** With withMentionCount: unread replies that mention the acting user */
  mentionCount?: number
  subscribed?: boolean
  participatedByMe?: boolean
}

export interface Trial {
  /** Whether the provider accepted it */
  success: boolean
  /** HTTP status of the provider */
  status?: number
  /** Start of its response */
  answer?: string
  /** Why it failed */
  error?: string
  durationMs: number
}

export interface TrialHit {
  /** Id of the condition */
  condition: number
  list?: {
    id: string
    revisionId: string
  }
  match?: {
    in: 'text' | 'custom'
    /** UTF-16 units from the start of the text */
    start: number
    /** The first unit behind it */
    end: number
    text: string
  }
  /** Percent */
  confidence?: number
}

export interface UidOutcome {
  success: boolean
  error?: {
    code: string
    message: string
    devMessage: string
  }
}

export interface UpdatedAtCursor {
  /** Epoch seconds */
  updatedAt: number
  affix: 'append' | 'prepend'
}

export interface User {
  uid: string
  name: string
  avatar?: string
  link?: string
  role?: string
  status?: 'available' | 'offline'
  statusMessage?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  /** Epoch seconds */
  createdAt?: number
  /** Epoch seconds */
  updatedAt?: number
  /** Epoch seconds */
  lastActiveAt?: number
  /** Epoch seconds */
  deactivatedAt?: number
  /** Conversation between this user and the viewer */
  conversationId?: string
  blockedByMe?: boolean
  /** Epoch seconds */
  blockedByMeAt?: number
  hasBlockedMe?: boolean
  /** Epoch seconds */
  blockedAt?: number
}

export interface UserPreferences {
  groupPreferences: {
    /** 1 never, 2 every message, 3 only messages that mention the user */
    groupMessages: number
    /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
    groupReplies: number
    /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
    groupQuotedReplies: number
    /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
    groupReactions: number
    /** 1 never, 2 always */
    groupMemberLeft: number
    /** 1 never, 2 always */
    groupMemberAdded: number
    /** 1 never, 2 always */
    groupMemberJoined: number
    /** 1 never, 2 always */
    groupMemberKicked: number
    /** 1 never, 2 always */
    groupMemberBanned: number
    /** 1 never, 2 always */
    groupMemberUnbanned: number
    /** 1 never, 2 always */
    groupMemberScopeChanged: number
  }
  oneOnOnePreferences: {
    /** 1 never, 2 every message, 3 only messages that mention the user */
    oneOnOneMessages: number
    /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
    oneOnOneReplies: number
    /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
    oneOnOneQuotedReplies: number
    /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
    oneOnOneReactions: number
  }
  mutePreferences: {
    /** 1 do not disturb is off, 2 it is on: nothing is sent */
    dnd: number
    schedule: Schedule
  }
  /** true: notifications do not show what was written */
  usePrivacyTemplate: boolean
}

export interface WebPushProvider {
  /** `web_push` */
  providerId: string
  /** Whether browsers can subscribe and are told */
  isEnabled: boolean
  /** The `applicationServerKey` of `pushManager.subscribe()`: 65 bytes in base64url */
  publicKey: string
}

export interface Webhook {
  id: string
  name: string
  webhookURL: string
  /** 2: current envelope, 1: legacy envelope */
  version: number
  enabled: boolean
  useBasicAuth: boolean
  username?: string
  retryOnFailure: boolean
  /** Ids of the triggers it is subscribed to */
  triggers: string[]
  /** Why the service disabled it */
  disabledReason?: string
  /** Epoch seconds */
  disabledAt?: number
  /** Epoch seconds of the first failure since the last success */
  failingSince?: number
  /** `whsec_...`; only in the response to its creation */
  secret?: string
  createdAt: number
  updatedAt: number
}

/** What an error can say is wrong. */
export type ErrorCode =
  | 'AUTH_ERR_EMPTY_APPID'
  | 'AUTH_ERR_INVALID_APPID'
  | 'AUTH_ERR_EMPTY_APIKEY'
  | 'AUTH_ERR_APIKEY_NOT_FOUND'
  | 'AUTH_ERR_NO_ACCESS'
  | 'AUTH_ERR_EMPTY_AUTH_HEADER'
  | 'AUTH_ERR_EMPTY_AUTH_TOKEN'
  | 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'
  | 'ERR_APIKEY_NOT_FOUND'
  | 'ERR_APIKEY_NO_SELF_ACTION'
  | 'ERR_AUTH_TOKEN_NOT_FOUND'
  | 'ERR_AUTH_TOKEN_DELETE_FAILED'
  | 'ERR_AUTH_TOKENS_DELETE_FAILED'
  | 'ERR_AUTHTOKEN_UNAVAILABLE'
  | 'ERR_AUTHTOKEN_NOT_ACCESSIBLE'
  | 'ERR_PLAN_RESTRICTION'
  | 'ERR_SUBSCRIPTION_EXPIRED'
  | 'ERR_PLAN_QUOTA_RESTRICTION'
  | 'ERR_ROLE_NOT_FOUND'
  | 'ERR_ROLE_DELETE_FAILED'
  | 'ERR_ROLE_DELETE_DENIED'
  | 'ERR_UID_NOT_FOUND'
  | 'ERR_UID_ALREADY_EXISTS'
  | 'ERR_EXPORT_NOT_FOUND'
  | 'ERR_ERASURE_NOT_FOUND'
  | 'ERR_EXPORT_ALREADY_ASKED'
  | 'ERR_UID_DELETE_FAILED'
  | 'ERR_BOT_NOT_FOUND'
  | 'ERR_BOT_ALREADY_EXISTS'
  | 'ERR_GUID_NOT_FOUND'
  | 'ERR_GUID_ALREADY_EXISTS'
  | 'ERR_EMPTY_GROUP_PASS'
  | 'ERR_GROUP_DELETE_FAILED'
  | 'ERR_NOT_A_MEMBER'
  | 'ERR_WRONG_GROUP_PASS'
  | 'ERR_ALREADY_JOINED'
  | 'ERR_GROUP_NOT_JOINED'
  | 'ERR_GROUP_JOIN_NOT_ALLOWED'
  | 'ERR_MEMBER_DELETE_FAILED'
  | 'ERR_NO_VACANCY'
  | 'ERR_SAME_SCOPE'
  | 'ERR_MEMBER_SCOPE_CHANGE_FAILED'
  | 'ERR_NOT_A_BANNED_USER'
  | 'ERR_BANNED_GROUPMEMBER'
  | 'ERR_ALREADY_BANNED'
  | 'ERR_MEMBER_BAN_FAILED'
  | 'ERR_MEMBER_UNBAN_FAILED'
  | 'ERR_GROUP_NO_CLEARANCE'
  | 'ERR_GROUP_NO_ADMIN_SCOPE'
  | 'ERR_GROUP_NO_MODERATOR_SCOPE'
  | 'ERR_GROUP_NO_SCOPE_CLEARANCE'
  | 'ERR_GROUP_NO_SELF_ACTION'
  | 'ERR_EMPTY_RECEIVER'
  | 'ERR_INVALID_RECEIVER_TYPE'
  | 'ERR_CONVERSATION_NOT_FOUND'
  | 'ERR_HOLD_NOT_FOUND'
  | 'ERR_CONVERSATION_NOT_ACCESSIBLE'
  | 'ERR_USER_MESSAGE_DELETE_FAILED'
  | 'ERR_MESSAGE_ID_NOT_FOUND'
  | 'ERR_MSG_NOT_FOUND'
  | 'ERR_INVALID_MESSAGE_DATA'
  | 'ERR_EMPTY_MESSAGE_TEXT'
  | 'ERR_INVALID_MESSAGE_TEXT'
  | 'ERR_EMPTY_MESSAGE_CATEGORY'
  | 'ERR_INVALID_MESSAGE_CATEGORY'
  | 'ERR_EMPTY_MESSAGE_TYPE'
  | 'ERR_INVALID_MESSAGE_TYPE'
  | 'ERR_EMPTY_MESSAGE_FILE'
  | 'ERR_MESSAGE_NOT_A_SENDER'
  | 'ERR_MESSAGE_NO_ACCESS'
  | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
  | 'ERR_EMPTY_CUSTOM_DATA'
  | 'ERR_INVALID_CUSTOM_DATA'
  | 'ERR_INVALID_MEDIA_MESSAGE'
  | 'ERR_INVALID_METADATA'
  | 'ERR_WRONG_MESSAGE_THREAD'
  | 'ERR_MESSAGE_THREAD_NESTING'
  | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
  | 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED'
  | 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED'
  | 'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'
  | 'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'
  | 'ERR_SYSTEM_PINNED_CONVERSATION'
  | 'ERR_CALLING_SELF'
  | 'ERR_CALL_BUSY_SELF'
  | 'ERR_CALL_BUSY_GROUP'
  | 'ERR_CALL_BUSY_USER'
  | 'ERR_EMPTY_CALL_SESSION_ID'
  | 'ERR_CALL_SESSION_NOT_FOUND'
  | 'ERR_CALL_TERMINATED'
  | 'ERR_CALL_GROUP_ALREADY_JOINED'
  | 'ERR_CALL_GROUP_ALREADY_LEFT'
  | 'ERR_CALL_INVALID_INIT'
  | 'ERR_CALL_USER_ALREADY_JOINED'
  | 'ERR_CALL_GROUP_INVALID_STATUS'
  | 'ERR_CALL_ONGOING_TO_INVALID'
  | 'ERR_CALL_NOT_A_PART'
  | 'ERR_CALL_EMPTY_JOINED_AT'
  | 'ERR_CALL_NOT_STARTED'
  | 'ERR_ALREADY_FRIEND'
  | 'ERR_NOT_A_FRIEND'
  | 'ERR_CANNOT_FORM_SELF_RELATION'
  | 'ERR_FAILED_TO_ADD_FRIEND'
  | 'ERR_CANNOT_BLOCK_SELF'
  | 'ERR_BLOCKED_RECEIVER'
  | 'ERR_BLOCKED_SENDER'
  | 'ERR_PERMISSION_DENIED'
  | 'ERR_EXTENSION_NOT_FOUND'
  | 'ERR_BLOCKED_BY_EXTENSION'
  | 'ERR_WEBHOOK_NOT_FOUND'
  | 'ERR_TRIGGER_NOT_FOUND'
  | 'ERR_BLOCKED_BY_WEBHOOK'
  | 'ERR_RULE_ALREADY_EXISTS'
  | 'ERR_KEYWORD_ALREADY_EXISTS'
  | 'ERR_REASON_ALREADY_EXISTS'
  | 'ERR_DRY_RUN_NOT_FOUND'
  | 'ERR_RULE_NOT_FOUND'
  | 'ERR_KEYWORD_NOT_FOUND'
  | 'ERR_REASON_NOT_FOUND'
  | 'ERR_NOTE_NOT_FOUND'
  | 'ERR_MESSAGE_ALREADY_REVIEWED'
  | 'ERR_MESSAGE_ALREADY_CLAIMED'
  | 'ERR_MESSAGE_NOT_RELEASED'
  | 'ERR_PROVIDER_NOT_FOUND'
  | 'ERR_PROVIDER_ALREADY_EXISTS'
  | 'ERR_TOKEN_NOT_FOUND'
  | 'ERR_TOKEN_ALREADY_EXISTS'
  | 'ERR_IMPORT_UID_ERASED'
  | 'ERR_IMPORT_MUID_ERASED'
  | 'ERR_IMPORT_MUID_ALREADY_EXISTS'
  | 'ERR_IMPORT_INVALID_MESSAGE_FORMAT'
  | 'ERR_IMPORT_INVALID_USER_FORMAT'
  | 'ERR_IMPORT_INVALID_MEMBER_FORMAT'
  | 'ERR_IMPORT_INVALID_GROUP_FORMAT'
  | 'ERR_IMPORT_INVALID_RECORD_FORMAT'
  | 'ERR_IMPORT_ALREADY_EXISTS'
  | 'ERR_IMPORT_INVALID_JOINEDAT'
  | 'ERR_INVALID_API_VERSION'
  | 'ERR_API_NOT_FOUND'
  | 'ERR_MISSION_FAILED'
  | 'ERR_BAD_REQUEST'
  | 'ERR_OPERATION_FAILED'
  | 'ERR_EXCEPTION'
  | 'ERR_TOO_MANY_REQUESTS'
  | 'ERR_BAD_ERROR_RESPONSE'
  | 'ERR_WS_INIT_FAILED'
  | 'ERR_WS_APP_INIT_FAILED'
  | 'ERR_WS_APP_DESTROY_FAILED'
  | 'ERR_WS_ROLE_CREATION_FAILED'
  | 'ERR_WS_ROLE_DELETION_FAILED'
  | 'ERR_WS_USER_CREATION_FAILED'
  | 'ERR_WS_USER_UPDATION_FAILED'
  | 'ERR_WS_GROUP_CREATION_FAILED'
  | 'ERR_WS_GROUP_DELETION_FAILED'
  | 'ERR_WS_GROUP_JOIN_FAILED'
  | 'ERR_APP_CREATION_FAILED_MAX_LIMIT'
  | 'ERR_APP_ARCHIVED'
  | 'ERR_APP_DELETION'
  | 'ERR_APP_NOT_FOUND'
  | 'ERR_EXTENSION_INACTIVE'
  | 'ERR_ALREADY_AN_OWNER'
  | 'ERR_SELF_ACTION_DENIED'
  | 'ERR_NOT_A_COLLABORATOR'
  | 'ERR_INVALID_FILE_OBJECT'
  | 'ERR_FILE_SIZE_EXCEEDED'
  | 'ERR_FILE_COUNT_EXCEEDED'
  | 'ERR_S3_UPLOAD_FAILED'
  | 'ERR_PRESIGNED_URL_EXPIRED'
  | 'ERR_UPLOAD_STALLED'
  | 'ERR_SETTINGS_HASH_OUTDATED'
  | 'ERR_NO_AUTH'
  | 'ERR_TEMPLATE_NOT_FOUND'
  | 'ERR_CHANNEL_NOT_FOUND'
  | 'ERR_FEED_ITEM_NOT_FOUND'
  | 'ERR_VALIDATION'
  | 'ERR_UNAUTHORIZED'
  | 'ERR_NOT_FOUND'
  | 'ERR_CONFLICT'
  | 'ERR_INTERNAL'
  | 'ERR_ROLE_ALREADY_EXISTS'
  | 'ERR_WEBHOOK_ALREADY_EXISTS'
  | 'ERR_DELIVERY_NOT_FOUND'
  | 'ERR_OPERATOR_NOT_FOUND'
  | 'ERR_OPERATOR_ALREADY_EXISTS'
  | 'ERR_LAST_OWNER'
  | 'ERR_LINK_NOT_FOUND'
  | 'ERR_SESSION_NOT_FOUND'
  | 'ERR_WRONG_PASSWORD'
  | 'ERR_OPERATOR_CODE_REQUIRED'
  | 'ERR_WRONG_OPERATOR_CODE'
  | 'ERR_NO_SIGN_IN_PROVIDER'
  | 'ERR_SIGN_IN_NOT_FOUND'
  | 'ERR_SIGN_IN_REFUSED'
  | 'ERR_SIGN_IN_PROVIDER_UNAVAILABLE'
  | 'ERR_NOT_INVITED'
  | 'ERR_OPERATOR_DISABLED'
  | 'ERR_IDENTITY_NOT_FOUND'
  | 'ERR_IDENTITY_ALREADY_EXISTS'
  | 'ERR_READING_REQUIRED'
  | 'ERR_DOCTOR_RUNS'
  | 'ERR_APP_ALREADY_EXISTS'
  | 'ERR_APP_ALREADY_PAUSED'
  | 'ERR_APP_NOT_PAUSED'
  | 'ERR_APP_ALREADY_DELETED'
  | 'ERR_APP_NOT_DELETED'
  | 'ERR_DEFAULT_APP_DELETE_DENIED'

/**
 * Every operation, by method and path: what goes in, members of path, query and body side by side, and what is answered.
 * Names behind a question mark are sent in the query of an operation that has a body.
 */
export interface Calls {
  /** Delete another API key. Requests with it are refused from then on. The key of the request itself cannot be deleted. */
  'DELETE /apikeys/{apiKey}': {
    input: {
      /** The key itself */
      apiKey: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete a webhook and its pending deliveries. For good, with the record of its deliveries. */
  'DELETE /apps/{appId}/webhooks/{webhookId}': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      webhookId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Unsubscribe a webhook from triggers. The others stay. A trigger that it is not subscribed to is not an error. */
  'DELETE /apps/{appId}/webhooks/{webhookId}/triggers': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      webhookId: string
      triggerIds: string[]
    }
    answer: {
      data: Outcome
    }
  }
  /** Unblock users as the acting user. At most 100 at once. Blocks by the other users stay in force. */
  'DELETE /blockedusers': {
    input: {
      blockedUids: string[]
    }
    answer: {
      data: Record<string, {
        success: boolean
        message?: string
        error?: Record<string, unknown>
      }>
    }
  }
  /** Delete a conversation and its messages for everyone. In groups only for admins. Not available with auth tokens: users can only clear a conversation for themselves. */
  'DELETE /conversations/{conversationId}': {
    input: {
      conversationId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete a group with its members and all its messages. For good. With an acting user, only for the owner unless the permissions of the group say otherwise. */
  'DELETE /groups/{guid}': {
    input: {
      guid: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Unban a user. The user does not become a member again. */
  'DELETE /groups/{guid}/bannedusers/{uid}': {
    input: {
      guid: string
      uid: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Clear the conversation with a group, for the acting user. Hides the messages up to now from the acting user, and removes the conversation from their list until the next message; with preserveOrder it keeps its place. The other members see what they saw. */
  'DELETE /groups/{guid}/conversation': {
    input: {
      guid: string
      preserveOrder?: boolean
    }
    answer: {
      data: Outcome
    }
  }
  /** Unpin the conversation with a group, for the acting user. Unpinning one that is not pinned changes nothing. A conversation that is pinned for everyone stays pinned. */
  'DELETE /groups/{guid}/conversation/pin': {
    input: {
      guid: string
    }
    answer: {
      data: {
        conversationId: string
        conversationType: 'user' | 'group'
        pinnedBy?: string
        pinnedAt?: number
      }
    }
  }
  /** Mark the messages of a group as unread. This message and all after it count as unread again; without messageId the newest of another member. Receipts that others have seen stay. */
  'DELETE /groups/{guid}/conversation/read': {
    input: {
      guid: string
      /** Message id, as an integer or a decimal string */
      messageId?: number | string
    }
    answer: {
      data: {
        success: boolean
        message: string
        conversation?: Conversation
      }
    }
  }
  /** Leave a group. An owner has to transfer the ownership first. */
  'DELETE /groups/{guid}/members': {
    input: {
      guid: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Kick a member. They can join again, or be added. The owner cannot be kicked, nor a member whose scope is above that of the acting user. */
  'DELETE /groups/{guid}/members/{uid}': {
    input: {
      guid: string
      uid: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Keep the messages of a group as long as the app has set. Removes the rule of the group. What the app has set holds for all of its messages, from the next look on. */
  'DELETE /groups/{guid}/retention': {
    input: {
      guid: string
    }
    answer: {
      data: {
        /** Days that messages are kept; 0: for ever */
        days: number
        mode: 'delete' | 'strip'
        /** The group has its own; else that of the app holds */
        isOwn: boolean
      }
    }
  }
  /** Reset one permission of a scope in a group. The default applies again. Resetting a permission that is not set is not an error; an unknown key is. */
  'DELETE /groups/{guid}/scopes/{scope}/permissions/{permission}': {
    input: {
      guid: string
      /** admin, moderator or participant */
      scope: string
      /** Permission key */
      permission: string
    }
    answer: {
      data: {
        permissions: Record<string, string | string[]>
      }
    }
  }
  /** Log out: delete the auth token of this request. Its sockets are closed. An API key has no login to end: that is refused. */
  'DELETE /me': {
    input: object
    answer: {
      data: Outcome
    }
  }
  /** Delete a message. The message stays in the history without its content. With permanent it is removed, with its replies and reactions; if the acting user cannot delete the replies of others, those stay and the message is deleted as without permanent. Returns the action message of the deletion. Action messages, and those of calls, can only be removed by the app, with permanent and without an acting user; nobody is told, and the answer is the message as it was. */
  'DELETE /messages/{messageId}': {
    input: {
      /** Message id */
      messageId: string
      permanent?: boolean
    }
    answer: {
      data: Message
    }
  }
  /** Unpin a message. Whoever pinned it. In a group the acting user needs the right to pin. One that is not pinned stays as it is. */
  'DELETE /messages/{messageId}/pin': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: Message
    }
  }
  /** Remove the acting user's reaction to a message. Removing a reaction that does not exist changes nothing. Returns the message with its reactions. */
  'DELETE /messages/{messageId}/reactions/{reaction}': {
    input: {
      /** Message id */
      messageId: string
      /** An emoji or other text of at most 45 characters, URL-encoded */
      reaction: string
    }
    answer: {
      data: Message
    }
  }
  /** Remove a saved message of the acting user. One that is not saved stays as it is. Of a message that the user does not see any more, the answer has no content. */
  'DELETE /messages/{messageId}/save': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: Message
    }
  }
  /** Unfollow a thread as the acting user. The next reply of the user, or mention in a reply, makes them follow it again. */
  'DELETE /messages/{messageId}/thread/subscription': {
    input: {
      /** Id of the parent message */
      messageId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Give claimed messages back. Beyond the public contract. Without ids all that the reviewer has claimed. */
  'DELETE /moderation/claims': {
    input: {
      reviewer: string
      ids?: (number | string)[]
    }
    answer: {
      data: Outcome
    }
  }
  /** Forget the engine that finds labels of pictures and videos. Rules with labels then fail as their failure setting says: by default the condition is not met. */
  'DELETE /moderation/engines/labels': {
    input: object
    answer: {
      data: Outcome
    }
  }
  /** Forget the language model that answers prompts. Rules with prompts then fail as their failure setting says: by default the condition is not met. */
  'DELETE /moderation/engines/llm': {
    input: object
    answer: {
      data: Outcome
    }
  }
  /** Delete a list of moderation rules. A list that a rule uses which is on or in shadow mode cannot be deleted: the answer names those rules. Rules that are off cannot be switched on without it. */
  'DELETE /moderation/keywords/{keywordId}': {
    input: {
      keywordId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete a message with its moderation data. Removes it for good, with its replies and reactions, and with all that moderation knows of it: decisions, flags, notes. */
  'DELETE /moderation/messages/{messageId}': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete a note. Beyond the public contract. */
  'DELETE /moderation/messages/{messageId}/notes/{noteId}': {
    input: {
      /** Message id */
      messageId: string
      noteId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete a reason for flagging messages. Also predefined ones. Messages that were flagged with it keep its id. */
  'DELETE /moderation/reasons/{id}': {
    input: {
      id: string
    }
    answer: Outcome
  }
  /** Delete a moderation rule. Predefined rules, too. What it decided stays as it is. A rule that is made under its id later goes on counting revisions. */
  'DELETE /moderation/rules/{ruleId}': {
    input: {
      ruleId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Stop a dry run. Soon, where it runs. What it found so far stays. */
  'DELETE /moderation/rules/{ruleId}/dry-run': {
    input: {
      ruleId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Remove the app's own e-mail provider. What waits to be sent is not sent. */
  'DELETE /notifications/email/v1/providers/custom': {
    input: object
    answer: Done
  }
  /** Remove the SendGrid credentials. What waits to be sent is not sent. Replies are no longer taken. */
  'DELETE /notifications/email/v1/providers/sendgrid': {
    input: object
    answer: Done
  }
  /** Send no more e-mails by the mail server of the deployment. The same as switching it off: `PUT` with `isEnabled: true` takes it back. */
  'DELETE /notifications/email/v1/providers/smtp': {
    input: object
    answer: Done
  }
  /** Reset your own notification preferences. The settings of the app hold again. Muted conversations and the time zone stay. */
  'DELETE /notifications/push/v1/preferences': {
    input: object
    answer: {
      data: UserPreferences
    }
  }
  /** Unmute conversations of yours. A conversation that is not muted is not an error. */
  'DELETE /notifications/push/v1/preferences/mute': {
    input: {
      conversations: ({
        /** uid or guid */
        id: string
        type: 'oneOnOne' | 'group'
      })[]
    }
    answer: Done
  }
  /** Remove an APNs provider with the devices registered for it. These devices get no pushes until they are registered again. */
  'DELETE /notifications/push/v1/providers/apns/{providerId}': {
    input: {
      providerId: string
    }
    answer: Done
  }
  /** Remove the app's own push provider. What waits to be sent is not sent. */
  'DELETE /notifications/push/v1/providers/custom': {
    input: object
    answer: Done
  }
  /** Remove an FCM provider with the devices registered for it. These devices get no pushes until they are registered again. */
  'DELETE /notifications/push/v1/providers/fcm/{providerId}': {
    input: {
      providerId: string
    }
    answer: Done
  }
  /** Remove the keys of Web Push with all subscriptions. For keys that somebody else may have seen. Whoever asks for the key next gets a new one, and browsers must subscribe again. To have no Web Push at all, turn it off. */
  'DELETE /notifications/push/v1/providers/web_push': {
    input: object
    answer: Done
  }
  /** Unregister one device of a user. Returns the device that was unregistered. */
  'DELETE /notifications/push/v1/tokens/{pushToken}': {
    input: {
      pushToken: string
      /** With an API key: the auth token of the device, required. Otherwise that of the request counts */
      authToken?: string
    }
    answer: {
      data: {
        pushTokens: PushToken[]
      }
    }
  }
  /** Unregister the device of an auth token, or all devices of its user. Returns the devices that were unregistered. */
  'DELETE /notifications/push/v1/tokens?all': {
    input: {
      /** true: all devices of the user, not only that of the auth token */
      all?: boolean
      /** With an API key: the auth token of the device, required. Otherwise that of the request counts */
      authToken?: string
    }
    answer: {
      data: {
        pushTokens: PushToken[]
      }
    }
  }
  /** Remove the app's own SMS provider. What waits to be sent is not sent. */
  'DELETE /notifications/sms/v1/providers/custom': {
    input: object
    answer: Done
  }
  /** Remove the Twilio credentials. What waits to be sent is not sent. */
  'DELETE /notifications/sms/v1/providers/twilio': {
    input: object
    answer: Done
  }
  /** Remove the e-mail address and the phone number of a user. They get no e-mails and no SMS any more, unless the app's own provider knows where to send them. */
  'DELETE /notifications/v1/contact-details': {
    input: object
    answer: Done
  }
  /** Unmute conversations for a user. A conversation that is not muted is not an error. */
  'DELETE /notifications/v1/preferences/mute?uid': {
    input: {
      /** The user */
      uid: string
      conversations: ({
        /** uid or guid */
        id: string
        type: 'oneOnOne' | 'group'
      })[]
    }
    answer: Done
  }
  /** Reset the notification preferences of a user. The settings of the app hold again. Muted conversations and the time zone stay. */
  'DELETE /notifications/v1/preferences?uid': {
    input: {
      /** The user */
      uid: string
    }
    answer: {
      data: UserPreferences
    }
  }
  /** Reset the notification settings of the app to their defaults. Preferences, templates and sounds alike. What users have chosen stays, where the defaults let them choose. */
  'DELETE /notifications/v1/settings': {
    input: object
    answer: Done
  }
  /** Subscribe a user again. Only if they have asked for it. */
  'DELETE /notifications/v1/unsubscriptions?channel': {
    input: {
      channel?: 'email' | 'sms'
    }
    answer: Done
  }
  /** Lift the hold of a conversation. What has grown too old meanwhile goes with the next look, unless something else keeps it. */
  'DELETE /retention/conversations/{conversationId}/hold': {
    input: {
      conversationId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Lift the hold of a user. What has grown too old meanwhile goes with the next look, unless something else keeps it. */
  'DELETE /retention/users/{uid}/hold': {
    input: {
      uid: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete a role. Its users get the role default, which cannot be deleted. */
  'DELETE /roles/{role}': {
    input: {
      role: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Reset one permission of a role. The default applies again. Resetting a permission that is not set is not an error; an unknown key is. */
  'DELETE /roles/{role}/permissions/{permission}': {
    input: {
      role: string
      /** Permission key */
      permission: string
    }
    answer: {
      data: {
        permissions: Record<string, string | string[]>
      }
    }
  }
  /** Allow restricted features for a role. A feature that is not restricted is not an error; an unknown key is. */
  'DELETE /roles/{role}/restrictedfeatures': {
    input: {
      role: string
      /** Feature keys, with or without the prefix u. */
      featuresToAllow?: string[]
      /** Allow all features */
      allowAll?: boolean
    }
    answer: {
      data: Outcome
    }
  }
  /** Deactivate users. At most 100 at once. Their auth tokens are deleted, and their memberships are no longer counted or listed; nothing else is deleted. The response also has users who were already deactivated; unknown uids and the system user are ignored. */
  'DELETE /users': {
    input: {
      uidsToDeactivate?: string[]
    }
    answer: {
      data: {
        deactivatedUids: string[]
      }
    }
  }
  /** Deactivate or delete a user. Without permanent, the user is deactivated. With permanent, the user's profile, one-to-one conversations with their messages, auth tokens, relations and memberships are deleted; their messages in groups stay without their name, except those that moderation holds; groups they own are transferred to the admin who joined first, or else to the system user. Digests of the uid and of muids stay, so that an import does not bring back what was erased; list-user-erasures has the certificate. */
  'DELETE /users/{uid}': {
    input: {
      uid: string
      permanent?: boolean
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete all auth tokens of a user. Ends all logins of the user: requests with these tokens are refused, and their sockets are closed. So are JWTs that the own issuer of the app has signed until now. */
  'DELETE /users/{uid}/auth_tokens': {
    input: {
      uid: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete an auth token. Ends one login: requests with the token are refused, and its sockets are closed. */
  'DELETE /users/{uid}/auth_tokens/{authToken}': {
    input: {
      uid: string
      /** The token itself */
      authToken: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Unblock users for a user. At most 100 at once. Blocks by the other users stay in force. */
  'DELETE /users/{uid}/blockedusers': {
    input: {
      uid: string
      blockedUids: string[]
    }
    answer: {
      data: Record<string, {
        success: boolean
        message?: string
        error?: Record<string, unknown>
      }>
    }
  }
  /** Clear the conversation with a user, for the acting user. Hides the messages up to now from the acting user, and removes the conversation from their list until the next message; with preserveOrder it keeps its place. deleteMessagesPermanently deletes the messages for both users if sent with an API key; with an auth token it only hides them. */
  'DELETE /users/{uid}/conversation': {
    input: {
      uid: string
      deleteMessagesPermanently?: boolean
      preserveOrder?: boolean
    }
    answer: {
      data: Outcome
    }
  }
  /** Unpin the conversation with a user, for the acting user. Unpinning one that is not pinned changes nothing. A conversation that is pinned for everyone stays pinned. */
  'DELETE /users/{uid}/conversation/pin': {
    input: {
      uid: string
    }
    answer: {
      data: {
        conversationId: string
        conversationType: 'user' | 'group'
        pinnedBy?: string
        pinnedAt?: number
      }
    }
  }
  /** Mark the messages from a user as unread. Marks messageId and everything after it; without messageId, the newest message of the other user. Receipts do not change. */
  'DELETE /users/{uid}/conversation/read': {
    input: {
      uid: string
      /** Message id, as an integer or a decimal string */
      messageId?: number | string
    }
    answer: {
      data: {
        success: boolean
        message: string
        conversation?: Conversation
      }
    }
  }
  /** Remove friends of a user. Both ways. Users who are no friends are passed over, unless none of those named is one. */
  'DELETE /users/{uid}/friends': {
    input: {
      uid: string
      /** At most 25, unless the app's settings say otherwise */
      friends?: string[]
    }
    answer: {
      data: Outcome
    }
  }
  /** Delete a webhook and its pending deliveries (short path). For good, with the record of its deliveries. */
  'DELETE /webhooks/{webhookId}': {
    input: {
      webhookId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Unsubscribe a webhook from triggers (short path). The others stay. A trigger that it is not subscribed to is not an error. */
  'DELETE /webhooks/{webhookId}/triggers': {
    input: {
      webhookId: string
      triggerIds: string[]
    }
    answer: {
      data: Outcome
    }
  }
  /** List API keys, newest first. Keys are shown in full. The list has those of one scope, or whose name contains searchKey, if asked for. */
  'GET /apikeys': {
    input: {
      scope?: 'fullAccess' | 'authOnly'
      /** Part of the name */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: ({
        apiKey: string
        name: string
        scope: 'fullAccess' | 'authOnly'
        createdAt: number
      })[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get an API key. Name, scope and time of creation of a key of this app. */
  'GET /apikeys/{apiKey}': {
    input: {
      /** The key itself */
      apiKey: string
    }
    answer: {
      data: {
        apiKey: string
        name: string
        scope: 'fullAccess' | 'authOnly'
        createdAt: number
      }
    }
  }
  /** Get the settings of the app. Every setting with its value, those that were never set with their default. */
  'GET /apps/{appId}/settings': {
    input: {
      /** The app that the key belongs to */
      appId: string
    }
    answer: {
      data: AppSettingsOut
    }
  }
  /** List webhooks, newest first. Without their secrets. Those that the service has disabled say why. */
  'GET /apps/{appId}/webhooks': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      /** Part of the name */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: Webhook[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get a webhook. Without its secret. One that the service has disabled says why. */
  'GET /apps/{appId}/webhooks/{webhookId}': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      webhookId: string
    }
    answer: {
      data: Webhook
    }
  }
  /** List the triggers of a webhook. With what each is about. */
  'GET /apps/{appId}/webhooks/{webhookId}/triggers': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      webhookId: string
    }
    answer: {
      data: {
        id: string
        description: string
      }[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** List the audit log, newest entries first. All filters can be combined. For the next page, send `meta.next.before` as `before`. */
  'GET /audit-log': {
    input: {
      action?: 'app_created' | 'app_settings_updated' | 'app_paused' | 'app_resumed' | 'app_deleted' | 'app_undeleted' | 'app_removed' | 'notification_settings_updated' | 'apikey_created' | 'apikey_updated' | 'apikey_deleted' | 'token_created' | 'token_deleted' | 'user_created' | 'user_updated' | 'user_deleted' | 'group_retention_updated' | 'retention_hold_set' | 'retention_hold_lifted' | 'person_export_asked' | 'person_export_released' | 'person_export_made' | 'person_export_fetched' | 'user_banned' | 'user_unbanned' | 'group_deleted' | 'role_created' | 'role_updated' | 'role_deleted' | 'role_permissions_updated' | 'role_features_updated' | 'scope_permissions_updated' | 'data_imported' | 'webhook_created' | 'webhook_updated' | 'webhook_deleted' | 'provider_created' | 'provider_updated' | 'provider_deleted' | 'moderation_engine_updated' | 'moderation_engine_deleted' | 'moderation_rule_created' | 'moderation_rule_updated' | 'moderation_rule_deleted' | 'moderation_dry_run_started' | 'moderation_list_created' | 'moderation_list_updated' | 'moderation_list_deleted' | 'moderation_reason_created' | 'moderation_reason_updated' | 'moderation_reason_deleted' | 'message_reviewed' | 'moderation_acted' | 'operator_created' | 'operator_updated' | 'operator_deleted' | 'operator_invited' | 'operator_invitation_withdrawn' | 'operator_signed_in' | 'operator_signed_out' | 'operator_session_ended' | 'operator_password_changed' | 'operator_linked' | 'operator_unlinked' | 'operator_sign_in_refused' | 'operator_totp_enabled' | 'operator_totp_disabled' | 'operator_token_created' | 'operator_token_deleted' | 'operator_acted' | 'reading_opened' | 'conversation_read' | 'emulators_read' | 'doctor_started' | 'doctor_stopped' | 'master_key_changed'
      /** The first 8 digits of the digest of an API key, as in the log */
      key?: string
      /** The acting user */
      uid?: string
      /** ID of the operator */
      operator?: string
      targetType?: 'app' | 'apikey' | 'user' | 'group' | 'role' | 'webhook' | 'provider' | 'engine' | 'rule' | 'list' | 'reason' | 'message' | 'conversation' | 'operator' | 'session' | 'doctor' | 'master_key'
      /** ID of the target */
      target?: string
      /** Only entries from this time on */
      from?: number
      /** Only entries up to this time */
      to?: number
      limit?: number
      /** Only older entries */
      before?: string
    }
    answer: {
      data: AuditEntry[]
      meta: {
        current: {
          limit: number
          count: number
        }
        next?: {
          before: string
        }
      }
    }
  }
  /** List the acting user's blocked users. By default the users whom this user blocked, newest block first. direction selects these, the users who blocked this user, or both. Deactivated users are left out. */
  'GET /blockedusers': {
    input: {
      direction?: 'blockedByMe' | 'hasBlockedMe' | 'both'
      /** Part of the name or uid */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: User[]
      meta: {
        /** true where the search has more than 10000 hits: so many were counted. Otherwise absent, and counts are exact */
        countAtLeast?: boolean
        pagination: {
          total: number
          count: number
          per_page: number
          current_page: number
          total_pages: number
        }
        cursor?: UpdatedAtCursor
      }
    }
  }
  /** List conversations. With onBehalfOf: that user's conversations, pinned ones first, then by last message, newest first. Without: all conversations, each once for every participant, by uid, then by last message; with unique=1 only once. */
  'GET /conversations': {
    input: {
      /** Part of the name of the other user or the group */
      searchKey?: string
      conversationType?: 'user' | 'group'
      /** Return the tags that the participant gave each conversation */
      withTags?: boolean
      tags?: string[]
      /** Return the tags of the other user or of the group, too */
      withUserAndGroupTags?: boolean
      userTags?: string[]
      groupTags?: string[]
      /** Only conversations with unread messages */
      unread?: boolean
      includeBlockedUsers?: boolean
      withBlockedInfo?: boolean
      hideAgentic?: boolean
      onlyAgentic?: boolean
      /** Without an acting user: list each conversation only once */
      unique?: boolean
      /** Accepted, without effect: the list is always paged */
      useCursoredIndex?: boolean
      page?: number
      perPage?: number
    }
    answer: {
      data: Conversation[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** List the conversations pinned for everyone. They stand first in every user's list of conversations, where the user takes part. */
  'GET /conversations/pinned': {
    input: object
    answer: {
      data: ({
        conversationId: string
        conversationType: 'user' | 'group'
        pinnedBy?: string
        pinnedAt?: number
      })[]
    }
  }
  /** Get a conversation by its ID. As the acting user sees it: last message, unread count, tags, pin. By the user or the group it is with, it can be read without knowing its ID. */
  'GET /conversations/{conversationId}': {
    input: {
      conversationId: string
    }
    answer: {
      data: Conversation
    }
  }
  /** Pull events. Events come in order, at least once, without gaps. The first request, without `after`, returns no events, only the cursor to start from. From then on, events of the app are stored; each request extends this for the retention time. */
  'GET /events': {
    input: {
      /** `meta.cursor` of the previous response; `0`: all that are stored since the app began to pull */
      after?: string
      limit?: number
      /** Only events of these triggers */
      triggers?: ('message_sent' | 'message_edited' | 'message_deleted' | 'message_delivery_receipt' | 'message_read_receipt' | 'message_delivered_to_all' | 'message_read_by_all' | 'message_reaction_added' | 'message_reaction_removed' | 'user_mentioned' | 'user_blocked' | 'user_unblocked' | 'user_connection_status_changed' | 'group_created' | 'group_updated' | 'group_deleted' | 'group_owner_transferred' | 'group_member_joined' | 'group_member_left' | 'group_member_added' | 'group_member_kicked' | 'group_member_banned' | 'group_member_unbanned' | 'group_member_scope_changed' | 'moderation_engine_approved' | 'moderation_engine_blocked' | 'moderation_manual_approved' | 'moderation_engine_failed')[]
    }
    answer: {
      data: PulledEvent[]
      meta: {
        /** For `after` of the next request */
        cursor: string
        /** More events are available */
        more: boolean
      }
    }
  }
  /** List the acting user's friends, by name. Deactivated friends are left out. */
  'GET /friends': {
    input: {
      /** Part of a uid or name */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: User[]
      meta: {
        /** true where the search has more than 10000 hits: so many were counted. Otherwise absent, and counts are exact */
        countAtLeast?: boolean
        pagination: {
          total: number
          count: number
          per_page: number
          current_page: number
          total_pages: number
        }
        cursor?: UpdatedAtCursor
      }
    }
  }
  /** List groups. With an acting user: the public and password groups, and the private groups they are a member of, each with their scope. Ordered by name, or with updatedAt by the time of the last change, from the cursor in the direction of affix; the cursor's own second is included, so that no change is missed; without page, a page is longer than perPage where more groups share that second. In type and types, protected is another word for password. */
  'GET /groups': {
    input: {
      /** Part of the guid or name */
      searchKey?: string
      searchIn?: ('guid' | 'name')[]
      sortBy?: 'name' | 'guid' | 'createdAt'
      sortOrder?: 'asc' | 'desc'
      affix?: 'append' | 'prepend'
      /** Epoch seconds */
      updatedAt?: number
      /** Return the tags of each group */
      withTags?: boolean
      /** Groups with any of these tags */
      tags?: string[]
      type?: 'public' | 'password' | 'private' | 'protected'
      types?: ('public' | 'password' | 'private' | 'protected')[]
      /** Only groups that the acting user is a member of */
      hasJoined?: boolean
      guid?: string
      guids?: string[]
      /** Epoch seconds */
      'createdAt[from]'?: number
      /** Epoch seconds */
      'createdAt[to]'?: number
      /** Epoch seconds */
      'updatedAt[from]'?: number
      /** Epoch seconds */
      'updatedAt[to]'?: number
      'membersCount[gt]'?: number
      'membersCount[gte]'?: number
      'membersCount[lt]'?: number
      'membersCount[lte]'?: number
      'membersCount[eq]'?: number
      page?: number
      perPage?: number
    }
    answer: {
      data: Group[]
      meta: {
        /** true where the search has more than 10000 hits: so many were counted. Otherwise absent, and counts are exact */
        countAtLeast?: boolean
        pagination: {
          total: number
          count: number
          per_page: number
          current_page: number
          total_pages: number
        }
        cursor?: UpdatedAtCursor
      }
    }
  }
  /** Get a group. For users who are not members, a private group does not exist. onlineMembersCount counts as POST /online-members does, and is left out for members who may not list the others. */
  'GET /groups/{guid}': {
    input: {
      guid: string
    }
    answer: {
      data: Group
    }
  }
  /** List the banned users of a group, newest ban first. With an acting user, only for admins and moderators of the group unless its permissions say otherwise. */
  'GET /groups/{guid}/bannedusers': {
    input: {
      guid: string
      page?: number
      perPage?: number
    }
    answer: {
      data: User[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get the conversation with a group. As the acting user sees it: last message, unread count, tags, pin. */
  'GET /groups/{guid}/conversation': {
    input: {
      guid: string
    }
    answer: {
      data: Conversation
    }
  }
  /** List the members of a group, by name. With their scope and when they joined. With an acting user, only for members of the group. */
  'GET /groups/{guid}/members': {
    input: {
      guid: string
      status?: 'available' | 'offline'
      scopes?: ('admin' | 'moderator' | 'participant')[]
      /** Part of the uid or name */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: ({
        uid: string
        name: string
        avatar?: string
        link?: string
        role?: string
        status?: 'available' | 'offline'
        statusMessage?: string
        metadata?: Record<string, unknown>
        tags?: string[]
        /** Epoch seconds */
        createdAt?: number
        /** Epoch seconds */
        updatedAt?: number
        /** Epoch seconds */
        lastActiveAt?: number
        /** Epoch seconds */
        deactivatedAt?: number
        /** Conversation between this user and the viewer */
        conversationId?: string
        blockedByMe?: boolean
        /** Epoch seconds */
        blockedByMeAt?: number
        hasBlockedMe?: boolean
        /** Epoch seconds */
        blockedAt?: number
        scope: 'admin' | 'moderator' | 'participant'
        /** Epoch seconds */
        joinedAt: number
      })[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** List messages of a group. With an acting user, only for members, and what they may see. Pages go by cursors; without affix and cursor the oldest come first. */
  'GET /groups/{guid}/messages': {
    input: {
      guid: string
      /** Only messages whose text or caption contains this string; works in every script and ignores case, width and repeated spaces */
      searchKey?: string
      affix?: 'append' | 'prepend'
      /** Cursor: id of a message */
      id?: string
      /** Cursor: epoch seconds */
      sentAt?: number
      /** Cursor by time of change, epoch seconds. Without id, the page includes this second, and is longer than limit where more changes share it */
      updatedAt?: number
      /** With updatedAt: only messages changed after they were sent */
      onlyUpdates?: boolean
      limit?: number
      perPage?: number
      category?: 'message' | 'custom' | 'interactive' | 'action' | 'call' | 'card'
      categories?: string[]
      type?: string
      types?: string[]
      sender?: string
      tags?: string[]
      /** Return the tags of each message */
      withTags?: boolean
      hasAttachments?: boolean
      attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[]
      hasLinks?: boolean
      hasReactions?: boolean
      /** Only messages that mention a user of the app */
      hasMentions?: boolean
      /** Only messages that mention one of these uids */
      mentionedUids?: string[]
      /** Only messages that mention the acting user */
      myMentionsOnly?: boolean
      /** Return the tags of mentioned users */
      mentionsWithTagInfo?: boolean
      /** Return the blocks between the acting user and mentioned users */
      mentionsWithBlockedInfo?: boolean
      /** Only pinned messages */
      pinned?: boolean
      /** Only messages pinned by this uid (or app_system) */
      pinnedBy?: string
      /** Only messages saved by the acting user */
      saved?: boolean
      hideReplies?: boolean
      hideDeleted?: boolean
      onlyDeleted?: boolean
      fromTimestamp?: number
      /** Ignored without fromTimestamp */
      toTimestamp?: number
      /** Leave out messages of users blocked by the acting user, also where other messages quote them */
      hideMessagesFromBlockedUsers?: boolean
      hideQuotedMessages?: boolean
      /** Return for each message with a thread whether the acting user follows it */
      withThreadSubscribed?: boolean
      /** Only messages that the acting user has not read */
      unread?: boolean
      /** Only messages not delivered to the acting user */
      undelivered?: boolean
      /** Return the number of messages per conversation instead of messages: `{"data": [{"entityId": "bob", "entityType": "user", "count": 3}]}` */
      count?: boolean
    }
    answer: MessagePage
  }
  /** Get how long the messages of a group are kept. Its own rule, or that of the app where isOwn is false. */
  'GET /groups/{guid}/retention': {
    input: {
      guid: string
    }
    answer: {
      data: {
        /** Days that messages are kept; 0: for ever */
        days: number
        mode: 'delete' | 'strip'
        /** The group has its own; else that of the app holds */
        isOwn: boolean
      }
    }
  }
  /** List the permissions of a scope in a group. Every permission that there is, with its default, and its value where one is set. */
  'GET /groups/{guid}/scopes/{scope}/permissions': {
    input: {
      guid: string
      /** admin, moderator or participant */
      scope: string
      page?: number
      perPage?: number
    }
    answer: {
      data: ({
        id: string
        type: 'role' | 'scope'
        title: string
        description: string
        dataType: 'string' | 'stringArray' | 'rolesStringArray' | 'customStringArray'
        availableValues: string[]
        defaultValue: string | string[]
        value?: string | string[]
        /** Epoch seconds */
        createdAt: number
        /** Epoch seconds */
        updatedAt: number
      })[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** List threads of a group. Threads with the newest reply first. As in every cursor list, affix=prepend (the default here) returns older threads and append newer ones; within a page the newest is always first. */
  'GET /groups/{guid}/threads': {
    input: {
      guid: string
      limit?: number
      affix?: 'append' | 'prepend'
      /** Cursor: time of the last reply, epoch seconds. Without id, the page includes this second, and is longer than limit where more threads share it */
      updatedAt?: number
      /** Cursor, together with updatedAt: id of the parent message, for threads with the same second */
      id?: string
      /** Only threads in which the acting user wrote the parent or a reply */
      participatedByMe?: boolean
      withUnreadReplyCount?: boolean
      withMentionCount?: boolean
    }
    answer: {
      data: Thread[]
      meta: CursorMeta
    }
  }
  /** Get the acting user. With an auth token the answer also has the token for the socket. */
  'GET /me': {
    input: object
    answer: {
      data: {
        uid: string
        name: string
        avatar?: string
        link?: string
        role?: string
        status?: 'available' | 'offline'
        statusMessage?: string
        metadata?: Record<string, unknown>
        tags?: string[]
        /** Epoch seconds */
        createdAt?: number
        /** Epoch seconds */
        updatedAt?: number
        /** Epoch seconds */
        lastActiveAt?: number
        /** Epoch seconds */
        deactivatedAt?: number
        /** Conversation between this user and the viewer */
        conversationId?: string
        blockedByMe?: boolean
        /** Epoch seconds */
        blockedByMeAt?: number
        hasBlockedMe?: boolean
        /** Epoch seconds */
        blockedAt?: number
        /** The auth token of this request */
        authToken?: string
        /** The token for the auth frame of the socket */
        jwt?: string
        wsChannel?: {
          identity: string
          secret: string
          service: string
        }
        settings?: ClientSettings
      }
    }
  }
  /** Catch up on what the sockets of the user were sent. Without `after`, there are no events, only `meta.after` to start from; take it before you read lists. Afterwards each request returns what happened since, oldest first, as frames of the socket: messages, edits, deletions, reactions, receipts, pins, saves, changes of members, as far as the user may see them now. Repeat the request with `meta.after` while `meta.more` is true. With `meta.reload`, events are missing: read the lists again. From the first request on, events of the app are stored; each request of any of its users extends this for a day. They are kept for as long as all events (`EVENTS_RETENTION_DAYS`). */
  'GET /me/events': {
    input: {
      /** `meta.after` of the previous response */
      after?: string
      limit?: number
    }
    answer: {
      data: FeedEvent[]
      meta: {
        /** For `after` of the next request */
        after: string
        /** There is more to ask for, at once */
        more: boolean
        /** true: events after the given place are gone */
        reload?: boolean
      }
    }
  }
  /** List messages. With an acting user: of all their conversations. Without: all messages of the app. Pages go by cursors; without affix and cursor the oldest come first. */
  'GET /messages': {
    input: {
      /** Only messages whose text or caption contains this string; works in every script and ignores case, width and repeated spaces */
      searchKey?: string
      affix?: 'append' | 'prepend'
      /** Cursor: id of a message */
      id?: string
      /** Cursor: epoch seconds */
      sentAt?: number
      /** Cursor by time of change, epoch seconds. Without id, the page includes this second, and is longer than limit where more changes share it */
      updatedAt?: number
      /** With updatedAt: only messages changed after they were sent */
      onlyUpdates?: boolean
      limit?: number
      perPage?: number
      category?: 'message' | 'custom' | 'interactive' | 'action' | 'call' | 'card'
      categories?: string[]
      type?: string
      types?: string[]
      sender?: string
      tags?: string[]
      /** Return the tags of each message */
      withTags?: boolean
      hasAttachments?: boolean
      attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[]
      hasLinks?: boolean
      hasReactions?: boolean
      /** Only messages that mention a user of the app */
      hasMentions?: boolean
      /** Only messages that mention one of these uids */
      mentionedUids?: string[]
      /** Only messages that mention the acting user */
      myMentionsOnly?: boolean
      /** Return the tags of mentioned users */
      mentionsWithTagInfo?: boolean
      /** Return the blocks between the acting user and mentioned users */
      mentionsWithBlockedInfo?: boolean
      /** Only pinned messages */
      pinned?: boolean
      /** Only messages pinned by this uid (or app_system) */
      pinnedBy?: string
      /** Only messages saved by the acting user */
      saved?: boolean
      hideReplies?: boolean
      hideDeleted?: boolean
      onlyDeleted?: boolean
      fromTimestamp?: number
      /** Ignored without fromTimestamp */
      toTimestamp?: number
      /** Leave out messages of users blocked by the acting user, also where other messages quote them */
      hideMessagesFromBlockedUsers?: boolean
      hideQuotedMessages?: boolean
      /** Return for each message with a thread whether the acting user follows it */
      withThreadSubscribed?: boolean
      /** Only messages that the acting user has not read */
      unread?: boolean
      /** Only messages not delivered to the acting user */
      undelivered?: boolean
      /** Return the number of messages per conversation instead of messages: `{"data": [{"entityId": "bob", "entityType": "user", "count": 3}]}` */
      count?: boolean
      receiverType?: 'user' | 'group'
      conversationId?: string
      senders?: string[]
      'sentAt[from]'?: number
      'sentAt[to]'?: number
      'updatedAt[from]'?: number
      'updatedAt[to]'?: number
      'editedAt[from]'?: number
      'editedAt[to]'?: number
    }
    answer: MessagePage
  }
  /** Get a message. For a message to a group, the sender and the app also get receipts: who received it, out of the users who were members when it was sent, at most 1,000. */
  'GET /messages/{messageId}': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: {
        id: string
        muid?: string
        conversationId: string
        sender: string
        receiverType: 'user' | 'group'
        receiver: string
        category: string
        type: string
        data: Record<string, unknown>
        parentId?: string
        quotedMessageId?: string
        quotedMessage?: Record<string, unknown>
        tags?: string[]
        /** Epoch seconds */
        sentAt: number
        /** Epoch seconds */
        deliveredAt?: number
        /** Epoch seconds */
        readAt?: number
        /** Epoch seconds */
        deliveredToMeAt?: number
        /** Epoch seconds */
        readByMeAt?: number
        /** Epoch seconds */
        editedAt?: number
        editedBy?: string
        /** Epoch seconds */
        deletedAt?: number
        deletedBy?: string
        /** Epoch seconds */
        updatedAt: number
        replyCount?: number
        unreadRepliesCount?: number
        threadSubscribed?: boolean
        reactions?: {
          reaction: string
          count: number
          reactedByMe?: boolean
        }[]
        pinnedBy?: string
        /** Epoch seconds */
        pinnedAt?: number
        /** Epoch seconds */
        savedAt?: number
        receipts?: {
          data: MessageReceipt[]
        }
      }
    }
  }
  /** List all reactions to a message. One row per user and reaction, oldest first. The permission listReactions decides who sees them; how many gave each reaction is part of the message. affix=prepend without id returns the newest page. The default limit is 100 rows. */
  'GET /messages/{messageId}/reactions': {
    input: {
      /** Message id */
      messageId: string
      affix?: 'append' | 'prepend'
      /** Cursor: id of a reaction */
      id?: string
      limit?: number
    }
    answer: {
      data: Reaction[]
      meta: CursorMeta
    }
  }
  /** List the users who gave one reaction to a message. Like the list of all reactions, for one of them. */
  'GET /messages/{messageId}/reactions/{reaction}': {
    input: {
      /** Message id */
      messageId: string
      /** An emoji or other text of at most 45 characters, URL-encoded */
      reaction: string
      affix?: 'append' | 'prepend'
      /** Cursor: id of a reaction */
      id?: string
      limit?: number
    }
    answer: {
      data: Reaction[]
      meta: CursorMeta
    }
  }
  /** List the replies of a thread. Pages go by cursors, as in lists of messages, with the same filters. */
  'GET /messages/{messageId}/thread': {
    input: {
      /** Id of the parent message */
      messageId: string
      /** Only messages whose text or caption contains this string; works in every script and ignores case, width and repeated spaces */
      searchKey?: string
      affix?: 'append' | 'prepend'
      /** Cursor: id of a message */
      id?: string
      /** Cursor: epoch seconds */
      sentAt?: number
      /** Cursor by time of change, epoch seconds. Without id, the page includes this second, and is longer than limit where more changes share it */
      updatedAt?: number
      /** With updatedAt: only messages changed after they were sent */
      onlyUpdates?: boolean
      limit?: number
      perPage?: number
      category?: 'message' | 'custom' | 'interactive' | 'action' | 'call' | 'card'
      categories?: string[]
      type?: string
      types?: string[]
      sender?: string
      tags?: string[]
      /** Return the tags of each message */
      withTags?: boolean
      hasAttachments?: boolean
      attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[]
      hasLinks?: boolean
      hasReactions?: boolean
      /** Only messages that mention a user of the app */
      hasMentions?: boolean
      /** Only messages that mention one of these uids */
      mentionedUids?: string[]
      /** Only messages that mention the acting user */
      myMentionsOnly?: boolean
      /** Return the tags of mentioned users */
      mentionsWithTagInfo?: boolean
      /** Return the blocks between the acting user and mentioned users */
      mentionsWithBlockedInfo?: boolean
      /** Only pinned messages */
      pinned?: boolean
      /** Only messages pinned by this uid (or app_system) */
      pinnedBy?: string
      /** Only messages saved by the acting user */
      saved?: boolean
      hideDeleted?: boolean
      onlyDeleted?: boolean
      fromTimestamp?: number
      /** Ignored without fromTimestamp */
      toTimestamp?: number
      /** Leave out messages of users blocked by the acting user, also where other messages quote them */
      hideMessagesFromBlockedUsers?: boolean
      hideQuotedMessages?: boolean
      /** Return for each message with a thread whether the acting user follows it */
      withThreadSubscribed?: boolean
      /** Only messages that the acting user has not read */
      unread?: boolean
      /** Only messages not delivered to the acting user */
      undelivered?: boolean
      /** Return the number of messages per conversation instead of messages: `{"data": [{"entityId": "bob", "entityType": "user", "count": 3}]}` */
      count?: boolean
    }
    answer: MessagePage
  }
  /** List messages that moderation blocked, the oldest first. Those that no reviewer has looked at, with the rule and the condition that blocked each. Dates are those of the block. */
  'GET /moderation/blocked-messages': {
    input: {
      limit?: number
      /** For the next page: `meta.next.after` */
      after?: string
      order?: 'oldest' | 'newest'
      ruleId?: string
      sender?: string
      conversationId?: string
      /** Since when, in epoch seconds */
      from?: number
      /** Until when, in epoch seconds */
      to?: number
      /** Only messages that a reviewer has claimed, or only those that nobody has */
      claimed?: boolean
      /** true: only those that a reviewer has looked at */
      reviewed?: boolean
    }
    answer: {
      data: BlockedMessage[]
      meta: {
        current: {
          limit: number
          count: number
        }
        next?: {
          after: string
        }
      }
    }
  }
  /** Get the engines that rules can ask. Keys and passwords are never part of the response. */
  'GET /moderation/engines': {
    input: object
    answer: {
      data: ModerationEngines
    }
  }
  /** List messages that wait for a review, the oldest first. Those that users or rules have flagged. Dates are those from which on a message waits. */
  'GET /moderation/flagged-messages': {
    input: {
      limit?: number
      /** For the next page: `meta.next.after` */
      after?: string
      order?: 'oldest' | 'newest'
      ruleId?: string
      sender?: string
      conversationId?: string
      /** Since when, in epoch seconds */
      from?: number
      /** Until when, in epoch seconds */
      to?: number
      reasonId?: string
      /** uid */
      flaggedBy?: string
      /** Only messages that a reviewer has claimed, or only those that nobody has */
      claimed?: boolean
    }
    answer: {
      data: FlaggedMessage[]
      meta: {
        current: {
          limit: number
          count: number
        }
        next?: {
          after: string
        }
      }
    }
  }
  /** List the lists of moderation rules, newest first. Those of the app, then the predefined ones. */
  'GET /moderation/keywords': {
    input: {
      limit?: number
    }
    answer: {
      data: ({
        id: string
        name: string
        description?: string
        /** What the list holds. Beyond the public contract: `custom-api`, the address of an engine, and `prompt`, what a language model is asked to look for */
        category: 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt'
        /** Its terms came from a file, and are as they stood there, with their quotes */
        isCSV: boolean
        /** Words and patterns */
        searchTerms?: string[]
        /** Sentences */
        disallowedSentences?: string[]
        /** What a language model is asked to look for */
        prompts?: string[]
        /** The address of an engine */
        url?: string
        basicAuthEnabled?: boolean
        username?: string
        /** Epoch seconds */
        createdAt: number
        /** Epoch seconds; of this revision */
        updatedAt: number
        /** `<appId>_<listId>_<n>`, where n counts from 1 */
        revisionId: string
        /** This revision is the current one */
        active: boolean
        /** true on predefined lists */
        default?: boolean
        /** 24 hexadecimal characters */
        _id: string
        /** `default` on predefined lists */
        appId: string
        __v: number
      })[]
      meta: ModerationListMeta
    }
  }
  /** Get a list of moderation rules. With its terms, as they are now. */
  'GET /moderation/keywords/{keywordId}': {
    input: {
      keywordId: string
    }
    answer: {
      data: KeywordList
    }
  }
  /** List the revisions of a list, newest first. Each as it was, without its terms. The last 50 are kept, and those that something names. */
  'GET /moderation/keywords/{keywordId}/revisions': {
    input: {
      keywordId: string
      limit?: number
    }
    answer: {
      data: KeywordListRevision[]
      meta: ModerationListMeta
    }
  }
  /** Get a revision of a list, with its terms. As it was. The last 50 are kept, and those that something names. */
  'GET /moderation/keywords/{keywordId}/revisions/{revisionId}': {
    input: {
      keywordId: string
      revisionId: string
    }
    answer: {
      data: KeywordList
    }
  }
  /** List messages that moderation judged. Whether they were handed in here or sent. Ascending; cursors are those of all message lists. */
  'GET /moderation/messages': {
    input: {
      /** uid */
      sender?: string
      receiverUID?: string
      receiverGUID?: string
      category?: 'message' | 'custom' | 'interactive'
      type?: string
      moderationStatus?: 'approved' | 'disapproved' | 'pending'
      affix?: 'append' | 'prepend'
      /** Cursor: id of a message */
      id?: string
      /** Cursor: epoch seconds */
      sentAt?: number
      limit?: number
    }
    answer: MessagePage
  }
  /** Get a message with its moderation status. Also a message that is held or blocked. `data.moderation` has the status, if rules have judged it. */
  'GET /moderation/messages/{messageId}': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: Message
    }
  }
  /** List the notes beside a message. Beyond the public contract. In the order in which they were left. */
  'GET /moderation/messages/{messageId}/notes': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: ModerationNote[]
    }
  }
  /** Count the messages that wait. Beyond the public contract. pending: those that wait for an engine. */
  'GET /moderation/queue': {
    input: object
    answer: {
      data: {
        flagged: {
          /** How many messages wait */
          open: number
          /** How many of them a reviewer has claimed */
          claimed: number
          /** Since when the oldest one waits, in epoch seconds */
          oldestAt?: number
          /** How long, in seconds */
          oldestAge?: number
        }
        blocked: {
          /** How many messages wait */
          open: number
          /** How many of them a reviewer has claimed */
          claimed: number
          /** Since when the oldest one waits, in epoch seconds */
          oldestAt?: number
          /** How long, in seconds */
          oldestAge?: number
        }
        pending: {
          /** How many messages wait */
          open: number
          /** Since when the oldest one waits, in epoch seconds */
          oldestAt?: number
          /** How long, in seconds */
          oldestAge?: number
        }
      }
    }
  }
  /** List the reasons for flagging messages. The predefined ones, then those of the app, the oldest first. */
  'GET /moderation/reasons': {
    input: {
      limit?: number
    }
    answer: {
      data: ListedReason[]
      meta: ModerationListMeta
    }
  }
  /** Get a reason for flagging messages. One of the predefined ones, or of the app. */
  'GET /moderation/reasons/{id}': {
    input: {
      id: string
    }
    answer: {
      data: Reason
    }
  }
  /** List messages about which reviewers have decided, the last decision first. Dates are those of the decisions. */
  'GET /moderation/reviewed-messages': {
    input: {
      limit?: number
      /** For the next page: `meta.next.after` */
      after?: string
      order?: 'oldest' | 'newest'
      ruleId?: string
      sender?: string
      conversationId?: string
      /** Since when, in epoch seconds */
      from?: number
      /** Until when, in epoch seconds */
      to?: number
      reasonId?: string
      /** uid */
      flaggedBy?: string
      decision?: 'approved' | 'disapproved' | 'rejected' | 'reviewed'
      reviewedBy?: string
    }
    answer: {
      data: ReviewedMessage[]
      meta: {
        current: {
          limit: number
          count: number
        }
        next?: {
          after: string
        }
      }
    }
  }
  /** List moderation rules, newest first. Those of the app, then the predefined ones. */
  'GET /moderation/rules': {
    input: {
      limit?: number
    }
    answer: {
      data: ModerationRule[]
      meta: ModerationListMeta
    }
  }
  /** Get a moderation rule. As it is now, with the number of its revision. */
  'GET /moderation/rules/{ruleId}': {
    input: {
      ruleId: string
    }
    answer: {
      data: ModerationRule
    }
  }
  /** Get progress and result of a dry run. While it runs and when it is done: how many messages it has looked at, its hits, and some of them as examples. */
  'GET /moderation/rules/{ruleId}/dry-run': {
    input: {
      ruleId: string
      examples?: number
    }
    answer: {
      data: DryRun
    }
  }
  /** List the revisions of a moderation rule, newest first. Each as it was. The last 1,000 are kept, and those that something names. */
  'GET /moderation/rules/{ruleId}/revisions': {
    input: {
      ruleId: string
      limit?: number
    }
    answer: {
      data: ModerationRule[]
      meta: ModerationListMeta
    }
  }
  /** Count what rules decided. Beyond the public contract. By default of the last 30 days; at most a year. Reviews count with the decision that they are about. */
  'GET /moderation/stats': {
    input: {
      /** Since when, in epoch seconds */
      from?: number
      /** Until when, in epoch seconds */
      to?: number
    }
    answer: {
      data: {
        from: number
        to: number
        rules: {
          ruleId: string
          /** Decisions in which a condition of it was met, in whatever mode */
          hits: number
          /** Those of them that only were logged */
          shadow: number
          /** Messages that it blocked */
          blocked: number
          /** Messages that it flagged */
          flagged: number
          /** Messages of these that reviewers left blocked, or blocked */
          upheld: number
          /** Messages of these that reviewers approved */
          overturned: number
        }[]
        /** Flags of users */
        flags: number
        reviews: {
          approved: number
          disapproved: number
          rejected: number
          reviewed: number
        }
      }
    }
  }
  /** Get the app's own e-mail provider. An empty object if there is none. */
  'GET /notifications/email/v1/providers/custom': {
    input: object
    answer: {
      data: {
        /** Whether it is used */
        isEnabled?: boolean
        /** An https URL with a public address */
        webhookURL?: string
        /** Whether user name and password are sent */
        useBasicAuth?: boolean
        /** Required, but may be empty without useBasicAuth */
        basicAuthUsername?: string
        /** Answered shortened. Sent back like that, it stays as it is */
        basicAuthPassword?: string
        /** Whether it is only called for users whose e-mail address is stored; false: for all, without an address */
        useStoredEmailID?: boolean
      }
    }
  }
  /** Get the SendGrid credentials. An empty object if there are none. */
  'GET /notifications/email/v1/providers/sendgrid': {
    input: object
    answer: {
      data: {
        /** Shortened */
        sendGridApiKey?: string
        sendGridTemplateID?: string
        sendGridUnsubscribeGroupID?: string
        senderName?: string
        /** An e-mail address */
        senderEmail?: string
        /** Whether replies become messages. false by default */
        allowEmailReplies?: boolean
        /** An e-mail address */
        senderEmailForReplies?: string
        /** Whether it is used. Default true */
        isEnabled?: boolean
        /** The address for SendGrid Inbound Parse, which is secret. Only in responses to POST and PUT */
        repliesWebhook?: string
      }
    }
  }
  /** Get whether e-mails are sent by the mail server of the deployment. Whether the app uses the mail server, and whether the deployment has one. */
  'GET /notifications/email/v1/providers/smtp': {
    input: object
    answer: {
      data: {
        /** Whether the deployment has a mail server */
        isAvailable: boolean
        /** Whether the app uses it */
        isEnabled: boolean
      }
    }
  }
  /** Get your own notification preferences. What holds: your own choices where the app allows some, else its settings. */
  'GET /notifications/push/v1/preferences': {
    input: object
    answer: {
      data: UserPreferences
    }
  }
  /** List the conversations that you have muted. With until when each is muted. Mutes that have run out are left out. */
  'GET /notifications/push/v1/preferences/mute': {
    input: object
    answer: {
      data: {
        mutedConversations: MutedConversation[]
      }
    }
  }
  /** List the APNs providers. Keys are shortened. */
  'GET /notifications/push/v1/providers/apns': {
    input: object
    answer: {
      data: {
        pushProviders: {
          providerId: string
          /** In lists */
          isDefault?: boolean
          keyId: string
          teamId: string
          bundleId: string
          p8KeyFilename?: string
          /** Shortened */
          p8Key: string
          includeContentAvailable: boolean
          includeMutableContent: boolean
          productionMode: boolean
        }[]
      }
    }
  }
  /** Get the app's own push provider. None, or one, whose password is shortened. */
  'GET /notifications/push/v1/providers/custom': {
    input: object
    answer: {
      data: {
        pushProviders: {
          /** Whether it is used */
          isEnabled: boolean
          /** An https URL with a public address */
          webhookURL: string
          /** Whether user name and password are sent */
          useBasicAuth: boolean
          /** Required, but may be empty without useBasicAuth */
          basicAuthUsername: string
          /** Answered shortened. Sent back like that, it stays as it is */
          basicAuthPassword: string
          /** How many notifications go in one request, in the envelope of batches. 1, or left out: a request for each */
          batchSize?: number
        }[]
      }
    }
  }
  /** List the FCM providers. Private keys are shortened. */
  'GET /notifications/push/v1/providers/fcm': {
    input: object
    answer: {
      data: {
        pushProviders: {
          providerId: string
          isDefault: boolean
          serviceAccountFilename?: string
          serviceAccountCreds: {
            project_id: string
            client_email: string
            /** Shortened */
            private_key: string
            private_key_id?: string
          }
          notificationInPayload: {
            ios: {
              chat?: boolean
              call?: boolean
            }
            android: {
              chat?: boolean
              call?: boolean
            }
            web: {
              chat?: boolean
              call?: boolean
            }
          }
        }[]
      }
    }
  }
  /** Get the Web Push provider. None, as long as nobody has asked for its key. */
  'GET /notifications/push/v1/providers/web_push': {
    input: object
    answer: {
      data: {
        pushProviders: WebPushProvider[]
      }
    }
  }
  /** List the devices of an auth token, or of its user. Without all: the device of the login. With all=1: every device of its user. */
  'GET /notifications/push/v1/tokens': {
    input: {
      /** true: all devices of the user, not only that of the auth token */
      all?: boolean
      /** With an API key: the auth token of the device, required. Otherwise that of the request counts */
      authToken?: string
    }
    answer: {
      data: {
        pushTokens: PushToken[]
      }
    }
  }
  /** Get the public key that browsers subscribe to Web Push with. The key pair of the app is created when it is needed for the first time, and stays the same: subscriptions are bound to it. */
  'GET /notifications/push/v1/vapid-key': {
    input: object
    answer: {
      data: {
        /** The `applicationServerKey` of `pushManager.subscribe()`: 65 bytes in base64url */
        publicKey: string
        /** `web_push` */
        providerId: string
      }
    }
  }
  /** Get the app's own SMS provider. An empty object if there is none. */
  'GET /notifications/sms/v1/providers/custom': {
    input: object
    answer: {
      data: {
        /** Whether it is used */
        isEnabled?: boolean
        /** An https URL with a public address */
        webhookURL?: string
        /** Whether user name and password are sent */
        useBasicAuth?: boolean
        /** Required, but may be empty without useBasicAuth */
        basicAuthUsername?: string
        /** Answered shortened. Sent back like that, it stays as it is */
        basicAuthPassword?: string
        /** Whether it is only called for users whose phone number is stored; false (the default when it is set up): for all, without a number */
        useStoredPhNo?: boolean
      }
    }
  }
  /** Get the Twilio credentials. An empty object if there are none. */
  'GET /notifications/sms/v1/providers/twilio': {
    input: object
    answer: {
      data: {
        twilioAccountSID?: string
        /** Shortened */
        twilioAuthToken?: string
        /** A phone number with `+`, a short code, the name of a sender, or the SID of a messaging service */
        twilioSenderPhoneNumber?: string
        /** Whether it is used. Default true */
        isEnabled?: boolean
      }
    }
  }
  /** Get the e-mail address and the phone number of a user. What is not stored is left out. */
  'GET /notifications/v1/contact-details': {
    input: object
    answer: {
      data: ContactDetails
    }
  }
  /** Explain why a user was notified of a message or an event, or was not. Give `messageId` or `eventId` (as in `GET /events`). Every gate is listed with its value at that time. Of a message that is deleted, held by moderation or hidden from the user, only that gate is told. */
  'GET /notifications/v1/explain': {
    input: {
      uid: string
      /** Message id, as an integer or a decimal string */
      messageId?: number | string
      eventId?: string
    }
    answer: {
      data: {
        uid: string
        /** One for each event and device, oldest first: what was looked at, and what became of it. An e-mail or SMS is here if it lists the message, or may do so when its window ends; it was decided by the newest message that it lists */
        notifications: ({
          _id: string
          /** Epoch milliseconds */
          processingStartedAtMS: number
          /** Epoch milliseconds */
          processingEndedAtMS?: number
          totalProcessingTimeInMS?: number
          component: string
          channel: 'push' | 'email' | 'sms'
          provider: string
          providerId?: string
          messageId?: number
          reactionId?: number
          trigger: string
          /** Epoch milliseconds */
          messageSentAtMS?: number
          /** Who sent the message */
          sender?: string
          reactionSender?: string
          /** uid or guid */
          receiver: string
          reactionReceiver?: string
          receiverType: 'user' | 'group'
          /** The member of a group who was to be notified */
          member?: string
          /** Who was to be notified */
          uid: string
          tokenType?: string
          /** Shortened */
          pushToken?: string
          /** Whether a provider is, or was, called */
          notificationTriggered: boolean
          /** Why no provider was called, or why it was given up */
          reason?: string
          /** Whether the provider accepted it; absent while it waits */
          success?: boolean
          attempts: number
          /** Epoch milliseconds */
          nextAttemptAtMS?: number
          answer?: {
            status?: number
            text?: string
          }
          error?: string
          gates: ({
            /** messages, replies, ...; dnd, mute, schedule, privacyTemplate, blocks, online, read; of e-mail and SMS also window, quota, address, unsubscribed; when it was about to be sent also timeToLive, membership, message, account, device, shown. Where nothing was planned: provider, sender, membership, account, pushGroupSize, emailGroupSize, smsGroupSize, messages, replies, ..., device, shown, sendNotification, category, message */
            gate: string
            /** What it said */
            value: string | number | boolean
            setBy: 'user' | 'app' | 'default' | 'chat'
            passes: boolean
          })[]
        })[]
        /** Only without notifications. ERASED: the message was removed for good. HELD: moderation holds it. DELETED: it is deleted. HIDDEN: it is hidden from the user. NOT_NOTIFYING: nobody is notified of such a message, of a custom one without `data.sendNotification: true`. NO_EVENT: no event of it is in the log. NO_PROVIDER: the app has none that is enabled. OWN_ACTION: they did it themselves. NOT_A_PARTICIPANT, DEACTIVATED: as things are now. GROUP_TOO_LARGE: the group has more members than the setting pushGroupSize, emailGroupSize or smsGroupSize. NOT_CHOSEN: only who chose so is told of this. NO_DEVICE: no device is registered. MESSAGES_ONLY: e-mails and SMS tell of new messages only. NOTHING_SHOWN: an edit or a deletion of a message that was not sent to any device. NOT_LISTED: an e-mail or SMS about the conversation was decided without the message: it was read by then, or not wanted. NOT_PLANNED: it was not planned then, or is waiting for it */
        unplanned?: 'ERASED' | 'HELD' | 'DELETED' | 'HIDDEN' | 'NOT_NOTIFYING' | 'NO_EVENT' | 'NO_PROVIDER' | 'OWN_ACTION' | 'NOT_A_PARTICIPANT' | 'DEACTIVATED' | 'GROUP_TOO_LARGE' | 'NOT_CHOSEN' | 'NO_DEVICE' | 'MESSAGES_ONLY' | 'NOTHING_SHOWN' | 'NOT_LISTED' | 'NOT_PLANNED'
        /** Only with `unplanned`: what stopped it before anything was planned */
        gates?: ({
          /** messages, replies, ...; dnd, mute, schedule, privacyTemplate, blocks, online, read; of e-mail and SMS also window, quota, address, unsubscribed; when it was about to be sent also timeToLive, membership, message, account, device, shown. Where nothing was planned: provider, sender, membership, account, pushGroupSize, emailGroupSize, smsGroupSize, messages, replies, ..., device, shown, sendNotification, category, message */
          gate: string
          /** What it said */
          value: string | number | boolean
          setBy: 'user' | 'app' | 'default' | 'chat'
          passes: boolean
        })[]
        /** Only with notifications: why there are none by the other channels. Absent where nothing else may be told of the message */
        channels?: ({
          channel: 'push' | 'email' | 'sms'
          /** As the other `unplanned` */
          unplanned: 'ERASED' | 'HELD' | 'DELETED' | 'HIDDEN' | 'NOT_NOTIFYING' | 'NO_EVENT' | 'NO_PROVIDER' | 'OWN_ACTION' | 'NOT_A_PARTICIPANT' | 'DEACTIVATED' | 'GROUP_TOO_LARGE' | 'NOT_CHOSEN' | 'NO_DEVICE' | 'MESSAGES_ONLY' | 'NOTHING_SHOWN' | 'NOT_LISTED' | 'NOT_PLANNED'
          gates?: ({
            /** messages, replies, ...; dnd, mute, schedule, privacyTemplate, blocks, online, read; of e-mail and SMS also window, quota, address, unsubscribed; when it was about to be sent also timeToLive, membership, message, account, device, shown. Where nothing was planned: provider, sender, membership, account, pushGroupSize, emailGroupSize, smsGroupSize, messages, replies, ..., device, shown, sendNotification, category, message */
            gate: string
            /** What it said */
            value: string | number | boolean
            setBy: 'user' | 'app' | 'default' | 'chat'
            passes: boolean
          })[]
        })[]
      }
    }
  }
  /** List what became of notifications, newest page first. Rows ascend. `affix=prepend` with the `logId` of `meta.previous` goes on to older ones, `append` with that of `meta.next` to newer ones; without `logId`, `prepend` is the newest page and `append` the oldest. Unlike in other lists with a cursor, `prepend` is the default: without both it is the newest page. */
  'GET /notifications/v1/logs': {
    input: {
      messageId?: number
      reactionId?: number
      /** Epoch milliseconds: messages sent after this */
      from?: number
      /** Epoch milliseconds: messages sent up to this */
      to?: number
      messageCategory?: 'message' | 'custom' | 'interactive'
      messageType?: string
      trigger?: 'after_message' | 'message_deleted' | 'message_edited' | 'message_reaction_added' | 'initiated' | 'rejected' | 'cancelled' | 'unanswered' | 'after_group_joined' | 'after_group_left' | 'after_group_members_added' | 'after_group_members_kicked' | 'after_group_members_banned' | 'after_group_members_unbanned' | 'after_scope_changed' | 'messages_read'
      sender?: string
      reactionSender?: string
      receiver?: string
      receiverType?: 'user' | 'group'
      reactionReceiver?: string
      member?: string
      channel?: 'push' | 'email' | 'sms'
      provider?: 'fcm' | 'apns' | 'web_push' | 'sendgrid' | 'smtp' | 'twilio' | 'custom'
      notificationTriggered?: boolean
      reason?: 'MESSAGES_PREFERENCE' | 'REPLIES_PREFERENCE' | 'QUOTED_REPLIES_PREFERENCE' | 'MESSAGE_ACTIONS_PREFERENCE' | 'REACTIONS_PREFERENCE' | 'GROUP_ACTIONS_PREFERENCE' | 'DND_PREFERENCE' | 'MUTE_PREFERENCE' | 'SCHEDULE_PREFERENCE' | 'CALL_PREFERENCE' | 'QUOTA_PREFERENCE' | 'MISSING_EMAIL' | 'MISSING_PHNO' | 'INVALID_PUSH_PROVIDER_ID' | 'TIMED_OUT' | 'NOT_FOUND' | 'TWILIO_CREATE_ERROR' | 'BLOCKED' | 'NOT_VISIBLE' | 'ALREADY_READ' | 'NOT_SHOWN' | 'ALREADY_TOLD' | 'UNSUBSCRIBED' | 'PROVIDER_ERROR'
      success?: boolean
      affix?: 'append' | 'prepend'
      logId?: string
      limit?: number
    }
    answer: {
      data: NotificationLog[]
      meta: {
        previous?: {
          affix: 'prepend'
          logId: string
        }
        current: {
          limit: number
          count: number
        }
        next?: {
          affix: 'append'
          logId: string
        }
      }
    }
  }
  /** Get the notification preferences of a user. What holds for them: their own choices where the app allows some, else its settings. */
  'GET /notifications/v1/preferences': {
    input: {
      /** The user */
      uid: string
    }
    answer: {
      data: PreferencesWithOverrides
    }
  }
  /** List the conversations that a user has muted. With until when each is muted. Mutes that have run out are left out. */
  'GET /notifications/v1/preferences/mute': {
    input: {
      /** The user */
      uid: string
    }
    answer: {
      data: {
        mutedConversations: MutedConversation[]
      }
    }
  }
  /** Get the time zone of a user. With an API key, `uid` is required. With an auth token, it is the time zone of its user. */
  'GET /notifications/v1/preferences/timezone': {
    input: {
      /** The user */
      uid?: string
    }
    answer: {
      data: {
        timezone: string
        success: true
      }
    }
  }
  /** Get the notification settings of the app. What users are notified of by default, what they can choose themselves, templates and sounds. */
  'GET /notifications/v1/settings': {
    input: object
    answer: {
      data: NotificationSettings
    }
  }
  /** List what a user has unsubscribed from. By the link in e-mails. The oldest comes first. */
  'GET /notifications/v1/unsubscriptions': {
    input: object
    answer: {
      data: {
        unsubscriptions: ({
          channel: 'email' | 'sms'
          /** Absent: of all conversations */
          conversationId?: string
          /** Epoch milliseconds */
          since: number
        })[]
      }
    }
  }
  /** List all features that can be restricted for a role. Those of calls can be restricted, but this service has no calls. */
  'GET /restrictedfeatures': {
    input: object
    answer: {
      data: {
        title: string
        description: string
        key: string
        /** The route that the feature controls */
        path: string
      }[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** List what is on hold, the newest first. At most 1,000. */
  'GET /retention/holds': {
    input: object
    answer: {
      data: {
        uid?: string
        conversationId?: string
        note?: string
        /** Epoch seconds */
        heldAt: number
      }[]
    }
  }
  /** List roles, newest first. Those of the app, and the built-in ones. */
  'GET /roles': {
    input: {
      page?: number
      perPage?: number
    }
    answer: {
      data: ({
        role: string
        name: string
        description?: string
        metadata?: Record<string, unknown>
        settings?: {
          listUsers?: 'all' | 'friendsOnly'
          sendMessagesTo?: 'all' | 'friendsOnly'
        }
        /** Epoch seconds */
        createdAt: number
        /** Epoch seconds; only after an update */
        updatedAt?: number
      })[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get a role. Its name, description, metadata and settings. */
  'GET /roles/{role}': {
    input: {
      role: string
    }
    answer: {
      data: {
        role: string
        name: string
        description?: string
        metadata?: Record<string, unknown>
        settings?: {
          listUsers?: 'all' | 'friendsOnly'
          sendMessagesTo?: 'all' | 'friendsOnly'
        }
        /** Epoch seconds */
        createdAt: number
        /** Epoch seconds; only after an update */
        updatedAt?: number
      }
    }
  }
  /** List the permissions of a role. Every permission that there is, with its default, and its value where one is set. */
  'GET /roles/{role}/permissions': {
    input: {
      role: string
      page?: number
      perPage?: number
    }
    answer: {
      data: ({
        id: string
        type: 'role' | 'scope'
        title: string
        description: string
        dataType: 'string' | 'stringArray' | 'rolesStringArray' | 'customStringArray'
        availableValues: string[]
        defaultValue: string | string[]
        value?: string | string[]
        /** Epoch seconds */
        createdAt: number
        /** Epoch seconds */
        updatedAt: number
      })[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** List the restricted features of a role, newest restriction first. What users of this role cannot do, and which route each feature controls. */
  'GET /roles/{role}/restrictedfeatures': {
    input: {
      role: string
      page?: number
      perPage?: number
    }
    answer: {
      data: {
        title: string
        description: string
        key: string
        /** The route that the feature controls */
        path: string
        /** Epoch seconds: when it was restricted */
        createdAt: number
      }[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get the settings for front ends. Addresses, limits and switches, and the reasons for flagging messages. */
  'GET /settings': {
    input: object
    answer: {
      data: ClientSettings
    }
  }
  /** Get usage figures of a time range. A range has at most 366 days. Days in UTC that it touches count whole for `active_users`, and stretches of five minutes for `concurrent_users`. */
  'GET /stats': {
    input: {
      /** Start of the range, in epoch seconds or milliseconds */
      fromDate: number
      /** End of the range, in epoch seconds or milliseconds */
      toDate: number
    }
    answer: {
      data: {
        metrics: {
          /** Always 0: calls are not served */
          audio_minutes: number
          /** Always 0: calls are not served */
          video_minutes: number
          /** Always 0: calls are not served */
          recorded_minutes: number
          /** Users who logged in, had a socket open or called with a token of their own, each counted once; by days in UTC */
          active_users: number
          /** The greatest number of sockets that were open at once */
          concurrent_users: number
          /** As `concurrent_users`, which counts sockets */
          concurrent_connections: number
          /** When that was, in epoch milliseconds */
          peak_at?: number
        }
        /** Epoch milliseconds */
        time_range: {
          fromDate: number
          toDate: number
        }
      }
    }
  }
  /** List usage figures day by day. One entry for each day in UTC that the range touches, also where nothing happened. A range has at most 366 days. */
  'GET /stats/daily': {
    input: {
      /** Start of the range, in epoch seconds or milliseconds */
      fromDate: number
      /** End of the range, in epoch seconds or milliseconds */
      toDate: number
    }
    answer: {
      data: {
        days: {
          /** Such as `2026-01-31` */
          date: string
          /** Users who logged in, had a socket open or called with a token of their own, each counted once; by days in UTC */
          active_users: number
          /** The greatest number of sockets that were open at once */
          concurrent_users: number
          /** When that was, in epoch milliseconds */
          peak_at?: number
          /** As in `/stats/messages` */
          messages_sent: number
          /** As in `/stats/messages` */
          read_receipts: number
          /** As in `/stats/messages` */
          delivery_receipts: number
          /** Notifications that came to an end on this day, by channel */
          notifications: {
            push: {
              /** Taken by the provider */
              delivered: number
              /** Refused by the provider, or not sent in time */
              failed: number
              /** Not sent: something decided against it */
              stopped: number
            }
            email: {
              /** Taken by the provider */
              delivered: number
              /** Refused by the provider, or not sent in time */
              failed: number
              /** Not sent: something decided against it */
              stopped: number
            }
            sms: {
              /** Taken by the provider */
              delivered: number
              /** Refused by the provider, or not sent in time */
              failed: number
              /** Not sent: something decided against it */
              stopped: number
            }
          }
          /** What rules of moderation found on this day; of the last two days without messages that were removed for good */
          rules: {
            ruleId: string
            /** Decisions in which a condition of it was met, in whatever mode */
            hits: number
            /** Those of them that only were logged */
            shadow: number
            /** Messages that it blocked */
            blocked: number
            /** Messages that it flagged */
            flagged: number
          }[]
        }[]
        /** Epoch milliseconds */
        time_range: {
          fromDate: number
          toDate: number
        }
      }
    }
  }
  /** Count messages and receipts of the last hour, in steps of five minutes. Twelve steps up to now, in UTC. Steps in which nothing happened are zeros. */
  'GET /stats/messages': {
    input: object
    answer: {
      data: {
        /** Epoch milliseconds */
        startTime: string
        /** Epoch milliseconds */
        endTime: string
        dataPoints: {
          /** Without actions, imports and repeats of a `muid` */
          messagesSent: number
          /** Marks that rose */
          readReceipts: number
          /** Marks that rose; reading raises both */
          deliveryReceipts: number
          /** Epoch milliseconds */
          startTime: string
          /** Epoch milliseconds */
          endTime: string
        }[]
        appId: string
      }
    }
  }
  /** List threads. Threads with the newest reply first. As in every cursor list, affix=prepend (the default here) returns older threads and append newer ones; within a page the newest is always first. */
  'GET /threads': {
    input: {
      limit?: number
      affix?: 'append' | 'prepend'
      /** Cursor: time of the last reply, epoch seconds. Without id, the page includes this second, and is longer than limit where more threads share it */
      updatedAt?: number
      /** Cursor, together with updatedAt: id of the parent message, for threads with the same second */
      id?: string
      /** Only threads in which the acting user wrote the parent or a reply */
      participatedByMe?: boolean
      withUnreadReplyCount?: boolean
      withMentionCount?: boolean
    }
    answer: {
      data: Thread[]
      meta: CursorMeta
    }
  }
  /** List all triggers that webhooks can subscribe to. Triggers of calls, meetings and campaigns are accepted, but never fire: this service does not have these features. */
  'GET /triggers': {
    input: object
    answer: {
      data: {
        id: string
        category: string
        description: string
      }[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** List users, by name. The system user is not listed, nor, with an auth token, the acting user. With sortBy=status, users who are online come first, then the others, both by name. With affix or updatedAt, the list is ordered by the time of the last change (or creation), oldest first, and sortBy and sortOrder are ignored: append returns changes from updatedAt (or from the oldest) on, prepend changes up to updatedAt (or up to the newest). Both include updatedAt itself, since several users may change in one second; a page that goes on by updatedAt alone, without page, has more rows than perPage where that second does. To get what changed since a full read, send the updatedAt of its cursor with affix=append. */
  'GET /users': {
    input: {
      /** Part of the name or uid */
      searchKey?: string
      /** Fields that searchKey searches; both by default */
      searchIn?: ('name' | 'uid')[]
      status?: ('available' | 'offline')[]
      /** Accepted, without effect: meta.pagination.total is always the number of users */
      count?: boolean
      role?: string
      /** Users with any of these roles (or with role) */
      roles?: string[]
      /** Users with any of these tags */
      tags?: string[]
      /** Return the tags of each user */
      withTags?: boolean
      onlyDeactivated?: boolean
      withDeactivated?: boolean
      'createdAt[from]'?: number
      'createdAt[to]'?: number
      'updatedAt[from]'?: number
      'updatedAt[to]'?: number
      updatedAt?: number
      affix?: 'append' | 'prepend'
      uids?: string[]
      /** Only friends of the acting user; needs an acting user */
      friendsOnly?: boolean
      /** Leave out users blocked by the acting user */
      hideBlockedUsers?: boolean
      sortBy?: 'name' | 'uid' | 'status'
      sortOrder?: 'asc' | 'desc'
      page?: number
      perPage?: number
    }
    answer: {
      data: User[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get a user. Deactivated users are returned too, with deactivatedAt. With an acting user, the response also has the relation between the two (conversation, blocks). */
  'GET /users/{uid}': {
    input: {
      uid: string
    }
    answer: {
      data: User
    }
  }
  /** List a user's auth tokens, newest first. One for each login that was not ended, with where it is used. */
  'GET /users/{uid}/auth_tokens': {
    input: {
      uid: string
      page?: number
      perPage?: number
    }
    answer: {
      data: {
        uid: string
        /** <uid>_<epoch seconds><30 hexadecimal characters> */
        authToken: string
        /** Epoch seconds */
        createdAt: number
        platform?: string
        userAgent?: string
        appInfo?: Record<string, unknown>
      }[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get an auth token. When it was created, and where it is used. */
  'GET /users/{uid}/auth_tokens/{authToken}': {
    input: {
      uid: string
      /** The token itself */
      authToken: string
    }
    answer: {
      data: {
        uid: string
        /** <uid>_<epoch seconds><30 hexadecimal characters> */
        authToken: string
        /** Epoch seconds */
        createdAt: number
        platform?: string
        userAgent?: string
        appInfo?: Record<string, unknown>
      }
    }
  }
  /** List the blocked users of a user. By default the users whom this user blocked, newest block first. direction selects these, the users who blocked this user, or both. Deactivated users are left out. */
  'GET /users/{uid}/blockedusers': {
    input: {
      uid: string
      direction?: 'blockedByMe' | 'hasBlockedMe' | 'both'
      /** Part of the name or uid */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: User[]
      meta: {
        /** true where the search has more than 10000 hits: so many were counted. Otherwise absent, and counts are exact */
        countAtLeast?: boolean
        pagination: {
          total: number
          count: number
          per_page: number
          current_page: number
          total_pages: number
        }
        cursor?: UpdatedAtCursor
      }
    }
  }
  /** Get the conversation with a user. As the acting user sees it: last message, unread count, tags, pin. */
  'GET /users/{uid}/conversation': {
    input: {
      uid: string
    }
    answer: {
      data: Conversation
    }
  }
  /** List the certificates of the erasures of a user. Each permanent deletion of somebody with this uid, the last first: every table that was looked at, what was removed from it, and what was found there when it was read back in the same transaction. */
  'GET /users/{uid}/erasures': {
    input: {
      uid: string
    }
    answer: {
      data: Erasure[]
    }
  }
  /** Get the data that a user has asked for. How far it is and, once it is ready, its records: what the user wrote, uploaded, set and marked, and the messages of others that they could see when it was made. For 7 days. For the next page, send meta.next.after as after. What was removed for good since is missing. */
  'GET /users/{uid}/export': {
    input: {
      uid: string
      /** Only the records behind a page */
      after?: string
      /** 0: only how far it is */
      limit?: number
    }
    answer: {
      data: {
        export: {
          uid: string
          status: 'asked' | 'making' | 'ready' | 'failed'
          /** Epoch seconds */
          askedAt: number
          /** Epoch seconds: when the app released it, or at once */
          releasedAt?: number
          /** Epoch seconds: when it was put together */
          madeAt?: number
          /** Epoch seconds: until when it can be fetched, 7 days after it was put together; of one that failed, when it is removed */
          expiresAt?: number
          /** How many records it has */
          records?: number
        }
        records: ({
          kind: 'profile' | 'contact' | 'preferences' | 'unsubscription' | 'mute' | 'device' | 'login' | 'friend' | 'block' | 'membership' | 'groupBan' | 'conversation' | 'reaction' | 'interaction' | 'saved' | 'subscription' | 'pin' | 'flag' | 'file' | 'waitingEdit' | 'ownMessage' | 'seenMessage'
          /** A message is as lists show it to the user */
          record: Record<string, unknown>
        })[]
      }
      meta: {
        current: {
          limit: number
          count: number
        }
        next?: {
          after: string
        }
      }
    }
  }
  /** List the friends of a user, by name. Deactivated friends are left out. */
  'GET /users/{uid}/friends': {
    input: {
      uid: string
      /** Part of a uid or name */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: User[]
      meta: {
        /** true where the search has more than 10000 hits: so many were counted. Otherwise absent, and counts are exact */
        countAtLeast?: boolean
        pagination: {
          total: number
          count: number
          per_page: number
          current_page: number
          total_pages: number
        }
        cursor?: UpdatedAtCursor
      }
    }
  }
  /** List messages between two users. The messages between the acting user and uid. Without onBehalfOf: what uid sent or received one-to-one, and sent in groups. */
  'GET /users/{uid}/messages': {
    input: {
      uid: string
      /** Only messages whose text or caption contains this string; works in every script and ignores case, width and repeated spaces */
      searchKey?: string
      affix?: 'append' | 'prepend'
      /** Cursor: id of a message */
      id?: string
      /** Cursor: epoch seconds */
      sentAt?: number
      /** Cursor by time of change, epoch seconds. Without id, the page includes this second, and is longer than limit where more changes share it */
      updatedAt?: number
      /** With updatedAt: only messages changed after they were sent */
      onlyUpdates?: boolean
      limit?: number
      perPage?: number
      category?: 'message' | 'custom' | 'interactive' | 'action' | 'call' | 'card'
      categories?: string[]
      type?: string
      types?: string[]
      sender?: string
      tags?: string[]
      /** Return the tags of each message */
      withTags?: boolean
      hasAttachments?: boolean
      attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[]
      hasLinks?: boolean
      hasReactions?: boolean
      /** Only messages that mention a user of the app */
      hasMentions?: boolean
      /** Only messages that mention one of these uids */
      mentionedUids?: string[]
      /** Only messages that mention the acting user */
      myMentionsOnly?: boolean
      /** Return the tags of mentioned users */
      mentionsWithTagInfo?: boolean
      /** Return the blocks between the acting user and mentioned users */
      mentionsWithBlockedInfo?: boolean
      /** Only pinned messages */
      pinned?: boolean
      /** Only messages pinned by this uid (or app_system) */
      pinnedBy?: string
      /** Only messages saved by the acting user */
      saved?: boolean
      hideReplies?: boolean
      hideDeleted?: boolean
      onlyDeleted?: boolean
      fromTimestamp?: number
      /** Ignored without fromTimestamp */
      toTimestamp?: number
      /** Leave out messages of users blocked by the acting user, also where other messages quote them */
      hideMessagesFromBlockedUsers?: boolean
      hideQuotedMessages?: boolean
      /** Return for each message with a thread whether the acting user follows it */
      withThreadSubscribed?: boolean
      /** Only messages that the acting user has not read */
      unread?: boolean
      /** Only messages not delivered to the acting user */
      undelivered?: boolean
      /** Return the number of messages per conversation instead of messages: `{"data": [{"entityId": "bob", "entityType": "user", "count": 3}]}` */
      count?: boolean
    }
    answer: MessagePage
  }
  /** List threads between two users. Threads with the newest reply first. As in every cursor list, affix=prepend (the default here) returns older threads and append newer ones; within a page the newest is always first. */
  'GET /users/{uid}/threads': {
    input: {
      uid: string
      limit?: number
      affix?: 'append' | 'prepend'
      /** Cursor: time of the last reply, epoch seconds. Without id, the page includes this second, and is longer than limit where more threads share it */
      updatedAt?: number
      /** Cursor, together with updatedAt: id of the parent message, for threads with the same second */
      id?: string
      /** Only threads in which the acting user wrote the parent or a reply */
      participatedByMe?: boolean
      withUnreadReplyCount?: boolean
      withMentionCount?: boolean
    }
    answer: {
      data: Thread[]
      meta: CursorMeta
    }
  }
  /** List webhooks, newest first (short path). Without their secrets. Those that the service has disabled say why. */
  'GET /webhooks': {
    input: {
      /** Part of the name */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: Webhook[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Get a webhook (short path). Without its secret. One that the service has disabled says why. */
  'GET /webhooks/{webhookId}': {
    input: {
      webhookId: string
    }
    answer: {
      data: Webhook
    }
  }
  /** List the deliveries of a webhook, newest first. `from` and `to` limit the time of the event. For the next page, send the fields of `meta.next`. */
  'GET /webhooks/{webhookId}/deliveries': {
    input: {
      webhookId: string
      status?: 'pending' | 'delivered' | 'failed'
      trigger?: string
      /** Epoch seconds, as an integer or a decimal string */
      from?: number | string
      /** Epoch seconds, as an integer or a decimal string */
      to?: number | string
      limit?: number
      /** Id of a delivery: only older ones */
      before?: string
    }
    answer: {
      data: Delivery[]
      meta: {
        current: {
          limit: number
          count: number
        }
        next?: {
          before: string
        }
      }
    }
  }
  /** Get a delivery of a webhook with its body. Bodies are not stored: it is the one that an attempt would send now. */
  'GET /webhooks/{webhookId}/deliveries/{deliveryId}': {
    input: {
      webhookId: string
      deliveryId: string
    }
    answer: {
      data: {
        /** Same as the header `webhook-id` */
        id: string
        /** Id of the event; can be used as a cursor of `GET /events` */
        eventId: string
        trigger: string
        status: 'pending' | 'delivered' | 'failed'
        attempts: number
        /** Epoch seconds of the event */
        createdAt: number
        /** Epoch seconds of the last attempt */
        attemptedAt?: number
        /** Epoch seconds; absent if there will be no further attempt */
        nextAttemptAt?: number
        answer?: {
          /** HTTP status of the last attempt */
          status: number
          /** Start of the response body; kept for failures only */
          excerpt?: string
        }
        /** Why the last attempt failed */
        error?: string
        /** Duration of the last attempt */
        durationMs?: number
        /** Sent by `POST /webhooks/{id}/test` */
        test?: boolean
        /** Absent where the event is no longer stored, or the webhook cannot be called with it */
        body?: Record<string, unknown>
      }
    }
  }
  /** List the triggers of a webhook (short path). With what each is about. */
  'GET /webhooks/{webhookId}/triggers': {
    input: {
      webhookId: string
    }
    answer: {
      data: {
        id: string
        description: string
      }[]
      meta: PageMeta
      cursor?: UpdatedAtCursor
    }
  }
  /** Update the settings of the app. Settings that are left out stay unchanged; `null` resets a setting to its default. */
  'PATCH /apps/{appId}/settings': {
    input: {
      /** The app that the key belongs to */
      appId: string
      authKeys?: 'full' | 'createOnly' | null
      addMembers?: 'everybody' | 'friends' | 'nobody' | null
      timezone?: string | null
      pushGroupSize?: number | null
      emailGroupSize?: number | null
      smsGroupSize?: number | null
      smsMaxSegments?: number | null
      pushWaitOnlineSeconds?: number | null
      pushTakeBackRead?: boolean | null
      notificationLogDays?: number | null
      moderateApp?: boolean | null
      tokenLifetime?: number | null
      tokenIdleTimeout?: number | null
      jwtIssuer?: string | null
      jwtAudience?: string | null
      jwtKeysUrl?: string | null
      messageRetentionDays?: number | null
      messageRetention?: 'delete' | 'strip' | null
      personExports?: 'onRelease' | 'atOnce' | null
      maxApiKeys?: number | null
      maxRoles?: number | null
      maxBots?: number | null
      maxWebhooks?: number | null
      maxGroupMembers?: number | null
      maxGroupsPerUser?: number | null
      maxMembersPerRequest?: number | null
      maxFriends?: number | null
      maxFriendsPerRequest?: number | null
      maxPinnedMessages?: number | null
      maxSavedMessages?: number | null
      maxPinnedConversations?: number | null
      maxAppPinnedConversations?: number | null
      uploadMegabytesPerDay?: number | null
      mediaMegabytes?: number | null
      fileLinks?: 'permanent' | 'signed' | null
      fileLinkSeconds?: number | null
    }
    answer: {
      data: AppSettingsOut
    }
  }
  /** Transfer the ownership of a group to another member. The new owner becomes an admin; the old owner stays an admin. Only for the owner, or the app itself. */
  'PATCH /groups/{guid}/owner': {
    input: {
      guid: string
      /** uid of the new owner */
      owner: string
    }
    answer: {
      data: Group
    }
  }
  /** Record the acting user's interactions with an interactive message. Each ID must be an element of the message. Only the first interaction with an element is recorded. */
  'PATCH /messages/{messageId}/interacted': {
    input: {
      /** Message id */
      messageId: string
      interactions: string[]
    }
    answer: {
      data: Outcome
    }
  }
  /** Decide about several blocked messages. Beyond the public contract. One that is refused does not stop the others. */
  'PATCH /moderation/blocked-messages': {
    input: {
      ids: (number | string)[]
      status?: 'approved' | 'rejected' | 'disapproved'
      /** Without `status`: it stays blocked, and leaves or enters the list of those to review */
      reviewed?: boolean
      /** Beyond the public contract, beside `approved`. true: a message that nobody has seen is sent now. false: it appears at its old place, and nobody is notified. Default: true */
      asNew?: boolean
      /** Beyond the public contract: who decides, as your app names them */
      reviewedBy?: string
      /** Beyond the public contract: also if another reviewer has decided otherwise, or has claimed it */
      override?: boolean
      /** Beyond the public contract: `editedAt` of the message as the reviewer saw it, `null` where it had none. If it was edited since, nothing is decided about it; by the id of the message */
      editedAt?: Record<string, number | null>
    }
    answer: {
      data: Record<string, Record<string, unknown>>
    }
  }
  /** Decide about a message that moderation holds or blocked. approved: it is sent now, unless others had seen it: then it returns to its place. The rules of writing are asked again; if they forbid it by now, it stays blocked and the error says why. rejected: it stays blocked. The same decision again changes nothing; another one is refused, unless override is set. */
  'PATCH /moderation/blocked-messages/{id}': {
    input: {
      /** Message id */
      id: string
      status?: 'approved' | 'rejected' | 'disapproved'
      /** Without `status`: it stays blocked, and leaves or enters the list of those to review */
      reviewed?: boolean
      /** Beyond the public contract, beside `approved`. true: a message that nobody has seen is sent now. false: it appears at its old place, and nobody is notified. Default: true */
      asNew?: boolean
      /** Beyond the public contract: who decides, as your app names them */
      reviewedBy?: string
      /** Beyond the public contract: also if another reviewer has decided otherwise, or has claimed it */
      override?: boolean
      /** Beyond the public contract: `editedAt` of the message as the reviewer saw it, `null` where it had none. If it was edited since, nothing is decided about it */
      editedAt?: number | null
    }
    answer: {
      data: Outcome
    }
  }
  /** Decide about several flagged messages. Beyond the public contract. One that is refused does not stop the others. */
  'PATCH /moderation/flagged-messages': {
    input: {
      ids: (number | string)[]
      status?: 'approved' | 'disapproved' | 'rejected'
      /** Beyond the public contract: who decides, as your app names them */
      reviewedBy?: string
      /** Beyond the public contract: also if another reviewer has decided otherwise, or has claimed it */
      override?: boolean
      /** Beyond the public contract: `editedAt` of the message as the reviewer saw it, `null` where it had none. If it was edited since, nothing is decided about it; by the id of the message */
      editedAt?: Record<string, number | null>
    }
    answer: {
      data: Record<string, Record<string, unknown>>
    }
  }
  /** Decide about a flagged message. approved: it stays visible. disapproved: only its sender has it from then on. It leaves the list of flagged messages for that of the reviewed ones. The same decision again changes nothing; another one is refused, unless override is set. */
  'PATCH /moderation/flagged-messages/{id}': {
    input: {
      /** Message id */
      id: string
      status: 'approved' | 'disapproved' | 'rejected'
      /** Beyond the public contract: who decides, as your app names them */
      reviewedBy?: string
      /** Beyond the public contract: also if another reviewer has decided otherwise, or has claimed it */
      override?: boolean
      /** Beyond the public contract: `editedAt` of the message as the reviewer saw it, `null` where it had none. If it was edited since, nothing is decided about it */
      editedAt?: number | null
    }
    answer: Outcome
  }
  /** Update your own notification preferences. What the app does not let users choose is ignored without an error; the answer has what holds. What is left out stays unchanged. */
  'PATCH /notifications/push/v1/preferences': {
    input: {
      groupPreferences?: {
        /** 1 never, 2 every message, 3 only messages that mention the user */
        groupMessages?: number
        /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
        groupReplies?: number
        /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
        groupQuotedReplies?: number
        /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
        groupReactions?: number
        /** 1 never, 2 always */
        groupMemberLeft?: number
        /** 1 never, 2 always */
        groupMemberAdded?: number
        /** 1 never, 2 always */
        groupMemberJoined?: number
        /** 1 never, 2 always */
        groupMemberKicked?: number
        /** 1 never, 2 always */
        groupMemberBanned?: number
        /** 1 never, 2 always */
        groupMemberUnbanned?: number
        /** 1 never, 2 always */
        groupMemberScopeChanged?: number
      }
      oneOnOnePreferences?: {
        /** 1 never, 2 every message, 3 only messages that mention the user */
        oneOnOneMessages?: number
        /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
        oneOnOneReplies?: number
        /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
        oneOnOneQuotedReplies?: number
        /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
        oneOnOneReactions?: number
      }
      mutePreferences?: {
        /** 1 do not disturb is off, 2 it is on: nothing is sent */
        dnd?: number
        schedule?: {
          monday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          tuesday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          wednesday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          thursday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          friday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          saturday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          sunday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
        }
      }
      /** true: notifications do not show what was written */
      usePrivacyTemplate?: boolean
    }
    answer: {
      data: UserPreferences
    }
  }
  /** Set the e-mail address or the phone number of a user. What is left out stays unchanged; `null` removes one of the two. With another e-mail address, replies to e-mails sent before are no longer taken. */
  'PATCH /notifications/v1/contact-details': {
    input: {
      /** an e-mail address, or null */
      email?: string | null
      /** a phone number with + and country code, digits only, or null */
      phno?: string | null
    }
    answer: {
      data: ContactDetails
    }
  }
  /** Set the time zone of a user. With an API key, `uid` is required. With an auth token, it is the time zone of its user. */
  'PATCH /notifications/v1/preferences/timezone?uid': {
    input: {
      /** The user */
      uid?: string
      /** An IANA name, such as Europe/Oslo */
      timezone: string
    }
    answer: {
      data: {
        timezone: string
        success: true
      }
    }
  }
  /** Update the notification preferences of a user. What the app does not let users choose is ignored without an error; the answer has what holds. What is left out stays unchanged. */
  'PATCH /notifications/v1/preferences?uid': {
    input: {
      /** The user */
      uid: string
      groupPreferences?: {
        /** 1 never, 2 every message, 3 only messages that mention the user */
        groupMessages?: number
        /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
        groupReplies?: number
        /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
        groupQuotedReplies?: number
        /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
        groupReactions?: number
        /** 1 never, 2 always */
        groupMemberLeft?: number
        /** 1 never, 2 always */
        groupMemberAdded?: number
        /** 1 never, 2 always */
        groupMemberJoined?: number
        /** 1 never, 2 always */
        groupMemberKicked?: number
        /** 1 never, 2 always */
        groupMemberBanned?: number
        /** 1 never, 2 always */
        groupMemberUnbanned?: number
        /** 1 never, 2 always */
        groupMemberScopeChanged?: number
      }
      oneOnOnePreferences?: {
        /** 1 never, 2 every message, 3 only messages that mention the user */
        oneOnOneMessages?: number
        /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
        oneOnOneReplies?: number
        /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
        oneOnOneQuotedReplies?: number
        /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
        oneOnOneReactions?: number
      }
      mutePreferences?: {
        /** 1 do not disturb is off, 2 it is on: nothing is sent */
        dnd?: number
        schedule?: {
          monday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          tuesday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          wednesday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          thursday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          friday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          saturday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
          sunday?: {
            /** HHMM as a number: 930 is 09:30 */
            from?: number
            /** HHMM as a number: 930 is 09:30 */
            to?: number
            /** true: nothing on this day */
            dnd?: boolean
          }
        }
      }
      /** true: notifications do not show what was written */
      usePrivacyTemplate?: boolean
    }
    answer: {
      data: PreferencesWithOverrides
    }
  }
  /** Update the notification settings of the app. Settings that are left out stay unchanged. A schedule keeps the days that are left out. */
  'PATCH /notifications/v1/settings': {
    input: {
      preferences?: {
        group?: {
          /** 1 never, 2 every message, 3 only messages that mention the user */
          messagesSetting?: number
          /** Whether users can choose messages themselves */
          messagesOverride?: boolean
          /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
          repliesSetting?: number
          /** Whether users can choose replies themselves */
          repliesOverride?: boolean
          /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
          quotedRepliesSetting?: number
          /** Whether users can choose quotedReplies themselves */
          quotedRepliesOverride?: boolean
          /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
          reactionsSetting?: number
          /** Whether users can choose reactions themselves */
          reactionsOverride?: boolean
          /** 1 never, 2 always */
          memberLeftSetting?: number
          /** Whether users can choose memberLeft themselves */
          memberLeftOverride?: boolean
          /** 1 never, 2 always */
          memberAddedSetting?: number
          /** Whether users can choose memberAdded themselves */
          memberAddedOverride?: boolean
          /** 1 never, 2 always */
          memberJoinedSetting?: number
          /** Whether users can choose memberJoined themselves */
          memberJoinedOverride?: boolean
          /** 1 never, 2 always */
          memberKickedSetting?: number
          /** Whether users can choose memberKicked themselves */
          memberKickedOverride?: boolean
          /** 1 never, 2 always */
          memberBannedSetting?: number
          /** Whether users can choose memberBanned themselves */
          memberBannedOverride?: boolean
          /** 1 never, 2 always */
          memberUnbannedSetting?: number
          /** Whether users can choose memberUnbanned themselves */
          memberUnbannedOverride?: boolean
          /** 1 never, 2 always */
          memberScopeChangedSetting?: number
          /** Whether users can choose memberScopeChanged themselves */
          memberScopeChangedOverride?: boolean
          /** 1 never, 2 always */
          messageEditedSetting?: number
          /** 1 never, 2 always */
          messageDeletedSetting?: number
        }
        oneOnOne?: {
          /** 1 never, 2 every message, 3 only messages that mention the user */
          messagesSetting?: number
          /** Whether users can choose messages themselves */
          messagesOverride?: boolean
          /** 1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow */
          repliesSetting?: number
          /** Whether users can choose replies themselves */
          repliesOverride?: boolean
          /** 1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user */
          quotedRepliesSetting?: number
          /** Whether users can choose quotedReplies themselves */
          quotedRepliesOverride?: boolean
          /** 1 never, 2 reactions to the user's own messages, 3 all reactions */
          reactionsSetting?: number
          /** Whether users can choose reactions themselves */
          reactionsOverride?: boolean
          /** 1 never, 2 always */
          messageEditedSetting?: number
          /** 1 never, 2 always */
          messageDeletedSetting?: number
        }
        bypassPreferencesForMentions?: boolean
        bypassPreferencesForGroupMentions?: boolean
        call?: {
          /** 1 never, 2 always */
          initiatedSetting?: number
          /** 1 never, 2 always */
          ongoingSetting?: number
          /** 1 never, 2 always */
          cancelledSetting?: number
          /** 1 never, 2 always */
          busySetting?: number
          /** 1 never, 2 always */
          rejectedSetting?: number
          /** 1 never, 2 always */
          unansweredSetting?: number
          /** 1 never, 2 always */
          endedSetting?: number
        }
        mute?: {
          /** 1 do not disturb is off, 2 it is on: nothing is sent */
          dndPreferenceSetting?: number
          schedulePreferenceSetting?: {
            monday?: {
              /** HHMM as a number: 930 is 09:30 */
              from?: number
              /** HHMM as a number: 930 is 09:30 */
              to?: number
              /** true: nothing on this day */
              dnd?: boolean
            }
            tuesday?: {
              /** HHMM as a number: 930 is 09:30 */
              from?: number
              /** HHMM as a number: 930 is 09:30 */
              to?: number
              /** true: nothing on this day */
              dnd?: boolean
            }
            wednesday?: {
              /** HHMM as a number: 930 is 09:30 */
              from?: number
              /** HHMM as a number: 930 is 09:30 */
              to?: number
              /** true: nothing on this day */
              dnd?: boolean
            }
            thursday?: {
              /** HHMM as a number: 930 is 09:30 */
              from?: number
              /** HHMM as a number: 930 is 09:30 */
              to?: number
              /** true: nothing on this day */
              dnd?: boolean
            }
            friday?: {
              /** HHMM as a number: 930 is 09:30 */
              from?: number
              /** HHMM as a number: 930 is 09:30 */
              to?: number
              /** true: nothing on this day */
              dnd?: boolean
            }
            saturday?: {
              /** HHMM as a number: 930 is 09:30 */
              from?: number
              /** HHMM as a number: 930 is 09:30 */
              to?: number
              /** true: nothing on this day */
              dnd?: boolean
            }
            sunday?: {
              /** HHMM as a number: 930 is 09:30 */
              from?: number
              /** HHMM as a number: 930 is 09:30 */
              to?: number
              /** true: nothing on this day */
              dnd?: boolean
            }
          }
          dndPreferenceOverride?: boolean
          schedulePreferenceOverride?: boolean
          mutedGroupsOverride?: boolean
          mutedOneOnOnesOverride?: boolean
        }
        email?: {
          /** false: messages that were read are listed, too */
          notifyForUnreadOnly?: boolean
          intervalInSeconds?: number
          maxPerDay?: number
          maxPerDayPerConversation?: number
          /** Whether the message itself is sent along */
          includeMessageObjectSetting?: boolean
          /** Whether that has the metadata of its sender */
          includeSenderMetadataSetting?: boolean
          /** Whether that has the metadata of its receiver */
          includeReceiverMetadataSetting?: boolean
          /** Whether that has the metadata of the message */
          includeMessageMetadataSetting?: boolean
        }
        sms?: {
          /** false: messages that were read are listed, too */
          notifyForUnreadOnly?: boolean
          intervalInSeconds?: number
          maxPerDay?: number
          maxPerDayPerConversation?: number
          /** Whether the message itself is sent along */
          includeMessageObjectSetting?: boolean
          /** Whether that has the metadata of its sender */
          includeSenderMetadataSetting?: boolean
          /** Whether that has the metadata of its receiver */
          includeReceiverMetadataSetting?: boolean
          /** Whether that has the metadata of the message */
          includeMessageMetadataSetting?: boolean
        }
        push?: {
          /** Whether the message itself is sent along */
          includeMessageObjectSetting?: boolean
          /** Whether that has the metadata of its sender */
          includeSenderMetadataSetting?: boolean
          /** Whether that has the metadata of its receiver */
          includeReceiverMetadataSetting?: boolean
          /** Whether that has the metadata of the message */
          includeMessageMetadataSetting?: boolean
          /** Whether long texts are shortened in it */
          trimTextFieldSetting?: boolean
          customJson?: Record<string, unknown>
        }
      }
      sound?: {
        chat?: string
        call?: string
      }
      templates?: {
        /** 1 default templates, 2 privacy templates, 3 default templates unless the user chooses privacy */
        usePrivacyTemplate?: number
        textMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        textMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        mediaMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body_image?: string
          body_audio?: string
          body_video?: string
          body_file?: string
        }
        mediaMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body_image?: string
          body_audio?: string
          body_video?: string
          body_file?: string
        }
        pollMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        pollMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        reminderMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        reminderMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        customMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        customMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        interactiveFormTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveFormTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCardTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCardTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveSchedulerTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveSchedulerTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCustomTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCustomTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        emailSubjectTemplateDefault?: {
          subjectGroup?: string
          subjectOneOnOne?: string
        }
        emailSubjectTemplatePrivacy?: {
          subjectGroup?: string
          subjectOneOnOne?: string
        }
        smsContentTemplateDefault?: {
          bodyGroup?: string
          bodyOneOnOne?: string
        }
        smsContentTemplatePrivacy?: {
          bodyGroup?: string
          bodyOneOnOne?: string
        }
        userMentionTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          bodyOneOnOne?: string
          bodyGroup?: string
          body_fallback?: string
        }
        userMentionTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          bodyOneOnOne?: string
          bodyGroup?: string
          body_fallback?: string
        }
        groupMentionTemplateDefault?: {
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        groupMentionTemplatePrivacy?: {
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
      }
    }
    answer: Done
  }
  /** Count the users who are online. Without groups: users of the app, the acting user among them. With groups: members of each group. Groups that the acting user cannot see, or whose members they cannot list, are left out; users who blocked the acting user, or whom they blocked, are not counted. Front ends send the token of the socket in the header Authorization. */
  'POST /api/v3.0/online-members': {
    input: {
      groups?: string[]
    }
    answer: {
      data: {
        onlineUsersCount?: number
        /** By guid */
        groups?: Record<string, number>
      }
    }
  }
  /** Create an API key. Without a scope the key is authOnly. It is random, and can be read again with a fullAccess key. */
  'POST /apikeys': {
    input: {
      name: string
      scope?: 'fullAccess' | 'authOnly'
    }
    answer: {
      data: {
        apiKey: string
        name: string
        scope: 'fullAccess' | 'authOnly'
        createdAt: number
      }
    }
  }
  /** Create a webhook. An app can have 25 unless its settings say otherwise. The response contains the secret that deliveries are signed with; it is not shown again. */
  'POST /apps/{appId}/webhooks': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      id: string
      name: string
      /** An https URL with a public address */
      webhookURL: string
      useBasicAuth?: boolean
      username?: string
      password?: string
      enabled?: boolean
      /** Retry if the endpoint does not respond with 2xx in time. Default false */
      retryOnFailure?: boolean
      /** Trigger ids; replaces the whole list */
      triggers?: string[]
    }
    answer: {
      data: Webhook
    }
  }
  /** Subscribe a webhook to triggers. Added to those that it has; the response has an outcome for each. An unknown one does not stop the others. */
  'POST /apps/{appId}/webhooks/{webhookId}/triggers': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      webhookId: string
      triggerIds: string[]
    }
    answer: {
      data: Record<string, {
        success: boolean
        message?: string
        error?: Record<string, unknown>
      }>
    }
  }
  /** Block users as the acting user. At most 100 at once. While one of two users blocks the other, neither can send the other one-to-one messages. */
  'POST /blockedusers': {
    input: {
      blockedUids: string[]
    }
    answer: {
      data: Record<string, {
        success: boolean
        message?: string
        error?: Record<string, unknown>
      }>
    }
  }
  /** Send a message as a bot. A bot is a user with the role "bot". */
  'POST /bots/{uid}/messages': {
    input: {
      /** uid of the bot */
      uid: string
      /** uid or guid */
      receiver: string
      receiverType: 'user' | 'group'
      category?: 'message' | 'custom' | 'interactive'
      /** text (the default), image, video, audio or file; of a custom message any name, of an interactive one card by default */
      type?: string
      data: MessageData
      /** Your own id: sent again, it is stored once */
      muid?: string
      /** Message id, as an integer or a decimal string */
      quotedMessageId?: number | string
      tags?: string[]
      /** Message id, as an integer or a decimal string */
      parentId?: number | string
    }
    answer: {
      data: Message
    }
  }
  /** Import groups. Creates groups with their original times. The owner becomes a member; groupOwnerDetails creates the owner if there is no such user. Each record is checked and stored on its own: an invalid record does not stop the others, and the response is a 200 with an outcome for every record. Outcomes of a map have the keys of the map. Outcomes of an array have the ID of the record as key, or "[<index>]" (from 0) if a record has no ID or the ID of an earlier one. A request can have 1000 records, unless the deployment sets another limit. Records that already exist are refused and not changed, so an import can be repeated. Times are epoch seconds, as integers or decimal strings; 0 in an optional time means none. Records can be such as the lists of the API answer them, and what they hold beyond an import is named in ignored. */
  'POST /data_import/groups': {
    input: {
      /** Map from guid to group; or an array of these records */
      groups: unknown
    }
    answer: {
      data: Record<string, {
        success: boolean
        data?: Group
        error?: {
          /** Stable; the code for programs to check. docs/api.md lists all codes. */
          code: string
          /** A text for end users. */
          message: string
          /** A text for developers, with the IDs and fields involved. */
          devMessage: string
          source: 'chat-api'
          /** The fields that failed validation. */
          details?: {
            path: string
            message: string
          }[]
        }
        /** The id of a message that is there already, or where idsOnly is true */
        id?: string
        /** Members of the record that the import does not know */
        ignored?: string[]
      }>
    }
  }
  /** Import members of groups, and bans. Adds users to groups, without action messages. joinedAt must be between the creation of the group and now. groupDetails and userDetails create the group and the user if they do not exist; existing ones are not changed. Each record is checked and stored on its own: an invalid record does not stop the others, and the response is a 200 with an outcome for every record. Outcomes of a map have the keys of the map. Outcomes of an array have the ID of the record as key, or "[<index>]" (from 0) if a record has no ID or the ID of an earlier one. A request can have 1000 records, unless the deployment sets another limit. Records that already exist are refused and not changed, so an import can be repeated. Times are epoch seconds, as integers or decimal strings; 0 in an optional time means none. Records can be such as the lists of the API answer them, and what they hold beyond an import is named in ignored. */
  'POST /data_import/members': {
    input: {
      /** Map from "<guid>_member_<uid>" to membership; or an array of these records */
      members: unknown
    }
    answer: {
      data: Record<string, {
        success: boolean
        data?: ImportedMember
        error?: {
          /** Stable; the code for programs to check. docs/api.md lists all codes. */
          code: string
          /** A text for end users. */
          message: string
          /** A text for developers, with the IDs and fields involved. */
          devMessage: string
          source: 'chat-api'
          /** The fields that failed validation. */
          details?: {
            path: string
            message: string
          }[]
        }
        /** The id of a message that is there already, or where idsOnly is true */
        id?: string
        /** Members of the record that the import does not know */
        ignored?: string[]
      }>
    }
  }
  /** Import messages. Stores past messages with their original times. Messages of the same second keep their order in the request (if muids are numbers, send an array: maps in JSON do not keep the order of numeric keys). Nobody is notified: no webhooks, notifications or events. In one-to-one conversations, readAt marks the messages up to this one as read; group messages are imported as read. The details of users and groups create those that do not exist; existing ones are not changed. Beyond the public contract: parentMuid, quotedMuid, reactions with their times, editedAt, editedBy, deletedAt, deletedBy, pinnedAt, pinnedBy, savedBy, countsAsUnread, and action messages, with subjectMuid for the message that was edited or deleted. An app that had no messages when the first came with an id keeps the ids; else new ones are drawn. Each record is checked and stored on its own: an invalid record does not stop the others, and the response is a 200 with an outcome for every record. Outcomes of a map have the keys of the map. Outcomes of an array have the ID of the record as key, or "[<index>]" (from 0) if a record has no ID or the ID of an earlier one. A request can have 1000 records, unless the deployment sets another limit. Records that already exist are refused and not changed, so an import can be repeated. Times are epoch seconds, as integers or decimal strings; 0 in an optional time means none. Records can be such as the lists of the API answer them, and what they hold beyond an import is named in ignored. */
  'POST /data_import/messages?idsOnly': {
    input: {
      /** Answer the id of each stored message in place of the message: less to send and to read */
      idsOnly?: boolean
      /** Map from muid to message; or an array of these records */
      messages: unknown
    }
    answer: {
      data: Record<string, {
        success: boolean
        data?: Message
        error?: {
          /** Stable; the code for programs to check. docs/api.md lists all codes. */
          code: string
          /** A text for end users. */
          message: string
          /** A text for developers, with the IDs and fields involved. */
          devMessage: string
          source: 'chat-api'
          /** The fields that failed validation. */
          details?: {
            path: string
            message: string
          }[]
        }
        /** The id of a message that is there already, or where idsOnly is true */
        id?: string
        /** Members of the record that the import does not know */
        ignored?: string[]
      }>
    }
  }
  /** Import friends, blocks, marks, pins, saves, subscriptions, tokens and keys. Stores what belongs to users, groups and messages that are there. Each record has a kind: friend (uid, friend, createdAt), block (uid, blocked, blockedAt), conversation (uid, receiverType, receiver, and their state of it: delivered, read, unreadFrom, reset, joined, tags, pinnedAt), subscription (uid, subscribedAt), pin (pinnedBy, pinnedAt), save (uid, savedAt), authToken (uid, authToken, platform, userAgent, appInfo, createdAt), apiKey (apiKey, name, scope, createdAt). Messages are named by messageId, their id in this app, or by the muid that they were imported with. Marks rise and never fall. Nobody is notified. The response is a 200 with an outcome for each record, under "[<index>]" (from 0), or its name in a map; an invalid record does not stop the others, and one that is there already is refused and not changed. A request can have 1000 records, unless the deployment sets another limit. Times are epoch seconds. */
  'POST /data_import/records': {
    input: {
      /** An array of records, each with its kind; or a map of them under names of your own */
      records: unknown
    }
    answer: {
      data: Record<string, {
        success: boolean
        data?: {
          kind: string
        }
        error?: {
          /** Stable; the code for programs to check. docs/api.md lists all codes. */
          code: string
          /** A text for end users. */
          message: string
          /** A text for developers, with the IDs and fields involved. */
          devMessage: string
          source: 'chat-api'
          /** The fields that failed validation. */
          details?: {
            path: string
            message: string
          }[]
        }
        /** The id of a message that is there already, or where idsOnly is true */
        id?: string
        /** Members of the record that the import does not know */
        ignored?: string[]
      }>
    }
  }
  /** Import users. Creates users with their original times. Somebody who was erased does not come back (ERR_IMPORT_UID_ERASED), unless the record has recreate: true: then a new person gets the uid. Each record is checked and stored on its own: an invalid record does not stop the others, and the response is a 200 with an outcome for every record. Outcomes of a map have the keys of the map. Outcomes of an array have the ID of the record as key, or "[<index>]" (from 0) if a record has no ID or the ID of an earlier one. A request can have 1000 records, unless the deployment sets another limit. Records that already exist are refused and not changed, so an import can be repeated. Times are epoch seconds, as integers or decimal strings; 0 in an optional time means none. Records can be such as the lists of the API answer them, and what they hold beyond an import is named in ignored. */
  'POST /data_import/users': {
    input: {
      /** Map from uid to user; or an array of these records */
      users: unknown
    }
    answer: {
      data: Record<string, {
        success: boolean
        data?: User
        error?: {
          /** Stable; the code for programs to check. docs/api.md lists all codes. */
          code: string
          /** A text for end users. */
          message: string
          /** A text for developers, with the IDs and fields involved. */
          devMessage: string
          source: 'chat-api'
          /** The fields that failed validation. */
          details?: {
            path: string
            message: string
          }[]
        }
        /** The id of a message that is there already, or where idsOnly is true */
        id?: string
        /** Members of the record that the import does not know */
        ignored?: string[]
      }>
    }
  }
  /** Create upload addresses. Answers, by fileId, an address to which one file can be uploaded: a form (multipart/form-data) with the members of request.body as fields and the content as `file`. Then send the message with the attachments in data.attachments. A file has the size that was announced, is served with the type that was announced, and is removed if no message uses it within a day. */
  'POST /files/upload-url': {
    input: {
      /** By an id that the client chooses; at most 10 */
      files: Record<string, {
        fileId?: string
        name: string
        /** Bytes */
        size: number
        mimeType?: string
      }>
      receiver?: string
      receiverType?: string
      /** Message id, as an integer or a decimal string */
      parentMessageId?: number | string
    }
    answer: {
      data: Record<string, {
        request: {
          url: string
          method: 'POST'
          /** Fields of the form, beside `file` */
          body: Record<string, string>
        }
        attachment: {
          url: string
          name: string
          mimeType: string
          extension: string
          /** Bytes */
          size: string
        }
        /** Epoch seconds */
        expiresAt: number
      }>
    }
  }
  /** Create a group, with its first members. The owner is the acting user, else the user in owner, else app_system. A user who becomes the owner is also an admin of the group, and the response shows the group as they see it. The four lists of members can have at most 25 users in all unless the app's settings say otherwise; a user in several lists gets the highest scope. */
  'POST /groups': {
    input: {
      guid: string
      name: string
      type: 'public' | 'password' | 'private'
      password?: string
      icon?: string
      description?: string
      metadata?: Record<string, unknown>
      owner?: string
      tags?: string[]
      members?: {
        /** uids */
        admins?: string[]
        /** uids */
        moderators?: string[]
        /** uids */
        participants?: string[]
        /** uids */
        usersToBan?: string[]
      }
    }
    answer: {
      data: {
        guid: string
        name: string
        type: 'public' | 'password' | 'private'
        icon?: string
        description?: string
        owner?: string
        metadata?: Record<string, unknown>
        tags?: string[]
        membersCount?: number
        onlineMembersCount?: number
        conversationId?: string
        /** Epoch seconds */
        createdAt?: number
        /** Epoch seconds */
        updatedAt?: number
        updatedBy?: string
        scope?: 'admin' | 'moderator' | 'participant'
        /** Epoch seconds */
        joinedAt?: number
        hasJoined?: boolean
        isBanned?: boolean
        members?: {
          data: {
            admins: Record<string, UidOutcome>
            moderators: Record<string, UidOutcome>
            participants: Record<string, UidOutcome>
            usersToBan: Record<string, UidOutcome>
          }
        }
      }
    }
  }
  /** Ban a user from a group. A member is removed from the group. A banned user cannot join. */
  'POST /groups/{guid}/bannedusers/{uid}': {
    input: {
      guid: string
      uid: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Mark the messages of a group as delivered. Marks all messages up to this one; without messageId all that there are. Marks never move back. */
  'POST /groups/{guid}/conversation/delivered': {
    input: {
      guid: string
      /** Message id, as an integer or a decimal string */
      messageId?: number | string
    }
    answer: {
      data: Outcome
    }
  }
  /** Pin the conversation with a group, for the acting user. Pinned conversations stand first in the list of the acting user. Pinning a pinned one changes nothing. */
  'POST /groups/{guid}/conversation/pin': {
    input: {
      guid: string
    }
    answer: {
      data: {
        conversationId: string
        conversationType: 'user' | 'group'
        pinnedBy?: string
        pinnedAt?: number
      }
    }
  }
  /** Mark the messages of a group as read. Marks all messages up to this one; without messageId all that there are. Marks never move back, and what is read also counts as delivered. */
  'POST /groups/{guid}/conversation/read': {
    input: {
      guid: string
      /** Message id, as an integer or a decimal string */
      messageId?: number | string
    }
    answer: {
      data: Outcome
    }
  }
  /** Add members, ban users, or join a group. With at least one of the four lists, adds and bans users, at most 25 in all unless the app's settings say otherwise, and returns the outcome for each user under the same keys. A user in several lists gets the highest scope and is not banned. Without any list, the acting user joins the group (with its password, if it has one), and the response is the action message. */
  'POST /groups/{guid}/members': {
    input: {
      guid: string
      /** uids */
      admins?: string[]
      /** uids */
      moderators?: string[]
      /** uids */
      participants?: string[]
      /** uids */
      usersToBan?: string[]
      /** Password of the group, to join it */
      password?: string | null
    }
    answer: {
      data: {
        admins?: Record<string, AddOutcome>
        moderators?: Record<string, AddOutcome>
        participants?: Record<string, AddOutcome>
        usersToBan?: Record<string, UidOutcome>
      }
    }
  }
  /** Ask for one’s own data. Once in 24 hours. The app gets it with get-user-export and hands it over. With the setting personExports = atOnce it is put together at once, else when the app releases it. A new one takes the place of the last. */
  'POST /me/export': {
    input: object
    answer: {
      data: {
        uid: string
        status: 'asked' | 'making' | 'ready' | 'failed'
        /** Epoch seconds */
        askedAt: number
        /** Epoch seconds: when the app released it, or at once */
        releasedAt?: number
        /** Epoch seconds: when it was put together */
        madeAt?: number
        /** Epoch seconds: until when it can be fetched, 7 days after it was put together; of one that failed, when it is removed */
        expiresAt?: number
        /** How many records it has */
        records?: number
      }
    }
  }
  /** Send a message. Sends to a user or a group. With `multipleReceivers: {"uids": [...], "guids": [...]}` in place of receiver and receiverType it sends to several, and the response has an outcome for each: `{"data": {"uids": {"bob": {"success": true, "data": {...}}}}}`. If the sender has already used the muid in this conversation, the stored message is returned and nothing is sent. Without onBehalfOf, the sender is app_system. Up to ten users can be mentioned as <@uid:alice> in data.text, which is also the caption of files; responses list them in data.mentions. <@all:...> is kept as text. */
  'POST /messages': {
    input: {
      /** uid or guid */
      receiver: string
      receiverType: 'user' | 'group'
      category?: 'message' | 'custom' | 'interactive'
      /** text (the default), image, video, audio or file; of a custom message any name, of an interactive one card by default */
      type?: string
      data: MessageData
      /** Your own id: sent again, it is stored once */
      muid?: string
      /** Message id, as an integer or a decimal string */
      quotedMessageId?: number | string
      tags?: string[]
      /** Message id, as an integer or a decimal string */
      parentId?: number | string
    }
    answer: {
      data: Message
    }
  }
  /** Flag a message. Reports a message that the user sees to the reviewers. It stays visible until one of them decides. A second flag of the same user counts once, and replaces the reason and the remark. */
  'POST /messages/{messageId}/flagged': {
    input: {
      /** Message id */
      messageId: string
      /** The id of a reason */
      id?: string
      /** The same */
      reasonId?: string
      remark?: string
    }
    answer: Outcome
  }
  /** Pin a message in its conversation. Pins as the acting user, or without onBehalfOf as the app. Pinning a pinned message changes nothing. A conversation can have 100 pinned messages unless the app's settings say otherwise. */
  'POST /messages/{messageId}/pin': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: Message
    }
  }
  /** Add a reaction to a message. Adding the same reaction again changes nothing. A message can have 25 different reactions, each from any number of users. Returns the message with its reactions, both in data and as the field reactions. */
  'POST /messages/{messageId}/reactions/{reaction}': {
    input: {
      /** Message id */
      messageId: string
      /** An emoji or other text of at most 45 characters, URL-encoded */
      reaction: string
    }
    answer: {
      data: Message
    }
  }
  /** Save a message for the acting user. Only the acting user sees which messages they have saved. A user can save 100 messages unless the app's settings say otherwise. */
  'POST /messages/{messageId}/save': {
    input: {
      /** Message id */
      messageId: string
    }
    answer: {
      data: Message
    }
  }
  /** Reply in a thread. Takes the same body as sending a message. The receiver must be the other user, or the group, of the parent's conversation; any other receiver fails with ERR_WRONG_MESSAGE_THREAD (in multipleReceivers, each on its own). */
  'POST /messages/{messageId}/thread': {
    input: {
      /** Id of the parent message */
      messageId: string
      /** uid or guid */
      receiver?: string
      receiverType?: 'user' | 'group'
      category?: 'message' | 'custom' | 'interactive'
      /** text (the default), image, video, audio or file; of a custom message any name, of an interactive one card by default */
      type?: string
      data: MessageData
      /** Your own id: sent again, it is stored once */
      muid?: string
      /** Message id, as an integer or a decimal string */
      quotedMessageId?: number | string
      tags?: string[]
    }
    answer: {
      data: Message
    }
  }
  /** Follow a thread as the acting user. Users who start a thread, reply in it or are mentioned in a reply follow it automatically. */
  'POST /messages/{messageId}/thread/subscription': {
    input: {
      /** Id of the parent message */
      messageId: string
    }
    answer: {
      data: Outcome
    }
  }
  /** Claim messages to review. Beyond the public contract. For some time nobody else can claim or decide these messages: either those of ids, or the oldest that nobody has claimed. A claim of the same reviewer is prolonged. Those of ids that somebody else has are left out. */
  'POST /moderation/claims': {
    input: {
      list: 'flagged' | 'blocked'
      reviewer: string
      ids?: (number | string)[]
      limit?: number
      /** How long the claim holds */
      seconds?: number
      ruleId?: string
      sender?: string
      conversationId?: string
      reasonId?: string
    }
    answer: {
      data: {
        /** The messages that are claimed now, the oldest first */
        ids: string[]
        /** When the claim ends, in epoch seconds */
        until: number
      }
    }
  }
  /** Create a list for moderation rules. An app can have 25 besides the predefined ones, with 200000 words, 200 patterns, 10000 sentences and 100 prompts in all; the words and patterns that stand in rules and their exceptions count too. A word or sentence has up to 100 characters, a pattern up to 500. A list in JSON has up to 10000 terms; a text or a file may have more. With the id of a predefined list that was deleted that one is made again; fields that are left out are as they are shipped. */
  'POST /moderation/keywords': {
    input: {
      /** Letters, digits, `-` and `_` */
      id: string
      name?: string
      description?: string
      /** What the list holds. Beyond the public contract: `custom-api`, the address of an engine, and `prompt`, what a language model is asked to look for */
      category?: 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt'
      /** a text or a list of texts. Words, separated by commas; patterns, one a line: a comma is part of the pattern */
      searchTerms?: string | string[]
      /** a text or a list of texts. Sentences, one a line */
      disallowedSentences?: string | string[]
      /** a text, which is one prompt, or a list of prompts */
      prompts?: string | string[]
      /** A CSV file in UTF-8, instead of the terms; in JSON its content */
      file?: string
      url?: string
      basicAuthEnabled?: boolean
      username?: string
      password?: string
    }
    answer: {
      data: KeywordList
    }
  }
  /** Hand in a message to be judged and sent. As a send on behalf of the sender: the same rules hold. Users and groups that do not exist are made first, from the details; the sender joins a group that is made. The message gets its place when it is handed in, so sentAt is checked and otherwise of no effect. */
  'POST /moderation/messages': {
    input: {
      muid?: string
      category?: string
      type?: string
      sender: string
      receiver: string
      receiverType: 'user' | 'group'
      data?: Record<string, unknown>
      senderUserDetails?: ImportUser
      receiverUserDetails?: ImportUser
      receiverGroupDetails?: ImportGroupDetails
      tags?: string[]
      /** Epoch seconds, as an integer or a decimal string */
      sentAt?: number | string
    }
    answer: {
      data: Message
    }
  }
  /** Leave a note beside a message. Beyond the public contract. For other reviewers; up to 100 of a message. */
  'POST /moderation/messages/{messageId}/notes': {
    input: {
      /** Message id */
      messageId: string
      text: string
      author?: string
    }
    answer: {
      data: ModerationNote
    }
  }
  /** Create a reason for flagging messages. An app can have 5 besides the predefined ones. Front ends find them in their settings, as flagReasons. */
  'POST /moderation/reasons': {
    input: {
      /** Letters, digits, `-` and `_` */
      id: string
      name: string
      description?: string
    }
    answer: {
      data: Reason
    }
  }
  /** Create a moderation rule. An app can have 25 besides the predefined ones. Their words, patterns and exceptions count among the terms that an app can have in its lists. Without enabled and mode the rule is on. With the id of a predefined rule that was deleted that one is made again; fields that are left out are as they are shipped. */
  'POST /moderation/rules': {
    input: {
      /** Letters, digits, `-` and `_` */
      id: string
      name?: string
      description?: string
      /** true: mode `on`, false: mode `off` */
      enabled?: boolean
      /** Beyond the public contract. `shadow`: decides and logs, and does nothing. `enabled` is true where the mode is `on` */
      mode?: 'off' | 'shadow' | 'on'
      /** To which messages the rule applies: those that meet all filters. Default: all */
      filters?: RuleFilter[]
      /** What the rule looks for: it is met where one of them is */
      conditions?: ({
        entity?: 'message'
        operand: 'text' | 'image' | 'video' | 'custom'
        /** Conditions on pictures and videos are of the category `word`. Beyond the public contract: `links`, `length` (characters), `rate` (messages of the sender in a minute), `repetition` (times that they sent the same text in ten minutes) */
        category: 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt' | 'links' | 'length' | 'rate' | 'repetition'
        operator?: 'contains' | 'equals'
        /** `value` holds ids of lists */
        isKeywordsReferencePresent?: boolean
        /** The same */
        isKeywordReferencePresent?: boolean
        /** The same */
        isListReferencePresent?: boolean
        /** The condition is on a label of a picture or video, as the engine of the app gives them */
        isMediaPresent?: boolean
        /** Words, patterns or ids of lists; for labels `<label>_greaterThan_<percent>`, for lists that need a threshold `<list id>_greaterThan_<percent>`, for links, length, rate and repetition `greaterThan_<number>` */
        value: string | string[]
        /** Readable texts of the formulas in `value` */
        message?: string | string[]
      })[]
      /** Beyond the public contract: texts in which the rule finds nothing */
      exceptions?: string[]
      /** What happens when it is met. `blockMessage`, `dropMessage`: only its sender has the message. `flagMessage`: it is sent, and people are asked to look at it. `banUser`, `kickUser`: the sender, in groups. `blockUser`: the receiver blocks the sender, one-to-one. Owners and admins of groups stay. Default: `blockMessage` */
      action?: ('blockMessage' | 'dropMessage' | 'flagMessage' | 'banUser' | 'kickUser' | 'blockUser')[]
    }
    answer: {
      data: ModerationRule
    }
  }
  /** Try a moderation rule on what was said. Beyond the public contract. Looks through stored messages in the background, as the rule and its lists are now, whatever its mode; nothing becomes of them. Takes the place of an earlier dry run of the rule. Who sent a message is looked at as they are today. */
  'POST /moderation/rules/{ruleId}/dry-run': {
    input: {
      ruleId: string
      /** Messages sent from then on. Default: 30 days ago */
      from?: number | string
      /** Messages sent until then. Default: now */
      to?: number | string
      /** Share of the messages that it looks at. Default 1 */
      sample?: number
    }
    answer: {
      data: DryRun
    }
  }
  /** Try texts on a moderation rule. Beyond the public contract. The rule is asked as it is now, whatever its mode; nothing is stored. Without sender and receiver, its filters are not asked. Conditions on rate and repetition are never met here. */
  'POST /moderation/rules/{ruleId}/test': {
    input: {
      ruleId: string
      texts: string[]
      /** What the texts are: of a message, or of its custom data. Default `text` */
      operand?: 'text' | 'custom'
      /** uid */
      sender?: string
      /** uid or guid */
      receiver?: string
      receiverType?: 'user' | 'group'
    }
    answer: {
      data: {
        revisionId: string
        /** In the order of the texts */
        results: {
          isHit: boolean
          hits: TrialHit[]
          /** What only an engine outside could answer; nobody is asked */
          questions: {
            /** Id of the condition */
            condition: number
            label?: string
            list?: {
              id: string
              revisionId: string
            }
          }[]
        }[]
      }
    }
  }
  /** Set up the app's own e-mail provider. A webhook that is called for each user who is to be told. Requests are signed like those of webhooks; `POST .../custom/secret` tells the secret. One that is set up already is replaced, and keeps its secret. */
  'POST /notifications/email/v1/providers/custom': {
    input: {
      /** Whether it is used */
      isEnabled: boolean
      /** An https URL with a public address */
      webhookURL: string
      /** Whether user name and password are sent */
      useBasicAuth: boolean
      /** Required, but may be empty without useBasicAuth */
      basicAuthUsername: string
      /** Answered shortened. Sent back like that, it stays as it is */
      basicAuthPassword: string
      /** Whether it is only called for users whose e-mail address is stored; false: for all, without an address */
      useStoredEmailID: boolean
    }
    answer: {
      data: {
        /** Whether it is used */
        isEnabled?: boolean
        /** An https URL with a public address */
        webhookURL?: string
        /** Whether user name and password are sent */
        useBasicAuth?: boolean
        /** Required, but may be empty without useBasicAuth */
        basicAuthUsername?: string
        /** Answered shortened. Sent back like that, it stays as it is */
        basicAuthPassword?: string
        /** Whether it is only called for users whose e-mail address is stored; false: for all, without an address */
        useStoredEmailID?: boolean
      }
    }
  }
  /** Create a new signing secret for the app's own e-mail provider. Requests are signed with it from now on, and no longer with the one before. */
  'POST /notifications/email/v1/providers/custom/secret': {
    input: object
    answer: {
      data: {
        /** `whsec_...`; not shown again */
        secret: string
      }
    }
  }
  /** Send a trial to the app's own e-mail provider. Sends a trial with made-up content, even if the provider is not enabled, and returns the result. */
  'POST /notifications/email/v1/providers/custom/test': {
    input: {
      /** An e-mail address */
      email?: string
    }
    answer: {
      data: Trial
    }
  }
  /** Set up SendGrid. One that is set up already is replaced. It keeps its address for replies. */
  'POST /notifications/email/v1/providers/sendgrid': {
    input: {
      /** In responses it is shortened. Sent back like that, it stays as it is */
      sendGridApiKey: string
      sendGridTemplateID: string
      sendGridUnsubscribeGroupID: string
      senderName: string
      /** An e-mail address */
      senderEmail: string
      /** Whether replies become messages. false by default */
      allowEmailReplies?: boolean
      /** an e-mail address, or null. Replies go there, each with a token added: to `reply+<token>@example.com` instead of `reply@example.com`. Null or absent: senderEmail */
      senderEmailForReplies?: string | null
      /** Whether it is used. Default true */
      isEnabled?: boolean
    }
    answer: {
      data: {
        /** Shortened */
        sendGridApiKey?: string
        sendGridTemplateID?: string
        sendGridUnsubscribeGroupID?: string
        senderName?: string
        /** An e-mail address */
        senderEmail?: string
        /** Whether replies become messages. false by default */
        allowEmailReplies?: boolean
        /** An e-mail address */
        senderEmailForReplies?: string
        /** Whether it is used. Default true */
        isEnabled?: boolean
        /** The address for SendGrid Inbound Parse, which is secret. Only in responses to POST and PUT */
        repliesWebhook?: string
      }
    }
  }
  /** Create a new address for SendGrid Inbound Parse. Replies are taken there from now on, and no longer at the address before. */
  'POST /notifications/email/v1/providers/sendgrid/replies-webhook': {
    input: object
    answer: {
      data: {
        repliesWebhook: string
      }
    }
  }
  /** Send a trial by SendGrid. Sends a trial with made-up content, even if the provider is not enabled, and returns the result. */
  'POST /notifications/email/v1/providers/sendgrid/test': {
    input: {
      /** An e-mail address */
      email: string
    }
    answer: {
      data: Trial
    }
  }
  /** Send a trial by the mail server of the deployment. Sends a trial with made-up content, even if the provider is not enabled, and returns the result. */
  'POST /notifications/email/v1/providers/smtp/test': {
    input: {
      /** An e-mail address */
      email: string
    }
    answer: {
      data: Trial
    }
  }
  /** Add an APNs provider. The first one is the default. */
  'POST /notifications/push/v1/providers/apns': {
    input: {
      providerId: string
      keyId: string
      teamId: string
      bundleId: string
      p8KeyFilename?: string
      p8Key: string
      includeContentAvailable?: boolean
      includeMutableContent?: boolean
      /** false: the sandbox. Default false */
      productionMode?: boolean
    }
    answer: {
      data: {
        pushProviders: {
          providerId: string
          /** In lists */
          isDefault?: boolean
          keyId: string
          teamId: string
          bundleId: string
          p8KeyFilename?: string
          /** Shortened */
          p8Key: string
          includeContentAvailable: boolean
          includeMutableContent: boolean
          productionMode: boolean
        }[]
      }
    }
  }
  /** Send a trial by an APNs provider. Sends one push with made-up content to a device, and returns the result. */
  'POST /notifications/push/v1/providers/apns/test/{providerId}': {
    input: {
      providerId: string
      /** A registered token of the device */
      pushToken: string
    }
    answer: {
      data: Trial
    }
  }
  /** Set up the app's own push provider. A webhook that is called for each user who is to be notified, with the payload of the push; with `batchSize`, for many at once. Requests are signed like those of webhooks; `POST .../custom/secret` tells the secret. One that is set up already is replaced, and keeps its secret. */
  'POST /notifications/push/v1/providers/custom': {
    input: {
      /** Whether it is used */
      isEnabled: boolean
      /** An https URL with a public address */
      webhookURL: string
      /** Whether user name and password are sent */
      useBasicAuth: boolean
      /** Required, but may be empty without useBasicAuth */
      basicAuthUsername: string
      /** Answered shortened. Sent back like that, it stays as it is */
      basicAuthPassword: string
      /** How many notifications go in one request, in the envelope of batches. 1, or left out: a request for each */
      batchSize?: number
    }
    answer: {
      data: {
        pushProviders: {
          /** Whether it is used */
          isEnabled: boolean
          /** An https URL with a public address */
          webhookURL: string
          /** Whether user name and password are sent */
          useBasicAuth: boolean
          /** Required, but may be empty without useBasicAuth */
          basicAuthUsername: string
          /** Answered shortened. Sent back like that, it stays as it is */
          basicAuthPassword: string
          /** How many notifications go in one request, in the envelope of batches. 1, or left out: a request for each */
          batchSize?: number
        }[]
      }
    }
  }
  /** Create a new signing secret for the app's own push provider. Requests are signed with it from now on, and no longer with the one before. */
  'POST /notifications/push/v1/providers/custom/secret': {
    input: object
    answer: {
      data: {
        /** `whsec_...`; not shown again */
        secret: string
      }
    }
  }
  /** Send a trial to the app's own push provider. Sends one notification with made-up content, even if the provider is not enabled, and returns the result. */
  'POST /notifications/push/v1/providers/custom/test': {
    input: object
    answer: {
      data: Trial
    }
  }
  /** Add an FCM provider. The first one is the default. `token_uri` and other addresses in credentials are ignored. */
  'POST /notifications/push/v1/providers/fcm': {
    input: {
      providerId: string
      serviceAccountFilename?: string
      serviceAccountCreds: {
        project_id: string
        client_email: string
        private_key: string
        private_key_id?: string
      }
      /** Whether a push has the key `notification`, which the system shows by itself. Default `true` for ios, else `false`. Without it, iPhones wake the app in the background, a few times an hour at most */
      notificationInPayload?: {
        ios?: {
          chat?: boolean
          call?: boolean
        }
        android?: {
          chat?: boolean
          call?: boolean
        }
        web?: {
          chat?: boolean
          call?: boolean
        }
      }
    }
    answer: Done
  }
  /** Send a trial by an FCM provider. Sends one push with made-up content to a device, and returns the result. */
  'POST /notifications/push/v1/providers/fcm/test/{providerId}': {
    input: {
      providerId: string
      /** A registered token of the device */
      pushToken: string
    }
    answer: {
      data: Trial
    }
  }
  /** Send a trial by Web Push. To a subscription that was made with the key of this app; it need not be registered. */
  'POST /notifications/push/v1/providers/web_push/test': {
    input: {
      /** With `web_push`: what `pushManager.subscribe()` returned */
      subscription: PushSubscription
    }
    answer: {
      data: Trial
    }
  }
  /** Register a device for push. An auth token has one device of each kind: it replaces the one before. A device that is registered by another user is no longer the first one’s. Without `providerId`, or with `default`, it is the default provider of the platform. Web Push has one provider, `web_push`, which is there at once: `GET /notifications/push/v1/vapid-key`. */
  'POST /notifications/push/v1/tokens': {
    input: {
      platform: 'fcm_android' | 'fcm_ios' | 'fcm_web' | 'fcm_flutter_android' | 'fcm_flutter_ios' | 'fcm_react_native_android' | 'fcm_react_native_ios' | 'fcm_ionic_cordova_android' | 'fcm_ionic_cordova_ios' | 'apns_ios_device' | 'apns_flutter_device' | 'apns_react_native_device' | 'apns_ionic_cordova_device' | 'apns_ios_voip' | 'apns_flutter_voip' | 'apns_ionic_cordova_voip' | 'apns_react_native_voip' | 'web_push'
      providerId?: string
      fcmToken?: string
      deviceToken?: string
      voipToken?: string
      /** With `web_push`: what `pushManager.subscribe()` returned */
      subscription?: PushSubscription
      /** With an API key: the auth token of the device, required. Otherwise that of the request counts */
      authToken?: string
      timezone?: string
    }
    answer: Done
  }
  /** Set up the app's own SMS provider. A webhook that is called for each user who is to be told. Requests are signed like those of webhooks; `POST .../custom/secret` tells the secret. One that is set up already is replaced, and keeps its secret. */
  'POST /notifications/sms/v1/providers/custom': {
    input: {
      /** Whether it is used */
      isEnabled: boolean
      /** An https URL with a public address */
      webhookURL: string
      /** Whether user name and password are sent */
      useBasicAuth: boolean
      /** Required, but may be empty without useBasicAuth */
      basicAuthUsername: string
      /** Answered shortened. Sent back like that, it stays as it is */
      basicAuthPassword: string
      /** Whether it is only called for users whose phone number is stored; false (the default when it is set up): for all, without a number */
      useStoredPhNo?: boolean
    }
    answer: {
      data: {
        /** Whether it is used */
        isEnabled?: boolean
        /** An https URL with a public address */
        webhookURL?: string
        /** Whether user name and password are sent */
        useBasicAuth?: boolean
        /** Required, but may be empty without useBasicAuth */
        basicAuthUsername?: string
        /** Answered shortened. Sent back like that, it stays as it is */
        basicAuthPassword?: string
        /** Whether it is only called for users whose phone number is stored; false (the default when it is set up): for all, without a number */
        useStoredPhNo?: boolean
      }
    }
  }
  /** Create a new signing secret for the app's own SMS provider. Requests are signed with it from now on, and no longer with the one before. */
  'POST /notifications/sms/v1/providers/custom/secret': {
    input: object
    answer: {
      data: {
        /** `whsec_...`; not shown again */
        secret: string
      }
    }
  }
  /** Send a trial to the app's own SMS provider. Sends a trial with made-up content, even if the provider is not enabled, and returns the result. */
  'POST /notifications/sms/v1/providers/custom/test': {
    input: {
      /** A phone number with `+` and country code, digits only */
      phno?: string
    }
    answer: {
      data: Trial
    }
  }
  /** Set up Twilio. One that is set up already is replaced. */
  'POST /notifications/sms/v1/providers/twilio': {
    input: {
      twilioAccountSID: string
      /** In responses it is shortened. Sent back like that, it stays as it is */
      twilioAuthToken: string
      /** A phone number with `+`, a short code, the name of a sender, or the SID of a messaging service */
      twilioSenderPhoneNumber: string
      /** Whether it is used. Default true */
      isEnabled?: boolean
    }
    answer: {
      data: {
        twilioAccountSID?: string
        /** Shortened */
        twilioAuthToken?: string
        /** A phone number with `+`, a short code, the name of a sender, or the SID of a messaging service */
        twilioSenderPhoneNumber?: string
        /** Whether it is used. Default true */
        isEnabled?: boolean
      }
    }
  }
  /** Send a trial by Twilio. Sends a trial with made-up content, even if the provider is not enabled, and returns the result. */
  'POST /notifications/sms/v1/providers/twilio/test': {
    input: {
      /** A phone number with `+` and country code, digits only */
      phno: string
    }
    answer: {
      data: Trial
    }
  }
  /** Resend pushes of the log, by status and time. `from` and `to` limit the time of `processingStartedAtMS`. */
  'POST /notifications/v1/logs/redeliver': {
    input: {
      status: 'delivered' | 'failed' | 'stopped'
      /** Epoch milliseconds, or seconds below 1e11 */
      from?: number
      /** Epoch milliseconds, or seconds below 1e11 */
      to?: number
      uid?: string
      provider?: 'fcm' | 'apns' | 'web_push' | 'sendgrid' | 'smtp' | 'twilio' | 'custom'
    }
    answer: {
      data: {
        /** Number of pushes that are decided and sent again */
        count: number
      }
    }
  }
  /** Resend one push of the log. Whatever became of it, it is decided again and sent soon, under the same ids, with another hour to live. What a gate stops now is not sent. Of a provider that was removed nothing is sent. */
  'POST /notifications/v1/logs/{logId}/redeliver': {
    input: {
      logId: string
    }
    answer: {
      data: NotificationLog
    }
  }
  /** Preview who would be notified of a message, and how. Nothing is sent or stored. Of a group, the first 100 users and devices are listed. E-mails and SMS are shown as if this were the only unread message; what was sent before is not counted. `templates` are taken as if they were saved, to see what a change of them says. */
  'POST /notifications/v1/preview': {
    input: {
      sender: string
      receiver: string
      receiverType: 'user' | 'group'
      category?: 'message' | 'custom' | 'interactive'
      type?: string
      data: Record<string, unknown>
      /** Message id, as an integer or a decimal string */
      parentId?: number | string
      /** Message id, as an integer or a decimal string */
      quotedMessageId?: number | string
      templates?: {
        /** 1 default templates, 2 privacy templates, 3 default templates unless the user chooses privacy */
        usePrivacyTemplate?: number
        textMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        textMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        mediaMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body_image?: string
          body_audio?: string
          body_video?: string
          body_file?: string
        }
        mediaMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body_image?: string
          body_audio?: string
          body_video?: string
          body_file?: string
        }
        pollMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        pollMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        reminderMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        reminderMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        customMessageTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        customMessageTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        interactiveFormTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveFormTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCardTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCardTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveSchedulerTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveSchedulerTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCustomTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        interactiveCustomTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          body?: string
        }
        emailSubjectTemplateDefault?: {
          subjectGroup?: string
          subjectOneOnOne?: string
        }
        emailSubjectTemplatePrivacy?: {
          subjectGroup?: string
          subjectOneOnOne?: string
        }
        smsContentTemplateDefault?: {
          bodyGroup?: string
          bodyOneOnOne?: string
        }
        smsContentTemplatePrivacy?: {
          bodyGroup?: string
          bodyOneOnOne?: string
        }
        userMentionTemplateDefault?: {
          titleOneOnOne?: string
          titleGroup?: string
          bodyOneOnOne?: string
          bodyGroup?: string
          body_fallback?: string
        }
        userMentionTemplatePrivacy?: {
          titleOneOnOne?: string
          titleGroup?: string
          bodyOneOnOne?: string
          bodyGroup?: string
          body_fallback?: string
        }
        groupMentionTemplateDefault?: {
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
        groupMentionTemplatePrivacy?: {
          titleGroup?: string
          body?: string
          body_fallback?: string
        }
      }
    }
    answer: {
      data: {
        notifications: ({
          uid: string
          channel: 'push' | 'email' | 'sms'
          provider: string
          providerId: string
          tokenType?: string
          /** Whether it would be sent now */
          notificationTriggered: boolean
          reason?: string
          gates: ({
            /** messages, replies, ...; dnd, mute, schedule, privacyTemplate, blocks, online, read; of e-mail and SMS also window, quota, address, unsubscribed; when it was about to be sent also timeToLive, membership, message, account, device, shown. Where nothing was planned: provider, sender, membership, account, pushGroupSize, emailGroupSize, smsGroupSize, messages, replies, ..., device, shown, sendNotification, category, message */
            gate: string
            /** What it said */
            value: string | number | boolean
            setBy: 'user' | 'app' | 'default' | 'chat'
            passes: boolean
          })[]
          /** Of an e-mail: its subject. Empty for SMS */
          title: string
          body: string
        })[]
      }
    }
  }
  /** Create a role. A user's role is set with the field role of the user. An app can have 25 roles, including the role default, which users have if they get no other. */
  'POST /roles': {
    input: {
      role: string
      name: string
      description?: string
      metadata?: Record<string, unknown>
      settings?: {
        listUsers?: 'all' | 'friendsOnly'
        sendMessagesTo?: 'all' | 'friendsOnly'
      }
    }
    answer: {
      data: {
        role: string
        name: string
        description?: string
        metadata?: Record<string, unknown>
        settings?: {
          listUsers?: 'all' | 'friendsOnly'
          sendMessagesTo?: 'all' | 'friendsOnly'
        }
        /** Epoch seconds */
        createdAt: number
        /** Epoch seconds; only after an update */
        updatedAt?: number
      }
    }
  }
  /** Restrict features for a role. Requests for a restricted feature fail with ERR_PERMISSION_DENIED. The response has each key with its prefix u.; an unknown key is returned as sent, with success: false, and does not stop the others. Role permissions can do the same and more. */
  'POST /roles/{role}/restrictedfeatures': {
    input: {
      role: string
      /** Feature keys, with or without the prefix u. */
      featuresToRestrict: string[]
    }
    answer: {
      data: Record<string, Outcome>
    }
  }
  /** Accept telemetry of front ends; nothing is stored. For front ends that send it; the answer is always the same. */
  'POST /user_sessions': {
    input: object
    answer: {
      data: {
        success: boolean
      }
    }
  }
  /** Create a user. The uid is stored in lower case and cannot be changed. authOnly keys are used in front ends, so they cannot assign roles: with such a key, role must be absent or default. A uid whose user was permanently deleted can be used again with a fullAccess key only (409 ERR_UID_ALREADY_EXISTS otherwise), and the new user is another person: old group messages stay those of a deleted user, old muids do not count, and bans of the uid stay. */
  'POST /users': {
    input: {
      uid: string
      name: string
      avatar?: string
      link?: string
      role?: string
      /** Status text; an empty string clears it */
      statusMessage?: string
      /** At most 5 KB of JSON. Only the user and the app can see the property @private. */
      metadata?: Record<string, unknown>
      tags?: string[]
      /** Also create an auth token and return it */
      withAuthToken?: boolean
    }
    answer: {
      data: {
        uid: string
        name: string
        avatar?: string
        link?: string
        role?: string
        status?: 'available' | 'offline'
        statusMessage?: string
        metadata?: Record<string, unknown>
        tags?: string[]
        /** Epoch seconds */
        createdAt?: number
        /** Epoch seconds */
        updatedAt?: number
        /** Epoch seconds */
        lastActiveAt?: number
        /** Epoch seconds */
        deactivatedAt?: number
        /** Conversation between this user and the viewer */
        conversationId?: string
        blockedByMe?: boolean
        /** Epoch seconds */
        blockedByMeAt?: number
        hasBlockedMe?: boolean
        /** Epoch seconds */
        blockedAt?: number
        /** Only with withAuthToken */
        authToken?: string
      }
    }
  }
  /** Create an auth token for a user. Every call creates a new token, with or without force. Tokens do not expire unless the settings tokenLifetime or tokenIdleTimeout of the app say so. A user can have 100; a new token beyond that deletes the oldest. */
  'POST /users/{uid}/auth_tokens': {
    input: {
      uid: string
      force?: boolean
      /** Platform that it is used on, e.g. WEB */
      platform?: string
      /** Client that it is used from */
      userAgent?: string
      /** About the app that uses it; at most 5 KB of JSON */
      appInfo?: Record<string, unknown>
      /** Sent by front ends; not kept */
      deviceId?: string
    }
    answer: {
      data: {
        uid: string
        /** <uid>_<epoch seconds><30 hexadecimal characters> */
        authToken: string
        /** Epoch seconds */
        createdAt: number
        platform?: string
        userAgent?: string
        appInfo?: Record<string, unknown>
      }
    }
  }
  /** Block users for a user. At most 100 at once. While one of two users blocks the other, neither can send the other one-to-one messages. */
  'POST /users/{uid}/blockedusers': {
    input: {
      uid: string
      blockedUids: string[]
    }
    answer: {
      data: Record<string, {
        success: boolean
        message?: string
        error?: Record<string, unknown>
      }>
    }
  }
  /** Mark the messages from a user as delivered. Marks what uid sent to the acting user, up to messageId, or all of it. An earlier mark is never moved back. Takes the same time for any number of messages. */
  'POST /users/{uid}/conversation/delivered': {
    input: {
      uid: string
      /** Message id, as an integer or a decimal string */
      messageId?: number | string
    }
    answer: {
      data: {
        success: boolean
        Message: string
      }
    }
  }
  /** Pin the conversation with a user, for the acting user. Pinned conversations stand first in the list of the acting user. Pinning a pinned one changes nothing. */
  'POST /users/{uid}/conversation/pin': {
    input: {
      uid: string
    }
    answer: {
      data: {
        conversationId: string
        conversationType: 'user' | 'group'
        pinnedBy?: string
        pinnedAt?: number
      }
    }
  }
  /** Mark the messages from a user as read. Marks all messages up to this one; without messageId all that there are. Marks never move back, and what is read also counts as delivered. */
  'POST /users/{uid}/conversation/read': {
    input: {
      uid: string
      /** Message id, as an integer or a decimal string */
      messageId?: number | string
    }
    answer: {
      data: {
        success: boolean
        Message: string
      }
    }
  }
  /** Release the data that a user has asked for. It is put together behind the service. One that is released already stays as it is; one that failed is begun anew. */
  'POST /users/{uid}/export': {
    input: {
      uid: string
    }
    answer: {
      data: {
        uid: string
        status: 'asked' | 'making' | 'ready' | 'failed'
        /** Epoch seconds */
        askedAt: number
        /** Epoch seconds: when the app released it, or at once */
        releasedAt?: number
        /** Epoch seconds: when it was put together */
        madeAt?: number
        /** Epoch seconds: until when it can be fetched, 7 days after it was put together; of one that failed, when it is removed */
        expiresAt?: number
        /** How many records it has */
        records?: number
      }
    }
  }
  /** Add friends of a user. Friendship is mutual. With addToConversations, each new friendship also gets a conversation. */
  'POST /users/{uid}/friends': {
    input: {
      uid: string
      /** At most 25, unless the app's settings say otherwise */
      accepted?: string[]
      addToConversations?: boolean
    }
    answer: {
      data: {
        accepted: Record<string, {
          success: boolean
          message?: string
          error?: Record<string, unknown>
        }>
      }
    }
  }
  /** Create a webhook (short path). An app can have 25 unless its settings say otherwise. The response contains the secret that deliveries are signed with; it is not shown again. */
  'POST /webhooks': {
    input: {
      id: string
      name: string
      /** An https URL with a public address */
      webhookURL: string
      useBasicAuth?: boolean
      username?: string
      password?: string
      enabled?: boolean
      /** Retry if the endpoint does not respond with 2xx in time. Default false */
      retryOnFailure?: boolean
      /** Trigger ids; replaces the whole list */
      triggers?: string[]
    }
    answer: {
      data: Webhook
    }
  }
  /** Resend deliveries of a webhook, by status and time. They are sent again soon, with the same webhook-ids, and retried like new ones. */
  'POST /webhooks/{webhookId}/deliveries/redeliver': {
    input: {
      webhookId: string
      status: 'pending' | 'delivered' | 'failed'
      trigger?: string
      /** Epoch seconds, as an integer or a decimal string */
      from?: number | string
      /** Epoch seconds, as an integer or a decimal string */
      to?: number | string
    }
    answer: {
      data: {
        /** Number of deliveries that will be sent again */
        count: number
      }
    }
  }
  /** Resend one delivery of a webhook. Whatever its status, it is sent again soon, with the same webhook-id, and retried like a new one. */
  'POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver': {
    input: {
      webhookId: string
      deliveryId: string
    }
    answer: {
      data: Delivery
    }
  }
  /** Create a new signing secret for a webhook. The old secret stays valid for a while; until then deliveries are signed with both. Secrets that were replaced before sign too, for as long as was said then. */
  'POST /webhooks/{webhookId}/secret': {
    input: {
      webhookId: string
      /** Seconds that the old secret is still used; default one day. 0 ends all old secrets */
      oldValidForSeconds?: number
    }
    answer: {
      data: {
        /** `whsec_...`; not shown again */
        secret: string
        /** Epoch seconds */
        oldSecretValidUntil: number
      }
    }
  }
  /** Send a test event to a webhook. Sends one sample event at once, signed like any delivery, even if the webhook is disabled, and returns the result. The event is message_sent (in the legacy envelope after_message) with made-up content. It is not retried. */
  'POST /webhooks/{webhookId}/test': {
    input: {
      webhookId: string
    }
    answer: {
      data: Delivery
    }
  }
  /** Subscribe a webhook to triggers (short path). Added to those that it has; the response has an outcome for each. An unknown one does not stop the others. */
  'POST /webhooks/{webhookId}/triggers': {
    input: {
      webhookId: string
      triggerIds: string[]
    }
    answer: {
      data: Record<string, {
        success: boolean
        message?: string
        error?: Record<string, unknown>
      }>
    }
  }
  /** Update the name or scope of another API key. What is left out stays unchanged. The key of the request itself cannot be changed. */
  'PUT /apikeys/{apiKey}': {
    input: {
      /** The key itself */
      apiKey: string
      name?: string
      scope?: 'fullAccess' | 'authOnly'
    }
    answer: {
      data: {
        apiKey: string
        name: string
        scope: 'fullAccess' | 'authOnly'
        createdAt: number
      }
    }
  }
  /** Update a webhook. Enabling a webhook sends the deliveries that are waiting and clears disabledReason. `triggers` replaces the whole list. */
  'PUT /apps/{appId}/webhooks/{webhookId}': {
    input: {
      /** The app that the API key belongs to */
      appId: string
      webhookId: string
      name?: string
      /** An https URL with a public address */
      webhookURL?: string
      useBasicAuth?: boolean
      username?: string
      password?: string
      enabled?: boolean
      /** Retry if the endpoint does not respond with 2xx in time. Default false */
      retryOnFailure?: boolean
      /** Trigger ids; replaces the whole list */
      triggers?: string[]
    }
    answer: {
      data: Webhook
    }
  }
  /** Set the conversations pinned for everyone. Replaces the whole list; an empty one unpins all. An app can pin 5 unless its settings say otherwise. */
  'PUT /conversations/pinned': {
    input: {
      pinnedConversations: {
        uid?: string
        guid?: string
      }[]
    }
    answer: {
      data: ({
        conversationId: string
        conversationType: 'user' | 'group'
        pinnedBy?: string
        pinnedAt?: number
      })[]
    }
  }
  /** Update a group. What is left out stays unchanged, unset removes. With an acting user, only for admins unless the permissions of the group say otherwise; the type can be changed only to one in createGroup.allowedGroupTypes of their role. */
  'PUT /groups/{guid}': {
    input: {
      guid: string
      name?: string
      type?: 'public' | 'password' | 'private'
      password?: string
      icon?: string
      description?: string
      metadata?: Record<string, unknown>
      /** uid of the new owner; ignored with an acting user */
      owner?: string
      tags?: string[]
      unset?: ('icon' | 'description' | 'metadata')[]
    }
    answer: {
      data: Group
    }
  }
  /** Set the tags of the conversation with a group. Tags are those of the acting user alone, and replace the ones before; an empty list removes them. */
  'PUT /groups/{guid}/conversation': {
    input: {
      guid: string
      tags?: string[]
    }
    answer: {
      data: Conversation
    }
  }
  /** Add members and ban users. Like POST with lists, but lists may be empty, and the response always has all four keys. Used by front ends. */
  'PUT /groups/{guid}/members': {
    input: {
      guid: string
      /** uids */
      admins?: string[]
      /** uids */
      moderators?: string[]
      /** uids */
      participants?: string[]
      /** uids */
      usersToBan?: string[]
    }
    answer: {
      data: {
        admins?: Record<string, AddOutcome>
        moderators?: Record<string, AddOutcome>
        participants?: Record<string, AddOutcome>
        usersToBan?: Record<string, UidOutcome>
      }
    }
  }
  /** Change the scope of a member. Without a scope the member becomes a participant. Nobody gives a scope above their own, or changes a member whose scope is above theirs; the owner's cannot be changed. */
  'PUT /groups/{guid}/members/{uid}': {
    input: {
      guid: string
      uid: string
      scope?: 'admin' | 'moderator' | 'participant'
    }
    answer: {
      data: {
        guid: string
        uid: string
        scope: 'admin' | 'moderator' | 'participant'
        joinedAt: number
      }
    }
  }
  /** Set how long the messages of a group are kept. Instead of the settings messageRetentionDays and messageRetention of the app. delete: older messages are removed for good; strip: they stay as deleted ones, without their content. */
  'PUT /groups/{guid}/retention': {
    input: {
      guid: string
      /** Days that messages are kept; 0: for ever */
      days: number
      mode?: 'delete' | 'strip'
    }
    answer: {
      data: {
        /** Days that messages are kept; 0: for ever */
        days: number
        mode: 'delete' | 'strip'
        /** The group has its own; else that of the app holds */
        isOwn: boolean
      }
    }
  }
  /** Set permissions of a scope in a group. Permissions that are not in the request stay unchanged. An unknown key, or a value that the key does not take, is not stored and returned with success: false; the others are stored. data has one entry for each key of the request, and under permissions all that are set afterwards. */
  'PUT /groups/{guid}/scopes/{scope}/permissions': {
    input: {
      guid: string
      /** admin, moderator or participant */
      scope: string
      /** Value by permission key */
      permissions: Record<string, unknown>
    }
    answer: {
      data: {
        permissions: Record<string, string | string[]>
      }
    }
  }
  /** Log in, or update the acting user's profile. Returns the user with what a front end needs after login: auth token, token for the socket, settings. Updates the profile fields in the body. The role cannot be changed. */
  'PUT /me': {
    input: {
      name?: string
      avatar?: string
      link?: string
      /** Status text; an empty string clears it */
      statusMessage?: string
      /** At most 5 KB of JSON. Only the user and the app can see the property @private. */
      metadata?: Record<string, unknown>
      tags?: string[]
      unset?: ('avatar' | 'link' | 'metadata')[]
      platform?: string
      deviceId?: string
      /** About the app that uses it; at most 5 KB of JSON */
      appInfo?: Record<string, unknown>
    }
    answer: {
      data: {
        uid: string
        name: string
        avatar?: string
        link?: string
        role?: string
        status?: 'available' | 'offline'
        statusMessage?: string
        metadata?: Record<string, unknown>
        tags?: string[]
        /** Epoch seconds */
        createdAt?: number
        /** Epoch seconds */
        updatedAt?: number
        /** Epoch seconds */
        lastActiveAt?: number
        /** Epoch seconds */
        deactivatedAt?: number
        /** Conversation between this user and the viewer */
        conversationId?: string
        blockedByMe?: boolean
        /** Epoch seconds */
        blockedByMeAt?: number
        hasBlockedMe?: boolean
        /** Epoch seconds */
        blockedAt?: number
        /** The auth token of this request */
        authToken?: string
        /** The token for the auth frame of the socket */
        jwt?: string
        wsChannel?: {
          identity: string
          secret: string
          service: string
        }
        settings?: ClientSettings
      }
    }
  }
  /** Edit a message. Only the sender of a message and the app can edit it. Properties sent in data replace those of the message; tags replace its tags. What the message then says must be something its sender may send. Returns the action message of the edit; the edited message is in its data.entities.on. */
  'PUT /messages/{messageId}': {
    input: {
      /** Message id */
      messageId: string
      data?: Record<string, unknown>
      tags?: string[]
    }
    answer: {
      data: Message
    }
  }
  /** Set how the engines of custom-api lists are asked. What is left out is set to its default. Addresses and passwords are set with the lists. */
  'PUT /moderation/engines/custom-api': {
    input: {
      /** What a failure means. `approve-message` (the default): the condition is not met, and the others are looked at. `drop-message`: what the rule does when it is met is done */
      onError?: 'approve-message' | 'drop-message'
      /** Messages of the conversation that are sent along. Default 0 */
      contextMessages?: number
    }
    answer: {
      data: CustomApiEngine
    }
  }
  /** Set the engine that finds labels of pictures and videos. What is left out is set to its default, but for the key. Rules with labels are refused while none is set. */
  'PUT /moderation/engines/labels': {
    input: {
      /** The https URL that is asked for the labels of pictures and videos */
      url: string
      /** Sent as `authorization: Bearer ...`, and never answered. Left out, the present one stays, as long as the URL names the same host */
      apiKey?: string
      /** What a failure means. `approve-message` (the default): the condition is not met, and the others are looked at. `drop-message`: what the rule does when it is met is done */
      onError?: 'approve-message' | 'drop-message'
    }
    answer: {
      data: LabelsEngine
    }
  }
  /** Set the language model that answers prompts. What is left out is set to its default, but for the key. */
  'PUT /moderation/engines/llm': {
    input: {
      /** Base URL of an API that is compatible with that of OpenAI, such as `https://api.openai.com/v1`: `/chat/completions` is added */
      url: string
      /** The model that is asked */
      model: string
      /** Sent as `authorization: Bearer ...`, and never answered. Left out, the present one stays, as long as the URL names the same host */
      apiKey?: string
      /** What a failure means. `approve-message` (the default): the condition is not met, and the others are looked at. `drop-message`: what the rule does when it is met is done */
      onError?: 'approve-message' | 'drop-message'
      /** Messages of the conversation that are sent along. Default 0 */
      contextMessages?: number
    }
    answer: {
      data: LlmEngine
    }
  }
  /** Update a list of moderation rules. Fields that are left out stay unchanged; terms are replaced as a whole. Each update makes a revision of its own, which holds for all rules that use the list, within a second in all processes. The category of a list in use cannot be changed. */
  'PUT /moderation/keywords/{keywordId}': {
    input: {
      keywordId: string
      name?: string
      description?: string
      /** What the list holds. Beyond the public contract: `custom-api`, the address of an engine, and `prompt`, what a language model is asked to look for */
      category?: 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt'
      /** a text or a list of texts. Words, separated by commas; patterns, one a line: a comma is part of the pattern */
      searchTerms?: string | string[]
      /** a text or a list of texts. Sentences, one a line */
      disallowedSentences?: string | string[]
      /** a text, which is one prompt, or a list of prompts */
      prompts?: string | string[]
      /** A CSV file in UTF-8, instead of the terms; in JSON its content */
      file?: string
      url?: string
      basicAuthEnabled?: boolean
      username?: string
      password?: string
    }
    answer: {
      data: KeywordList
    }
  }
  /** Edit a message, and have it judged anew. As an edit of its sender; properties of data replace those of the message. Returns the message, with the status that was worked out. An edit that a rule blocks is refused, and the message stays as it was. */
  'PUT /moderation/messages/{messageId}': {
    input: {
      /** Message id */
      messageId: string
      data?: Record<string, unknown>
    }
    answer: {
      data: Message
    }
  }
  /** Rename a reason for flagging messages. Also predefined ones. Beyond the public contract the description can be changed, too. */
  'PUT /moderation/reasons/{id}': {
    input: {
      id: string
      name: string
      description?: string
    }
    answer: {
      data: Reason
    }
  }
  /** Update a moderation rule. Fields that are left out stay unchanged; lists are replaced as a whole. Each update makes a revision of its own, which holds for messages that are sent or edited from then on, within a second in all processes. */
  'PUT /moderation/rules/{ruleId}': {
    input: {
      ruleId: string
      name?: string
      description?: string
      /** true: mode `on`, false: mode `off` */
      enabled?: boolean
      /** Beyond the public contract. `shadow`: decides and logs, and does nothing. `enabled` is true where the mode is `on` */
      mode?: 'off' | 'shadow' | 'on'
      /** To which messages the rule applies: those that meet all filters. Default: all */
      filters?: RuleFilter[]
      /** What the rule looks for: it is met where one of them is */
      conditions?: ({
        entity?: 'message'
        operand: 'text' | 'image' | 'video' | 'custom'
        /** Conditions on pictures and videos are of the category `word`. Beyond the public contract: `links`, `length` (characters), `rate` (messages of the sender in a minute), `repetition` (times that they sent the same text in ten minutes) */
        category: 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt' | 'links' | 'length' | 'rate' | 'repetition'
        operator?: 'contains' | 'equals'
        /** `value` holds ids of lists */
        isKeywordsReferencePresent?: boolean
        /** The same */
        isKeywordReferencePresent?: boolean
        /** The same */
        isListReferencePresent?: boolean
        /** The condition is on a label of a picture or video, as the engine of the app gives them */
        isMediaPresent?: boolean
        /** Words, patterns or ids of lists; for labels `<label>_greaterThan_<percent>`, for lists that need a threshold `<list id>_greaterThan_<percent>`, for links, length, rate and repetition `greaterThan_<number>` */
        value: string | string[]
        /** Readable texts of the formulas in `value` */
        message?: string | string[]
      })[]
      /** Beyond the public contract: texts in which the rule finds nothing */
      exceptions?: string[]
      /** What happens when it is met. `blockMessage`, `dropMessage`: only its sender has the message. `flagMessage`: it is sent, and people are asked to look at it. `banUser`, `kickUser`: the sender, in groups. `blockUser`: the receiver blocks the sender, one-to-one. Owners and admins of groups stay. Default: `blockMessage` */
      action?: ('blockMessage' | 'dropMessage' | 'flagMessage' | 'banUser' | 'kickUser' | 'blockUser')[]
    }
    answer: {
      data: ModerationRule
    }
  }
  /** Label a hit of a dry run as right or wrong. The result of the dry run counts the labels. */
  'PUT /moderation/rules/{ruleId}/dry-run/examples/{messageId}': {
    input: {
      ruleId: string
      messageId: string
      /** `right`, `wrong`, or null for no label */
      label: 'right' | 'wrong' | null
    }
    answer: {
      data: {
        messageId: string
        label?: 'right' | 'wrong'
      }
    }
  }
  /** Update the app's own e-mail provider. What is left out stays unchanged. */
  'PUT /notifications/email/v1/providers/custom': {
    input: {
      /** Whether it is used */
      isEnabled?: boolean
      /** An https URL with a public address */
      webhookURL?: string
      /** Whether user name and password are sent */
      useBasicAuth?: boolean
      /** Required, but may be empty without useBasicAuth */
      basicAuthUsername?: string
      /** Answered shortened. Sent back like that, it stays as it is */
      basicAuthPassword?: string
      /** Whether it is only called for users whose e-mail address is stored; false: for all, without an address */
      useStoredEmailID?: boolean
    }
    answer: {
      data: {
        /** Whether it is used */
        isEnabled?: boolean
        /** An https URL with a public address */
        webhookURL?: string
        /** Whether user name and password are sent */
        useBasicAuth?: boolean
        /** Required, but may be empty without useBasicAuth */
        basicAuthUsername?: string
        /** Answered shortened. Sent back like that, it stays as it is */
        basicAuthPassword?: string
        /** Whether it is only called for users whose e-mail address is stored; false: for all, without an address */
        useStoredEmailID?: boolean
      }
    }
  }
  /** Update the SendGrid credentials. What is left out stays unchanged. A secret that is sent back shortened, as it was answered, stays as it is. */
  'PUT /notifications/email/v1/providers/sendgrid': {
    input: {
      /** In responses it is shortened. Sent back like that, it stays as it is */
      sendGridApiKey?: string
      sendGridTemplateID?: string
      sendGridUnsubscribeGroupID?: string
      senderName?: string
      /** An e-mail address */
      senderEmail?: string
      /** Whether replies become messages. false by default */
      allowEmailReplies?: boolean
      /** an e-mail address, or null. Replies go there, each with a token added: to `reply+<token>@example.com` instead of `reply@example.com`. Null or absent: senderEmail */
      senderEmailForReplies?: string | null
      /** Whether it is used. Default true */
      isEnabled?: boolean
    }
    answer: {
      data: {
        /** Shortened */
        sendGridApiKey?: string
        sendGridTemplateID?: string
        sendGridUnsubscribeGroupID?: string
        senderName?: string
        /** An e-mail address */
        senderEmail?: string
        /** Whether replies become messages. false by default */
        allowEmailReplies?: boolean
        /** An e-mail address */
        senderEmailForReplies?: string
        /** Whether it is used. Default true */
        isEnabled?: boolean
        /** The address for SendGrid Inbound Parse, which is secret. Only in responses to POST and PUT */
        repliesWebhook?: string
      }
    }
  }
  /** Send e-mails by the mail server of the deployment, or no longer. The operator has set it up with `SMTP_URL` and `MAIL_FROM`; an app that does not ask for it sends no e-mails by it. */
  'PUT /notifications/email/v1/providers/smtp': {
    input: {
      isEnabled: boolean
    }
    answer: {
      data: {
        /** Whether the deployment has a mail server */
        isAvailable: boolean
        /** Whether the app uses it */
        isEnabled: boolean
      }
    }
  }
  /** Mute conversations of yours. Until a time, or for good. Messages still come and count as unread; you are not notified of them. Muting a muted one replaces its time. */
  'PUT /notifications/push/v1/preferences/mute': {
    input: {
      conversations: ({
        /** uid or guid */
        id: string
        type: 'oneOnOne' | 'group'
        /** Epoch milliseconds in the future; without it, until it is unmuted */
        until?: number
      })[]
    }
    answer: Done
  }
  /** Update an APNs provider. What is left out stays unchanged. */
  'PUT /notifications/push/v1/providers/apns': {
    input: {
      keyId?: string
      teamId?: string
      bundleId?: string
      p8KeyFilename?: string
      p8Key?: string
      includeContentAvailable?: boolean
      includeMutableContent?: boolean
      /** false: the sandbox. Default false */
      productionMode?: boolean
      providerId: string
    }
    answer: Done
  }
  /** Make an APNs provider the default. Devices that are registered without a provider get pushes by the default one. */
  'PUT /notifications/push/v1/providers/apns/default/{providerId}': {
    input: {
      providerId: string
    }
    answer: Done
  }
  /** Update the app's own push provider. What is left out stays unchanged. */
  'PUT /notifications/push/v1/providers/custom': {
    input: {
      /** Whether it is used */
      isEnabled?: boolean
      /** An https URL with a public address */
      webhookURL?: string
      /** Whether user name and password are sent */
      useBasicAuth?: boolean
      /** Required, but may be empty without useBasicAuth */
      basicAuthUsername?: string
      /** Answered shortened. Sent back like that, it stays as it is */
      basicAuthPassword?: string
      /** How many notifications go in one request, in the envelope of batches. 1, or left out: a request for each */
      batchSize?: number
    }
    answer: {
      data: {
        pushProviders: {
          /** Whether it is used */
          isEnabled: boolean
          /** An https URL with a public address */
          webhookURL: string
          /** Whether user name and password are sent */
          useBasicAuth: boolean
          /** Required, but may be empty without useBasicAuth */
          basicAuthUsername: string
          /** Answered shortened. Sent back like that, it stays as it is */
          basicAuthPassword: string
          /** How many notifications go in one request, in the envelope of batches. 1, or left out: a request for each */
          batchSize?: number
        }[]
      }
    }
  }
  /** Update an FCM provider. What is left out stays unchanged. */
  'PUT /notifications/push/v1/providers/fcm': {
    input: {
      providerId: string
      serviceAccountFilename?: string
      serviceAccountCreds?: {
        project_id?: string
        client_email?: string
        private_key?: string
        private_key_id?: string
      }
      /** Whether a push has the key `notification`, which the system shows by itself. Default `true` for ios, else `false`. Without it, iPhones wake the app in the background, a few times an hour at most */
      notificationInPayload?: {
        ios?: {
          chat?: boolean
          call?: boolean
        }
        android?: {
          chat?: boolean
          call?: boolean
        }
        web?: {
          chat?: boolean
          call?: boolean
        }
      }
    }
    answer: Done
  }
  /** Make an FCM provider the default. Devices that are registered without a provider get pushes by the default one. */
  'PUT /notifications/push/v1/providers/fcm/default/{providerId}': {
    input: {
      providerId: string
    }
    answer: Done
  }
  /** Turn Web Push on or off. It is on unless it is turned off. Subscriptions stay registered while it is off. */
  'PUT /notifications/push/v1/providers/web_push': {
    input: {
      isEnabled: boolean
    }
    answer: {
      data: {
        pushProviders: WebPushProvider[]
      }
    }
  }
  /** Update the app's own SMS provider. What is left out stays unchanged. */
  'PUT /notifications/sms/v1/providers/custom': {
    input: {
      /** Whether it is used */
      isEnabled?: boolean
      /** An https URL with a public address */
      webhookURL?: string
      /** Whether user name and password are sent */
      useBasicAuth?: boolean
      /** Required, but may be empty without useBasicAuth */
      basicAuthUsername?: string
      /** Answered shortened. Sent back like that, it stays as it is */
      basicAuthPassword?: string
      /** Whether it is only called for users whose phone number is stored; false (the default when it is set up): for all, without a number */
      useStoredPhNo?: boolean
    }
    answer: {
      data: {
        /** Whether it is used */
        isEnabled?: boolean
        /** An https URL with a public address */
        webhookURL?: string
        /** Whether user name and password are sent */
        useBasicAuth?: boolean
        /** Required, but may be empty without useBasicAuth */
        basicAuthUsername?: string
        /** Answered shortened. Sent back like that, it stays as it is */
        basicAuthPassword?: string
        /** Whether it is only called for users whose phone number is stored; false (the default when it is set up): for all, without a number */
        useStoredPhNo?: boolean
      }
    }
  }
  /** Update the Twilio credentials. What is left out stays unchanged. A secret that is sent back shortened, as it was answered, stays as it is. */
  'PUT /notifications/sms/v1/providers/twilio': {
    input: {
      twilioAccountSID?: string
      /** In responses it is shortened. Sent back like that, it stays as it is */
      twilioAuthToken?: string
      /** A phone number with `+`, a short code, the name of a sender, or the SID of a messaging service */
      twilioSenderPhoneNumber?: string
      /** Whether it is used. Default true */
      isEnabled?: boolean
    }
    answer: {
      data: {
        twilioAccountSID?: string
        /** Shortened */
        twilioAuthToken?: string
        /** A phone number with `+`, a short code, the name of a sender, or the SID of a messaging service */
        twilioSenderPhoneNumber?: string
        /** Whether it is used. Default true */
        isEnabled?: boolean
      }
    }
  }
  /** Mute conversations for a user. Until a time, or for good. Messages still come and count as unread; nobody is notified of them. Muting a muted one replaces its time. */
  'PUT /notifications/v1/preferences/mute?uid': {
    input: {
      /** The user */
      uid: string
      conversations: ({
        /** uid or guid */
        id: string
        type: 'oneOnOne' | 'group'
        /** Epoch milliseconds in the future; without it, until it is unmuted */
        until?: number
      })[]
    }
    answer: Done
  }
  /** Put a conversation on hold. Retention leaves all of it, until the hold is lifted. */
  'PUT /retention/conversations/{conversationId}/hold': {
    input: {
      conversationId: string
      /** Why; for the app alone */
      note?: string
    }
    answer: {
      data: {
        uid?: string
        conversationId?: string
        note?: string
        /** Epoch seconds */
        heldAt: number
      }
    }
  }
  /** Put a user on hold. Retention leaves what they wrote, and their one-to-one conversations, until the hold is lifted. Deletions that somebody asks for are not held up. */
  'PUT /retention/users/{uid}/hold': {
    input: {
      uid: string
      /** Why; for the app alone */
      note?: string
    }
    answer: {
      data: {
        uid?: string
        conversationId?: string
        note?: string
        /** Epoch seconds */
        heldAt: number
      }
    }
  }
  /** Update a role. Fields and settings that are left out stay unchanged. A field that is both set and named in unset is cleared. */
  'PUT /roles/{role}': {
    input: {
      role: string
      name?: string
      description?: string
      metadata?: Record<string, unknown>
      settings?: {
        listUsers?: 'all' | 'friendsOnly'
        sendMessagesTo?: 'all' | 'friendsOnly'
      }
      unset?: ('settings' | 'description' | 'metadata')[]
    }
    answer: {
      data: {
        role: string
        name: string
        description?: string
        metadata?: Record<string, unknown>
        settings?: {
          listUsers?: 'all' | 'friendsOnly'
          sendMessagesTo?: 'all' | 'friendsOnly'
        }
        /** Epoch seconds */
        createdAt: number
        /** Epoch seconds; only after an update */
        updatedAt?: number
      }
    }
  }
  /** Set permissions of a role. Permissions that are not in the request stay unchanged. An unknown key, or a value that the key does not take, is not stored and returned with success: false; the others are stored. data has one entry for each key of the request, and under permissions all that are set afterwards. Permissions apply to the users with the role from their next request on, never to the app itself. */
  'PUT /roles/{role}/permissions': {
    input: {
      role: string
      /** Value by permission key */
      permissions: Record<string, unknown>
    }
    answer: {
      data: {
        permissions: Record<string, string | string[]>
      }
    }
  }
  /** Reactivate users. At most 100 at once. Their memberships count again; they need new auth tokens. nonDeactivatedUids are the users who were not deactivated; unknown uids are ignored. */
  'PUT /users': {
    input: {
      uidsToActivate?: string[]
    }
    answer: {
      data: {
        reactivatedUids: string[]
        nonDeactivatedUids: string[]
      }
    }
  }
  /** Update a user. Fields that are left out stay unchanged; metadata and tags are replaced as a whole; fields named in unset are cleared. An authOnly key cannot change roles or the system user. */
  'PUT /users/{uid}': {
    input: {
      uid: string
      name?: string
      avatar?: string
      link?: string
      role?: string
      /** Status text; an empty string clears it */
      statusMessage?: string
      /** At most 5 KB of JSON. Only the user and the app can see the property @private. */
      metadata?: Record<string, unknown>
      tags?: string[]
      unset?: ('avatar' | 'link' | 'metadata')[]
    }
    answer: {
      data: User
    }
  }
  /** Update where an auth token is used. Platform, user agent and app info: shown in lists, without any effect on the login. */
  'PUT /users/{uid}/auth_tokens/{authToken}': {
    input: {
      uid: string
      /** The token itself */
      authToken: string
      /** Platform that it is used on, e.g. WEB */
      platform?: string
      /** Client that it is used from */
      userAgent?: string
      /** About the app that uses it; at most 5 KB of JSON */
      appInfo?: Record<string, unknown>
    }
    answer: {
      data: {
        uid: string
        /** <uid>_<epoch seconds><30 hexadecimal characters> */
        authToken: string
        /** Epoch seconds */
        createdAt: number
        platform?: string
        userAgent?: string
        appInfo?: Record<string, unknown>
      }
    }
  }
  /** Set the tags of the conversation with a user. Tags are those of the acting user alone, and replace the ones before; an empty list removes them. */
  'PUT /users/{uid}/conversation': {
    input: {
      uid: string
      tags?: string[]
    }
    answer: {
      data: Conversation
    }
  }
  /** Update a webhook (short path). Enabling a webhook sends the deliveries that are waiting and clears disabledReason. `triggers` replaces the whole list. */
  'PUT /webhooks/{webhookId}': {
    input: {
      webhookId: string
      name?: string
      /** An https URL with a public address */
      webhookURL?: string
      useBasicAuth?: boolean
      username?: string
      password?: string
      enabled?: boolean
      /** Retry if the endpoint does not respond with 2xx in time. Default false */
      retryOnFailure?: boolean
      /** Trigger ids; replaces the whole list */
      triggers?: string[]
    }
    answer: {
      data: Webhook
    }
  }
}

/** Every operation of the admin API, besides those of the contract that it has for each app. */
export interface AdminCalls {
  /** Delete an app, with everything in it, after seven days. Until `deletesAt` it is paused, and the deletion can be cancelled. Then it is removed in small steps: users, groups, messages, files, settings, keys, its audit log. That it was removed stays in the audit log of the deployment. */
  'DELETE /apps/{appId}': {
    input: {
      appId: string
      /** The ID of the app, once more */
      name: string
    }
    answer: {
      data: {
        appId: string
        region: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Whether it is the app that `PARLEY_APP_ID` names; that one cannot be deleted */
        isDefault: boolean
        /** Since when it is paused, epoch seconds */
        pausedAt?: number
        /** From when on it is removed, with everything in it, epoch seconds */
        deletesAt?: number
        /** Since when it is being removed, epoch seconds */
        removingAt?: number
      }
    }
  }
  /** Log a user out of one device. The auth token opens nothing any more, its sockets are closed, and nothing is pushed to its devices. `DELETE /apps/{appId}/users/{uid}/auth_tokens` logs them out everywhere. */
  'DELETE /apps/{appId}/users/{uid}/sessions/{id}': {
    input: {
      appId: string
      uid: string
      id: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Stop the doctor; what it found stays. */
  'DELETE /doctor': {
    input: object
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Withdraw an invitation. */
  'DELETE /invitations/{id}': {
    input: {
      id: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Unlink your account from OpenID Connect. For accounts with a password. Sessions stay open. */
  'DELETE /link': {
    input: {
      password: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Delete an operator. */
  'DELETE /operators/{id}': {
    input: {
      id: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Sign out. */
  'DELETE /session': {
    input: object
    answer: {
      data: {
        success: true
      }
    }
  }
  /** End one of your sessions. */
  'DELETE /sessions/{id}': {
    input: {
      id: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Delete one of your personal tokens. */
  'DELETE /tokens/{id}': {
    input: {
      id: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Stop using the authenticator app. */
  'DELETE /totp': {
    input: {
      password: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** List the apps that you can access, by ID. */
  'GET /apps': {
    input: {
      /** A part of the ID */
      searchKey?: string
      page?: number
      perPage?: number
    }
    answer: {
      data: {
        appId: string
        region: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Whether it is the app that `PARLEY_APP_ID` names; that one cannot be deleted */
        isDefault: boolean
        /** Since when it is paused, epoch seconds */
        pausedAt?: number
        /** From when on it is removed, with everything in it, epoch seconds */
        deletesAt?: number
        /** Since when it is being removed, epoch seconds */
        removingAt?: number
      }[]
      meta: PageMeta
    }
  }
  /** Get an app. */
  'GET /apps/{appId}': {
    input: {
      appId: string
    }
    answer: {
      data: {
        appId: string
        region: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Whether it is the app that `PARLEY_APP_ID` names; that one cannot be deleted */
        isDefault: boolean
        /** Since when it is paused, epoch seconds */
        pausedAt?: number
        /** From when on it is removed, with everything in it, epoch seconds */
        deletesAt?: number
        /** Since when it is being removed, epoch seconds */
        removingAt?: number
      }
    }
  }
  /** Wait until something happens in the app. Answers as soon as something happens, without saying what, or when the time is over. A page that shows a list asks for it again then, instead of every few seconds. An operator with many such requests at once is answered early. */
  'GET /apps/{appId}/changes': {
    input: {
      appId: string
      /** For so many seconds */
      wait?: number
      /** Only what happens in this conversation */
      conversationId?: string
    }
    answer: {
      data: {
        /** `false`: nothing did; wait again */
        happened: boolean
      }
    }
  }
  /** Health of an app: its webhooks, notifications, files and moderation. */
  'GET /apps/{appId}/health': {
    input: {
      appId: string
    }
    answer: {
      data: {
        state: 'ok' | 'warning' | 'failing'
        /** When it was looked at, epoch seconds */
        at: number
        /** What is wrong comes first */
        checks: ({
          /** What was looked at, such as `database` or `webhooks` */
          check: string
          state: 'ok' | 'warning' | 'failing'
          /** What was found, in a sentence */
          says: string
          /** Since when it is so, where that is known, epoch seconds */
          since?: number
          /** What to do; absent where all is well */
          advice?: string
          /** The first 20 of those that fail */
          concerned?: {
            appId: string
            /** Id of the webhook, or channel and id of the provider */
            id: string
            says: string
            /** Since when, epoch seconds */
            since?: number
          }[]
        })[]
        messages: {
          /** Sent within the last minute; at most 100,000 are counted */
          lastMinute: number
        }
        webhooks: {
          enabled: number
          /** At most 10,000 are counted */
          pending: number
          /** Since when the first of them is due, epoch seconds */
          oldestAt?: number
        }
        notifications: {
          /** Providers in use */
          enabled: number
          /** At most 10,000 are counted */
          pending: number
          /** Since when the first of them is due, epoch seconds */
          oldestAt?: number
        }
        reviews: {
          /** Flagged messages that wait for a review; at most 10,000 are counted */
          flagged: number
          /** Messages held back that wait for one; at most 10,000 are counted */
          blocked: number
          /** Since when the first of them waits, epoch seconds */
          oldestAt?: number
        }
        storage: {
          /** Files of the app, bytes */
          bytes: number
          /** As much as its settings allow, bytes */
          mostBytes?: number
        }
      }
    }
  }
  /** The rate limits of an app, and how long its data is kept. As the deployment is configured (`RATE_LIMITS`, `EVENTS_RETENTION_DAYS`, `AUDIT_RETENTION_DAYS`), and as the app has set it (`notificationLogDays`). */
  'GET /apps/{appId}/limits': {
    input: {
      appId: string
    }
    answer: {
      data: {
        /** What is missing is not limited */
        rateLimits: {
          /** As `RATE_LIMITS` names it */
          name: string
          perMinute: number
          /** How many may come at once, after a while without any */
          burst: number
          /** Defaults do not count what is done with a fullAccess key */
          isDefault: boolean
        }[]
        keptDays: {
          events: number
          auditLog: number
          notificationLogs: number
        }
      }
    }
  }
  /** List what you may read at the moment. */
  'GET /apps/{appId}/readings': {
    input: {
      appId: string
    }
    answer: {
      data: {
        /** ID of a conversation, or `*` for the whole app */
        of: string
        reason: string
        /** Epoch seconds */
        openedAt: number
        /** Epoch seconds */
        until: number
      }[]
    }
  }
  /** List where a user is logged in, newest first, with the devices that are pushed to. One for each auth token that has not expired, without the token itself. */
  'GET /apps/{appId}/users/{uid}/sessions': {
    input: {
      appId: string
      uid: string
    }
    answer: {
      data: {
        id: string
        platform?: string
        /** The client, as it names itself */
        agent?: string
        /** When the auth token was made, epoch seconds */
        createdAt: number
        /** When it was last used, where the app has an idle timeout, epoch seconds */
        usedAt?: number
        /** Devices that pushes are sent to */
        devices: {
          platform: string
          /** `chat` or `voip` */
          type: string
          /** ID of the provider that pushes to it */
          provider: string
          /** When it was last registered, epoch seconds */
          updatedAt: number
        }[]
      }[]
    }
  }
  /** List what operators did to the deployment, newest entries first. Sign-ins, accounts, invitations, tokens, apps. What was done in an app is in the audit log of that app. For the next page, send `meta.next.before` as `before`. */
  'GET /audit-log': {
    input: {
      action?: 'app_created' | 'app_settings_updated' | 'app_paused' | 'app_resumed' | 'app_deleted' | 'app_undeleted' | 'app_removed' | 'notification_settings_updated' | 'apikey_created' | 'apikey_updated' | 'apikey_deleted' | 'token_created' | 'token_deleted' | 'user_created' | 'user_updated' | 'user_deleted' | 'group_retention_updated' | 'retention_hold_set' | 'retention_hold_lifted' | 'person_export_asked' | 'person_export_released' | 'person_export_made' | 'person_export_fetched' | 'user_banned' | 'user_unbanned' | 'group_deleted' | 'role_created' | 'role_updated' | 'role_deleted' | 'role_permissions_updated' | 'role_features_updated' | 'scope_permissions_updated' | 'data_imported' | 'webhook_created' | 'webhook_updated' | 'webhook_deleted' | 'provider_created' | 'provider_updated' | 'provider_deleted' | 'moderation_engine_updated' | 'moderation_engine_deleted' | 'moderation_rule_created' | 'moderation_rule_updated' | 'moderation_rule_deleted' | 'moderation_dry_run_started' | 'moderation_list_created' | 'moderation_list_updated' | 'moderation_list_deleted' | 'moderation_reason_created' | 'moderation_reason_updated' | 'moderation_reason_deleted' | 'message_reviewed' | 'moderation_acted' | 'operator_created' | 'operator_updated' | 'operator_deleted' | 'operator_invited' | 'operator_invitation_withdrawn' | 'operator_signed_in' | 'operator_signed_out' | 'operator_session_ended' | 'operator_password_changed' | 'operator_linked' | 'operator_unlinked' | 'operator_sign_in_refused' | 'operator_totp_enabled' | 'operator_totp_disabled' | 'operator_token_created' | 'operator_token_deleted' | 'operator_acted' | 'reading_opened' | 'conversation_read' | 'emulators_read' | 'doctor_started' | 'doctor_stopped' | 'master_key_changed'
      /** The first 8 digits of the digest of an API key, as in the log */
      key?: string
      /** The acting user */
      uid?: string
      /** ID of the operator */
      operator?: string
      targetType?: 'app' | 'apikey' | 'user' | 'group' | 'role' | 'webhook' | 'provider' | 'engine' | 'rule' | 'list' | 'reason' | 'message' | 'conversation' | 'operator' | 'session' | 'doctor' | 'master_key'
      /** ID of the target */
      target?: string
      /** Only entries from this time on */
      from?: number
      /** Only entries up to this time */
      to?: number
      limit?: number
      /** Only older entries */
      before?: string
    }
    answer: {
      data: AuditEntry[]
      meta: {
        current: {
          limit: number
          count: number
        }
        next?: {
          before: string
        }
      }
    }
  }
  /** How far the doctor is, and what it found. */
  'GET /doctor': {
    input: object
    answer: {
      data: {
        /** Absent before the first */
        run?: {
          id: string
          status: 'running' | 'done' | 'stopped' | 'failed'
          /** Checks that are over */
          checked: number
          /** Checks in all */
          checks: number
          /** The check under way */
          current?: string
          findings: ({
            check: string
            /** What is wrong, in a sentence */
            meaning: string
            count: number
            /** The first ten */
            examples: ({
              appId?: string
              /** What it was found at: ids, divided by `/` */
              subject: string
              stored: string | null
              expected: string | null
            })[]
          })[]
          error?: string
          /** Id of the operator */
          startedBy?: string
          /** When it was asked for, epoch seconds */
          startedAt: number
          /** When it ended, epoch seconds */
          finishedAt?: number
        }
      }
    }
  }
  /** What came to the emulators of providers, newest first. For development: `npm run emulate` stands in for providers and engines, and `EMULATORS_URL` names it. It has texts of all apps, so it is for operators of all apps who may read, and shows them for a reason, which is recorded once an hour in the audit log of operators. */
  'GET /emulators/journal': {
    input: {
      /** Why it is read; without one no lines are shown */
      reason?: string
    }
    answer: {
      data: {
        /** Whether `EMULATORS_URL` is set */
        isSet: boolean
        /** Why nothing can be shown */
        problem?: string
        /** The newest 500 */
        lines: {
          number: number
          /** Epoch seconds */
          at: number
          /** What came, to which emulator, and what it answered */
          text: string
        }[]
      }
    }
  }
  /** Health of the deployment, and what to do about what is wrong. The database, Redis, jobs, the event log, the disk and the clock as the process that answers sees them, and webhooks, notification providers, moderation engines and queues of all apps. It answers 503 while the database is unavailable. */
  'GET /health': {
    input: object
    answer: {
      data: {
        state: 'ok' | 'warning' | 'failing'
        /** When it was looked at, epoch seconds */
        at: number
        /** What is wrong comes first */
        checks: ({
          /** What was looked at, such as `database` or `webhooks` */
          check: string
          state: 'ok' | 'warning' | 'failing'
          /** What was found, in a sentence */
          says: string
          /** Since when it is so, where that is known, epoch seconds */
          since?: number
          /** What to do; absent where all is well */
          advice?: string
          /** The first 20 of those that fail */
          concerned?: {
            appId: string
            /** Id of the webhook, or channel and id of the provider */
            id: string
            says: string
            /** Since when, epoch seconds */
            since?: number
          }[]
        })[]
        version: string
        /** When the process that answers was started, epoch seconds */
        startedAt: number
        database: {
          version: string
          /** Size of the database, bytes */
          bytes: number
          /** How long it took to answer, in milliseconds */
          answersInMs: number
          connections: number
          /** How many it allows, those of other programs included */
          mostConnections: number
        }
        storage: {
          /** Files of all apps, bytes */
          bytes: number
          /** Free on the disk that files are written to, bytes */
          freeBytes: number
        }
        jobs: {
          /** At most 10,000 are counted */
          pending: number
          /** Since when the first of them is due, epoch seconds */
          oldestAt?: number
          /** Jobs that failed too often to be tried again */
          givenUp: number
        }
      }
    }
  }
  /** List the invitations that can be accepted, newest first. */
  'GET /invitations': {
    input: object
    answer: {
      data: ({
        id: string
        email: string
        role: 'owner' | 'developer' | 'moderator' | 'support'
        /** Ids of apps; `null`: all */
        apps: string[] | null
        /** Whether they may read what people wrote */
        mayRead: boolean
        /** ID of the operator */
        invitedBy?: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Until when it can be accepted, epoch seconds */
        expiresAt: number
      })[]
    }
  }
  /** List the operators. */
  'GET /operators': {
    input: object
    answer: {
      data: Operator[]
    }
  }
  /** Who is signed in, and what they may do. */
  'GET /session': {
    input: object
    answer: {
      data: Me
    }
  }
  /** List your sessions, newest first. */
  'GET /sessions': {
    input: object
    answer: {
      data: {
        id: string
        /** When they signed in, epoch seconds */
        createdAt: number
        /** When it was last used, to the minute, epoch seconds */
        usedAt: number
        /** When it ends at the latest, epoch seconds */
        expiresAt: number
        /** IP address that they signed in from */
        address?: string
        /** The browser, as it names itself */
        agent?: string
        isThis: boolean
      }[]
    }
  }
  /** Whether operators can sign in by OpenID Connect. */
  'GET /sign-in/provider': {
    input: object
    answer: {
      data: {
        /** The OpenID Connect provider that the account is linked with; absent: none */
        issuer?: string
        /** Host of the provider; absent: none is set up */
        name?: string
      }
    }
  }
  /** List your personal tokens, newest first. */
  'GET /tokens': {
    input: object
    answer: {
      data: ({
        id: string
        name: string
        rights: ('look' | 'read' | 'moderate' | 'rules' | 'manage' | 'configure' | 'keys' | 'apps' | 'health' | 'doctor' | 'operators')[]
        /** Ids of apps; `null`: all */
        apps: string[] | null
        /** When it was made, epoch seconds */
        createdAt: number
        /** Until when it is valid, epoch seconds */
        expiresAt: number
        /** When it was last used, to the minute, epoch seconds */
        usedAt?: number
      })[]
    }
  }
  /** Create an app, with a fullAccess key of its own. */
  'POST /apps': {
    input: {
      /** Kept in lower case */
      appId: string
      region?: 'us' | 'eu' | 'in'
    }
    answer: {
      data: {
        appId: string
        region: string
        /** When it was made, epoch seconds */
        createdAt: number
        apiKey: string
      }
    }
  }
  /** Check what an import would make of records, without storing anything. Each record is checked by the rules of the import, and what it names is looked up in the app. The answer has one entry for each record, in their order. */
  'POST /apps/{appId}/import-checks': {
    input: {
      appId: string
      kind: 'users' | 'groups' | 'members' | 'messages'
      records: unknown[]
    }
    answer: {
      data: ({
        state: 'good' | 'known' | 'refused'
        /** Why it would be refused */
        code?: string
        reason?: string
        /** What it is the record of, such as `users/alice` */
        name?: string
        /** Members of the record that an import does not know */
        ignored?: string[]
        /** Users and groups that it makes where they are missing, itself included */
        makes: string[]
        /** What it counts on, and the app does not have: a record before it must make it */
        missing: {
          /** `users/<uid>`, `groups/<guid>`, `roles/<role>` or `messages/<muid>` */
          name: string
          /** Where it names it */
          path: string
        }[]
      })[]
    }
  }
  /** Pause an app. It answers every request with 503 `ERR_MISSION_FAILED`, its sockets close with 4503, and webhooks, notifications and moderation wait. Operators can still look at it and change its settings. */
  'POST /apps/{appId}/pause': {
    input: {
      appId: string
    }
    answer: {
      data: {
        appId: string
        region: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Whether it is the app that `PARLEY_APP_ID` names; that one cannot be deleted */
        isDefault: boolean
        /** Since when it is paused, epoch seconds */
        pausedAt?: number
        /** From when on it is removed, with everything in it, epoch seconds */
        deletesAt?: number
        /** Since when it is being removed, epoch seconds */
        removingAt?: number
      }
    }
  }
  /** Begin to read what people wrote, for an hour. Until then texts are left out of all answers. The reason is recorded in the audit log of the app. Opened again, it lasts an hour from then on. */
  'POST /apps/{appId}/readings': {
    input: {
      appId: string
      /** ID of a conversation, or `*` for the whole app */
      of: string
      reason: string
    }
    answer: {
      data: {
        /** ID of a conversation, or `*` for the whole app */
        of: string
        reason: string
        /** Epoch seconds */
        openedAt: number
        /** Epoch seconds */
        until: number
      }
    }
  }
  /** Resume a paused app. */
  'POST /apps/{appId}/resume': {
    input: {
      appId: string
    }
    answer: {
      data: {
        appId: string
        region: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Whether it is the app that `PARLEY_APP_ID` names; that one cannot be deleted */
        isDefault: boolean
        /** Since when it is paused, epoch seconds */
        pausedAt?: number
        /** From when on it is removed, with everything in it, epoch seconds */
        deletesAt?: number
        /** Since when it is being removed, epoch seconds */
        removingAt?: number
      }
    }
  }
  /** Cancel the deletion of an app. The app stays paused until it is resumed. Once the removal has begun, it cannot be cancelled. */
  'POST /apps/{appId}/undelete': {
    input: {
      appId: string
    }
    answer: {
      data: {
        appId: string
        region: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Whether it is the app that `PARLEY_APP_ID` names; that one cannot be deleted */
        isDefault: boolean
        /** Since when it is paused, epoch seconds */
        pausedAt?: number
        /** From when on it is removed, with everything in it, epoch seconds */
        deletesAt?: number
        /** Since when it is being removed, epoch seconds */
        removingAt?: number
      }
    }
  }
  /** Recompute every derived figure in the background, and compare. What `parley doctor` does, as a job: it only reads, one statement at a time, and goes on after a restart of the service. Findings of the run before are forgotten. */
  'POST /doctor': {
    input: object
    answer: {
      data: {
        id: string
        status: 'running' | 'done' | 'stopped' | 'failed'
        /** Checks that are over */
        checked: number
        /** Checks in all */
        checks: number
        /** The check under way */
        current?: string
        findings: ({
          check: string
          /** What is wrong, in a sentence */
          meaning: string
          count: number
          /** The first ten */
          examples: ({
            appId?: string
            /** What it was found at: ids, divided by `/` */
            subject: string
            stored: string | null
            expected: string | null
          })[]
        })[]
        error?: string
        /** Id of the operator */
        startedBy?: string
        /** When it was asked for, epoch seconds */
        startedAt: number
        /** When it ended, epoch seconds */
        finishedAt?: number
      }
    }
  }
  /** Invite an operator. The answer has the token of a one-time address, `/console#invitation=<token>`, which is valid for 7 days and shown this once. Another invitation of the same address takes the place of the one before. */
  'POST /invitations': {
    input: {
      email: string
      role: 'owner' | 'developer' | 'moderator' | 'support'
      /** Ids of apps; `null` for all apps, those to come included */
      apps?: string[] | null
      /** Default: as the role says */
      mayRead?: boolean
    }
    answer: {
      data: {
        id: string
        email: string
        role: 'owner' | 'developer' | 'moderator' | 'support'
        /** Ids of apps; `null`: all */
        apps: string[] | null
        /** Whether they may read what people wrote */
        mayRead: boolean
        /** ID of the operator */
        invitedBy?: string
        /** When it was made, epoch seconds */
        createdAt: number
        /** Until when it can be accepted, epoch seconds */
        expiresAt: number
        token: string
      }
    }
  }
  /** Create the account that an invitation is for. The answer sets the cookie of a session. */
  'POST /invitations/accept': {
    input: {
      /** The part of the address after `=` */
      token: string
      name: string
      /** At least 12 characters */
      password: string
    }
    answer: {
      data: Me
    }
  }
  /** Begin to link your account with OpenID Connect. As `POST /sign-in/provider`. `POST /link/confirm` finishes it. */
  'POST /link': {
    input: {
      password: string
    }
    answer: {
      data: {
        /** The page of the provider to go to */
        address: string
      }
    }
  }
  /** Finish linking your account with OpenID Connect. From then on you can sign in with it, too. Your e-mail address there need not be that of the account. */
  'POST /link/confirm': {
    input: {
      state: string
      code: string
      iss?: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Sign in. The answer sets the cookie of a session, which ends 12 hours after it was last used, and after 7 days. Whoever guesses must wait longer and longer. */
  'POST /session': {
    input: {
      email: string
      password: string
      /** Six digits of the authenticator app */
      code?: string
    }
    answer: {
      data: Me
    }
  }
  /** Finish signing in by OpenID Connect. The answer sets the cookie of a session. Whoever comes for the first time needs an invitation of the e-mail address that the provider has verified; it makes the account, which is theirs from then on, whatever their address. No code of an authenticator app is asked for: a second factor is the business of the provider. */
  'POST /session/provider': {
    input: {
      state: string
      code: string
      iss?: string
    }
    answer: {
      data: {
        id: string
        email: string
        name: string
        role: 'owner' | 'developer' | 'moderator' | 'support'
        /** Ids of apps; `null`: all */
        apps: string[] | null
        /** Whether they may read what people wrote */
        mayRead: boolean
        /** What the role allows, in each of the apps */
        rights: ('look' | 'read' | 'moderate' | 'rules' | 'manage' | 'configure' | 'keys' | 'apps' | 'health' | 'doctor' | 'operators')[]
        hasTotp: boolean
        /** Accounts that were made by OpenID Connect have none */
        hasPassword: boolean
        /** The OpenID Connect provider that the account is linked with; absent: none */
        issuer?: string
        /** Absent for personal tokens */
        sessionId?: string
        returnTo?: string
      }
    }
  }
  /** Create the first owner. With the token of the one-time address that a service without operators prints at its start, or that `parley operators setup` prints. The answer sets the cookie of a session. */
  'POST /setup': {
    input: {
      /** The part of the address after `=` */
      token: string
      email: string
      name: string
      /** At least 12 characters */
      password: string
    }
    answer: {
      data: Me
    }
  }
  /** Begin to sign in by OpenID Connect. The answer sets a cookie, valid for 10 minutes, and has the address of the provider. The provider leads back to `/console/sign-in`, with what finishes the sign-in, once and in the same browser. */
  'POST /sign-in/provider': {
    input: {
      /** Where to go afterwards: a path below `/console`, such as `/apps` */
      returnTo?: string
    }
    answer: {
      data: {
        /** The page of the provider to go to */
        address: string
      }
    }
  }
  /** Create a personal token for scripts. It is sent as `Authorization: Bearer <token>`, may never do more than its operator, and is shown this once. */
  'POST /tokens': {
    input: {
      name: string
      rights: ('look' | 'read' | 'moderate' | 'rules' | 'manage' | 'configure' | 'keys' | 'apps' | 'health' | 'doctor' | 'operators')[]
      /** Ids of apps; `null` for all apps, those to come included */
      apps?: string[] | null
      /** For how many days it is valid */
      days: number
    }
    answer: {
      data: {
        id: string
        name: string
        rights: ('look' | 'read' | 'moderate' | 'rules' | 'manage' | 'configure' | 'keys' | 'apps' | 'health' | 'doctor' | 'operators')[]
        /** Ids of apps; `null`: all */
        apps: string[] | null
        /** When it was made, epoch seconds */
        createdAt: number
        /** Until when it is valid, epoch seconds */
        expiresAt: number
        /** When it was last used, to the minute, epoch seconds */
        usedAt?: number
        token: string
      }
    }
  }
  /** Begin to use an authenticator app. Returns the secret for the authenticator app. Once you have confirmed a code, each sign-in asks for one. */
  'POST /totp': {
    input: {
      password: string
    }
    answer: {
      data: {
        secret: string
        address: string
      }
    }
  }
  /** Confirm the authenticator app with a code. */
  'POST /totp/confirm': {
    input: {
      /** Six digits of the authenticator app */
      code: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  /** Change what an operator may do, or disable the account. What is left out stays. Their sessions go on with what they may do now; those of a disabled account end. */
  'PUT /operators/{id}': {
    input: {
      id: string
      role?: 'owner' | 'developer' | 'moderator' | 'support'
      /** Ids of apps; `null` for all apps, those to come included */
      apps?: string[] | null
      mayRead?: boolean
      disabled?: boolean
    }
    answer: {
      data: Operator
    }
  }
  /** Change your password. All other sessions end. */
  'PUT /password': {
    input: {
      current: string
      /** At least 12 characters */
      password: string
    }
    answer: {
      data: {
        success: true
      }
    }
  }
}
