import { readFileSync } from 'node:fs'

/**
 * Settings that are secrets, or hold one. Each is also read from the file that `<name>_FILE` names, as orchestrators hand secrets
 * over: what is in the environment is shown by tools that look at containers and processes.
 */
export const secretSettings: readonly string[] = [
  'DATABASE_URL',
  'REDIS_URL',
  'PARLEY_API_KEY',
  'PARLEY_AUTH_KEY',
  'PARLEY_MASTER_KEY',
  'PARLEY_OPERATOR_PASSWORD',
  'OIDC_CLIENT_SECRET',
  'MEDIA_S3_ACCESS_KEY_ID',
  'MEDIA_S3_SECRET_ACCESS_KEY',
  'BACKUP_S3_ACCESS_KEY_ID',
  'BACKUP_S3_SECRET_ACCESS_KEY',
  'BACKUP_PASSPHRASE',
  'MAIL_REPLY_SECRET',
  'SMTP_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
]

/** Secrets that commands read, and the service does not. */
const secretsOfCommands: readonly string[] = ['MOVE_IN_API_KEY']

/** Bytes of such a file; what is longer is some other file. */
const largestSecret = 64 * 1024

type Environment = Readonly<Record<string, string | undefined>>

/**
 * How settings are read: blanks around a value are none of it, and an empty one counts as absent. Each is read once.
 * @param problems is given what is wrong with the files of secrets, without their content
 */
export function createReader(environment: Environment, problems: string[]): (name: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  return (name) => {
    if (!known.has(name)) known.set(name, read(environment, name, problems))
    return known.get(name)
  }
}

function read(environment: Environment, name: string, problems: string[]): string | undefined {
  const value = trimmed(environment[name])
  if (!secretSettings.includes(name) && !secretsOfCommands.includes(name)) return value
  const file = trimmed(environment[`${name}_FILE`])
  if (file === undefined) return value
  if (value === undefined) return readSecret(`${name}_FILE`, file, problems)
  problems.push(`${name} and ${name}_FILE are both set: set one of them`)
  return undefined
}

function readSecret(name: string, file: string, problems: string[]): string | undefined {
  const refuse = (what: string) => {
    problems.push(`${name} must be a file with the secret; ${file} ${what}`)
    return undefined
  }
  try {
    const content = readFileSync(file)
    if (content.length > largestSecret) return refuse(`has more than ${largestSecret} bytes`)
    return trimmed(content.toString('utf8')) ?? refuse('is empty')
  } catch (error) {
    return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function trimmed(text: string | undefined): string | undefined {
  return text?.trim() || undefined
}
