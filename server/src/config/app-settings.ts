import {
  type AppSettings,
  appSettingNames,
  appSettings,
  defaultAppSettings,
  isTimezone,
  type SettingsChange,
} from '@parley/contract'

/**
 * Reads settings written as text, `name=value` each; `name=` returns one to its default.
 * @throws Error naming what is unknown or not allowed
 */
export function readSettingsText(assignments: readonly string[]): SettingsChange {
  const entries = assignments.map((assignment): [string, unknown] => {
    const [name = '', ...rest] = assignment.split('=')
    const text = rest.join('=')
    if (!(appSettingNames as string[]).includes(name) || rest.length === 0) {
      throw new Error(`${name} is not a setting; the settings are ${appSettingNames.join(', ')}`)
    }
    return [name, text === '' ? null : readValue(name as keyof AppSettings, text)]
  })
  return Object.fromEntries(entries) as SettingsChange
}

function readValue(name: keyof AppSettings, text: string): unknown {
  const schema = appSettings[name].schema as { type?: string; enum?: string[] }
  if (schema.type === 'integer') {
    if (/^\d{1,9}$/.test(text)) return Number(text)
    throw new Error(`${name} must be a whole number; it is "${text}"`)
  }
  if (schema.type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw new Error(`${name} must be true or false; it is "${text}"`)
  }
  if (name === 'timezone') {
    if (isTimezone(text)) return text
    throw new Error(`timezone must be an IANA time zone, such as Europe/Oslo; it is "${text}"`)
  }
  if (name === 'jwtIssuer' || name === 'jwtAudience') return text
  if (name === 'jwtKeysUrl') {
    if (/^https?:\/\/\S+$/.test(text) && URL.canParse(text)) return text
    throw new Error(`jwtKeysUrl must be an address; it is "${text}"`)
  }
  const choices = schema.enum ?? []
  if (choices.includes(text)) return text
  throw new Error(`${name} must be one of ${choices.join(', ')}; it is "${text}"`)
}

/** The settings of apps that have not set their own: `APP_DEFAULTS`, such as `authKeys=createOnly,maxBots=0`. */
export function readAppDefaults(text: string | undefined, isLoopback: boolean, problems: string[]): AppSettings {
  // A key that is in every front end may do everything on the machine of a developer only.
  const own: AppSettings = { ...defaultAppSettings, authKeys: isLoopback ? 'full' : 'createOnly' }
  if (text === undefined) return own
  try {
    const set = readSettingsText(text.split(',').map((part) => part.trim())) as Partial<AppSettings>
    const ofOneApp = Object.keys(set).find((name) => name.startsWith('jwt'))
    // A token would open every app.
    if (ofOneApp !== undefined) throw new Error(`${ofOneApp} is set for each app by itself`)
    return { ...own, ...set }
  } catch (error) {
    problems.push(`APP_DEFAULTS: ${(error as Error).message}`)
    return own
  }
}
