import { type Static, type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'
import { oneOf } from './schemas.ts'

/** One setting of an app: what it takes, and what holds while nothing is set. */
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

/** A limit that can be lifted. */
function limit(fallback: number, what: string): AppSetting<ReturnType<typeof Type.Integer>> {
  const schema = Type.Integer({ minimum: 0, maximum: 1_000_000_000 })
  return setting(schema, fallback, `${what}; 0: no limit. Default ${fallback}`)
}

/**
 * Every setting of an app, declared once: operation, command line, documents and defaults come from this table. A feature
 * adds its rows here.
 */
export const appSettings = {
  authKeys: setting(
    oneOf('full', 'createOnly'),
    'full',
    'What authOnly keys may do. `full`: create and change users, and create tokens for any of them, which is for development. `createOnly`: create users of the default role, and tokens for those users alone. Default `full` where the service listens on the loopback address only, else `createOnly`',
  ),
  addMembers: setting(
    oneOf('everybody', 'friends', 'nobody'),
    'everybody',
    'Who may add somebody else to a group: everybody, only their friends, or nobody (people join by themselves). The app itself always may. Default `everybody`',
  ),
  maxApiKeys: limit(limits.apiKeysPerApp, 'API keys of the app'),
  maxRoles: limit(limits.rolesPerApp, 'Roles of the app, the default role among them'),
  maxBots: limit(limits.botsPerApp, 'Bots of the app'),
  maxWebhooks: limit(limits.webhooks.perApp, 'Webhooks of the app'),
} as const

export type AppSettingName = keyof typeof appSettings

/** The settings of an app as they hold: what was set, else the default. */
export type AppSettings = { readonly [Name in AppSettingName]: Static<(typeof appSettings)[Name]['schema']> }

/** What was set, by name. */
export type SetAppSettings = Partial<AppSettings>

/** A change of settings; `null` returns one to its default. */
export type SettingsChange = { readonly [Name in AppSettingName]?: AppSettings[Name] | null }

export const appSettingNames = Object.keys(appSettings) as AppSettingName[]

/** What holds where nothing is set, neither by the app nor by the environment. */
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
