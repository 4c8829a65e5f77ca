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

interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly minimum: number
  readonly maximum: number
  readonly maxLength: number
  readonly pattern?: string
}

/** Takes what the API takes. */
function readValue(name: keyof AppSettings, text: string): unknown {
  const schema = appSettings[name].schema as unknown as Schema
  if (schema.type === 'integer') {
    const { minimum, maximum } = schema
    const value = Number(text)
    if (/^\d{1,10}$/.test(text) && value >= minimum && value <= maximum) return value
    throw new Error(`${name} must be a whole number from ${minimum} to ${maximum}; it is "${text}"`)
  }
  if (schema.type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw new Error(`${name} must be true or false; it is "${text}"`)
  }
  if (schema.enum === undefined) return readString(name, text, schema)
  if (schema.enum.includes(text)) return text
  throw new Error(`${name} must be one of ${schema.enum.join(', ')}; it is "${text}"`)
}

function readString(name: keyof AppSettings, text: string, { maxLength, pattern = '' }: Schema): string {
  if ([...text].length > maxLength) throw new Error(`${name} must have at most ${maxLength} characters`)
  const fits = new RegExp(pattern).test(text)
  if (name === 'timezone' && !(fits && isTimezone(text))) {
    throw new Error(`timezone must be an IANA time zone, such as Europe/Oslo; it is "${text}"`)
  }
  if (name === 'jwtKeysUrl' && !(fits && URL.canParse(text))) {
    throw new Error(`jwtKeysUrl must be an address; it is "${text}"`)
  }
  return text
}

/** The settings of apps that have not set their own: `APP_DEFAULTS`, such as `authKeys=createOnly,maxBots=0`. */
export function readAppDefaults(text: string | undefined, isLoopback: boolean, problems: string[]): AppSettings {
  // A key that is in every front end may do everything on the machine of a developer only.
  const own: AppSettings = { ...defaultAppSettings, authKeys: isLoopback ? 'full' : 'createOnly' }
  if (text === undefined) return own
  try {
    const set = readSettingsText(text.split(',').map((part) => part.trim()))
    const ofOneApp = Object.keys(set).find((name) => name.startsWith('jwt'))
    // A token would open every app.
    if (ofOneApp !== undefined) throw new Error(`${ofOneApp} is set for each app by itself`)
    const values = Object.entries(set).filter(([, value]) => value !== null)
    return { ...own, ...Object.fromEntries(values) }
  } catch (error) {
    problems.push(`APP_DEFAULTS: ${(error as Error).message}`)
    return own
  }
}
