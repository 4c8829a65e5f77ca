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
  maxApiKeys: limit(limits.apiKeysPerApp, 'API keys of the app'),
  maxRoles: limit(limits.rolesPerApp, 'Roles of the app, including the default role'),
  maxBots: limit(limits.botsPerApp, 'Bots of the app'),
  maxWebhooks: limit(limits.webhooks.perApp, 'Webhooks of the app'),
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
