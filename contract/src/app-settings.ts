import { type Static, type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'
import { oneOf } from './schemas.ts'

/** One setting of an app: the values it takes, and its default. */
interface AppSetting<Schema extends TSchema> {
  readonly schema: Schema
  readonly fallback: Static<Schema>
  readonly description: string
}

function setting<Schema extends TSchema>(
  schema: Schema,
  fallback: Static<Schema>,
  description: string,
): AppSetting<Schema> {
  return { schema: { ...schema, description }, fallback, description }
}

/** A limit that can be turned off. */
function limit(fallback: number, what: string): AppSetting<ReturnType<typeof Type.Integer>> {
  const schema = Type.Integer({ minimum: 0, maximum: 1_000_000_000 })
  return setting(schema, fallback, `${what}; 0: no limit. Default ${fallback}`)
}

/**
 * Every setting of an app, declared once: operations, command line and defaults are derived from this table. Features add
 * their rows here.
 */
export const appSettings = {
  authKeys: setting(
    oneOf('full', 'createOnly'),
    'full',
    'What authOnly keys can do. `full`: create and update users, and create tokens for any user; for development only. `createOnly`: create users with the default role, and tokens for those users. Default: `full` if the service listens on a loopback address only, else `createOnly`',
  ),
  addMembers: setting(
    oneOf('everybody', 'friends', 'nobody'),
    'everybody',
    'Who can add another user to a group: everybody, only their friends, or nobody (users join by themselves). The app itself always can. Default: `everybody`',
  ),
  timezone: setting(
    Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$' }),
    'UTC',
    'Time zone of users who have not set their own, for schedules of notifications: an IANA name such as `Europe/Oslo`. Default `UTC`',
  ),
  pushGroupSize: limit(limits.notifications.groupSize.push, 'Members of the largest group whose messages are pushed'),
  emailGroupSize: limit(
    limits.notifications.groupSize.email,
    'Members of the largest group whose unread messages are sent by e-mail',
  ),
  smsGroupSize: limit(
    limits.notifications.groupSize.sms,
    'Members of the largest group whose unread messages are told by SMS',
  ),
  smsMaxSegments: setting(
    Type.Integer({ minimum: 1, maximum: 10 }),
    3,
    'Segments of one SMS (160 characters, or 70 with any that GSM-7 does not have); longer texts are cut. Default 3',
  ),
  pushWaitOnlineSeconds: setting(
    Type.Integer({ minimum: 0, maximum: 3600 }),
    0,
    'Seconds to wait before a push to users who are connected; what they read meanwhile is not pushed. Default 0',
  ),
  pushTakeBackRead: setting(
    Type.Boolean(),
    false,
    'Whether what a user reads on one device is taken back on their others, which also corrects their badges. Front ends must know `action: read`. Default false',
  ),
  notificationLogDays: setting(
    Type.Integer({ minimum: 1, maximum: 365 }),
    14,
    'Days that the logs of notifications are kept. Default 14',
  ),
  moderateApp: setting(
    Type.Boolean(),
    false,
    'Whether messages that the app itself sends or edits, on nobody’s behalf, are judged by the rules of moderation. Default false',
  ),
  tokenLifetime: limit(0, 'Seconds after its creation for which an auth token is valid'),
  tokenIdleTimeout: limit(0, 'Seconds without use after which an auth token is no longer valid'),
  jwtIssuer: setting(
    Type.String({ maxLength: 500 }),
    '',
    'Who signs tokens of users, beside auth tokens: `iss` of these JWTs. They are taken once issuer, audience and address of the keys are set. Default: nobody',
  ),
  jwtAudience: setting(
    Type.String({ maxLength: 500 }),
    '',
    'What `aud` of these JWTs must hold. Each app should have its own, so that a token of one opens no other. Default: none',
  ),
  jwtKeysUrl: setting(
    Type.String({ maxLength: 1000, pattern: '^(?:https?://\\S+)?$' }),
    '',
    'Address of the public keys that these JWTs are signed by (a JWKS). Default: none',
  ),
  messageRetentionDays: setting(
    Type.Integer({ minimum: 0, maximum: 36_500 }),
    0,
    'Days that messages are kept, unless a group has set otherwise; 0: for ever. Default 0',
  ),
  messageRetention: setting(
    oneOf('delete', 'strip'),
    'delete',
    'What becomes of messages that are older. `delete`: they are removed for good. `strip`: they stay as deleted ones, without their content. Default: `delete`',
  ),
  personExports: setting(
    oneOf('onRelease', 'atOnce'),
    'onRelease',
    'When the data of a user is put together after they have asked for it. `onRelease`: once the app releases it. `atOnce`: without that. Default: `onRelease`',
  ),
  maxApiKeys: limit(limits.apiKeysPerApp, 'API keys of the app'),
  maxRoles: limit(limits.rolesPerApp, 'Roles of the app, including the default role'),
  maxBots: limit(limits.botsPerApp, 'Bots of the app'),
  maxWebhooks: limit(limits.webhooks.perApp, 'Webhooks of the app'),
  maxGroupMembers: limit(limits.membersPerGroup, 'Members of one group'),
  maxGroupsPerUser: limit(limits.groupsPerUser, 'Groups that one user is a member of'),
  maxMembersPerRequest: limit(limits.membersPerRequest, 'Users in one request that adds members or creates a group'),
  maxFriends: limit(limits.friendsPerUser, 'Friends of one user'),
  maxFriendsPerRequest: limit(limits.friendsPerRequest, 'Users in one request that adds or removes friends'),
  maxPinnedMessages: limit(
    limits.pinnedMessagesPerConversation,
    'Pinned messages of one conversation, pinned by the app and by users together',
  ),
  maxSavedMessages: limit(limits.savedMessagesPerUser, 'Saved messages of one user'),
  maxPinnedConversations: limit(limits.pinnedConversationsPerUser, 'Conversations that one user has pinned'),
  maxAppPinnedConversations: limit(
    limits.pinnedConversationsPerApp,
    'Conversations that are pinned for every user of the app',
  ),
  uploadMegabytesPerDay: limit(
    limits.uploadMegabytesPerDay,
    'Megabytes that one user can upload on one day (UTC). What was taken in counts, also if its message was refused or is deleted later',
  ),
  mediaMegabytes: limit(0, 'Megabytes that all files of the app can take together'),
  fileLinks: setting(
    oneOf('permanent', 'signed'),
    'permanent',
    'Addresses of files. `permanent`: whoever has one can read the file as long as it exists. `signed`: they expire, and each answer has new ones. Default: `permanent`',
  ),
  fileLinkSeconds: setting(
    Type.Integer({ minimum: 60, maximum: 604_800 }),
    3600,
    'Seconds for which a signed address of a file is valid at most. Default 3600',
  ),
} as const

export type AppSettingName = keyof typeof appSettings

/** The effective settings of an app: what was set, else the default. */
export type AppSettings = { readonly [Name in AppSettingName]: Static<(typeof appSettings)[Name]['schema']> }

/** What was set, by name. */
export type SetAppSettings = Partial<AppSettings>

/** A change of settings; `null` resets a setting to its default. */
export type SettingsChange = { readonly [Name in AppSettingName]?: AppSettings[Name] | null }

export const appSettingNames = Object.keys(appSettings) as AppSettingName[]

/** The defaults if nothing is set, neither by the app nor by the environment. */
export const defaultAppSettings = Object.fromEntries(
  appSettingNames.map((name) => [name, appSettings[name].fallback]),
) as AppSettings

/** Whether a number has reached a limit of `AppSettings`, where 0 means that there is none. */
export function hasReached(limitOfApp: number, count: number): boolean {
  return limitOfApp !== 0 && count >= limitOfApp
}

type SchemaMap = { [Name in AppSettingName]: (typeof appSettings)[Name]['schema'] }

export const AppSettingsOut = Type.Object(
  Object.fromEntries(appSettingNames.map((name) => [name, appSettings[name].schema])) as SchemaMap,
  { additionalProperties: false },
)
