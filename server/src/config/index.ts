import { isIP } from 'node:net'
import { type AppSettings, limits } from '@parley/contract'
import type { BucketSettings } from '../media/bucket.ts'
import type { RedisSettings } from '../store/redis.ts'
import { readAppDefaults } from './app-settings.ts'
import { type BackupSettings, readBackupSettings } from './backup.ts'
import { type MailReplies, readMailReplies } from './mail-replies.ts'
import { type NotificationEndpoints, readNotificationEndpoints } from './notifications.ts'
import { type OidcSettings, readOidc } from './oidc.ts'
import { type OutboundSettings, readAllowedTargets } from './outbound.ts'
import { type RateLimits, readRateLimits } from './rate-limits.ts'
import { createReader } from './secrets.ts'
import { readSocketSettings, type SocketSettings } from './sockets.ts'
import { readTracing, type TracingSettings } from './tracing.ts'

/** Settings of one deployment: read from the environment once at start, validated, frozen. */
export interface Config {
  readonly host: string
  readonly port: number
  /** Port of the metrics; absent: that of everything else. */
  readonly metricsPort: number | undefined
  /** Port of the admin API and the console; absent: that of everything else. */
  readonly adminPort: number | undefined
  /** Where emulators of providers run beside, on this machine; their journal is shown in the console. For development. */
  readonly emulatorsUrl: string | undefined
  /** Connection URL of an external PostgreSQL 15+; absent: the embedded one. */
  readonly databaseUrl: string | undefined
  /** `DATA_DIR` as given; where it leads is decided by the store (root cannot run PostgreSQL everywhere). */
  readonly dataDir: string | undefined
  readonly appId: string
  readonly region: Region
  readonly apiKey: string | undefined
  /** `off`: none is created. */
  readonly authKey: string | 'off' | undefined
  readonly masterKey: string | undefined
  /** Scheme, host and port that answers name, without a slash at the end; absent: those that a request came by. */
  readonly publicUrl: string | undefined
  readonly tls: { readonly certFile: string; readonly keyFile: string } | 'self-signed' | undefined
  readonly requireHttps: boolean
  /** Proxies whose `X-Forwarded-*` headers are believed: `true` for any, or addresses and CIDR ranges. */
  readonly trustProxy: boolean | readonly string[]
  readonly logLevel: LogLevel
  /** Whether the IP addresses of clients are kept, in the log and the audit log. */
  readonly keepsClientAddresses: boolean
  /** How long the audit log is kept. */
  readonly auditRetentionDays: number
  /** Origins that browsers may call from; `*` for any. */
  readonly corsOrigins: readonly string[]
  /** Processes that serve the port. */
  readonly workers: number
  /** What several processes share; absent: there is one. */
  readonly redis: RedisSettings | undefined
  /** Where files sent with messages are kept; absent: in the data folder. */
  readonly mediaBucket: BucketSettings | undefined
  /** Where files are written on their way to the bucket; absent: in the data folder. */
  readonly mediaStagingDir: string | undefined
  /** Bytes that uploads leave free on the disk; 0: none. */
  readonly mediaMinFreeBytes: number
  /** An upload of which nearly nothing comes for so long is refused. */
  readonly uploadStallSeconds: number
  readonly webhooks: WebhookSettings
  /** What apps may have called. */
  readonly outbound: OutboundSettings
  /** Where providers of notifications are reached. */
  readonly notifications: NotificationEndpoints
  /** Replies to e-mails that come by the operator's mail server; absent: none do. */
  readonly mailReplies: MailReplies | undefined
  /** How long events and their deliveries are kept. */
  readonly eventsRetentionDays: number
  /** Bounds of the sockets. */
  readonly sockets: SocketSettings
  /** Serves the page at `/demo`. */
  readonly demo: boolean
  /** Serves the reference page at `/docs`. */
  readonly docs: boolean
  /** Serves the admin API and the console. */
  readonly console: boolean
  /** Is made the first owner, where there is no operator yet. */
  readonly firstOwner: { readonly email: string; readonly password: string } | undefined
  /** Where operators can sign in beside their passwords; absent: nowhere. */
  readonly oidc: OidcSettings | undefined
  /** Networks that may call the admin API; absent: any. */
  readonly adminAllow: readonly string[] | undefined
  /** Where spans go; absent: there are none. */
  readonly tracing: TracingSettings | undefined
  /** Requests a minute, by what they count; what is missing is not limited. */
  readonly rateLimits: RateLimits
  /** Settings of apps that have not set their own. */
  readonly appDefaults: AppSettings
  /** Records that one request of a data import may have. */
  readonly importMaxRecords: number
  /** How long one query of a list may take. */
  readonly listTimeoutSeconds: number
  /** How long one query of a search in messages may take. */
  readonly searchTimeoutSeconds: number
  /** Where backups go, and when. */
  readonly backup: BackupSettings
}

export interface WebhookSettings {
  /** Seconds between the attempts at one delivery. */
  readonly retrySchedule: readonly number[]
  /** Hours of failures only, after which a webhook is disabled. */
  readonly disableAfterHours: number
}

export const regions = ['us', 'eu', 'in'] as const
export type Region = (typeof regions)[number]

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Thrown at start; each line names the variable, what is wrong with it and what it takes. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the configuration out of environment variables, and secrets out of the files that these name. Empty variables count as
 * absent.
 * @throws ConfigError naming every variable that is wrong, not only the first.
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const value = createReader(environment, problems)

  const matching = (name: string, pattern: RegExp, what: string) => {
    const text = value(name)
    if (text !== undefined && !pattern.test(text)) {
      problems.push(`${name} must be ${what}`)
      return undefined
    }
    return text
  }
  const choice = <T extends string>(name: string, choices: readonly T[], fallback: T): T => {
    const text = value(name)?.toLowerCase()
    if (text === undefined) return fallback
    if ((choices as readonly string[]).includes(text)) return text as T
    problems.push(`${name} must be one of ${choices.join(', ')}; it is "${text}"`)
    return fallback
  }

  const mediaBucket = readBucket(value, problems)
  const config: Config = {
    host: value('HOST') ?? '127.0.0.1',
    port: readPort(value('PORT'), problems),
    metricsPort: readOwnPort('METRICS_PORT', value('METRICS_PORT'), problems),
    adminPort: readOwnPort('ADMIN_PORT', value('ADMIN_PORT'), problems),
    emulatorsUrl: readEmulatorsUrl(value('EMULATORS_URL'), problems),
    databaseUrl: readDatabaseUrl(value('DATABASE_URL'), problems),
    dataDir: value('DATA_DIR'),
    appId: (
      matching('PARLEY_APP_ID', /^[A-Za-z0-9_-]{1,100}$/, '1 to 100 of A-Z a-z 0-9 - _') ?? 'parley'
    ).toLowerCase(),
    region: choice('PARLEY_REGION', regions, 'us'),
    apiKey: matching('PARLEY_API_KEY', /^[0-9a-fA-F]{40}$/, '40 hexadecimal characters')?.toLowerCase(),
    authKey: matching(
      'PARLEY_AUTH_KEY',
      /^([0-9a-fA-F]{40}|off)$/i,
      '40 hexadecimal characters, or off',
    )?.toLowerCase(),
    masterKey: matching(
      'PARLEY_MASTER_KEY',
      /^[0-9a-fA-F]{64}$/,
      '64 hexadecimal characters, as `openssl rand -hex 32` makes them',
    )?.toLowerCase(),
    publicUrl: readPublicUrl(value('PUBLIC_URL'), problems),
    tls: readTls(value('TLS'), value('TLS_CERT_FILE'), value('TLS_KEY_FILE'), problems),
    requireHttps: readBoolean('REQUIRE_HTTPS', value('REQUIRE_HTTPS'), problems),
    trustProxy: readTrustProxy(value('TRUST_PROXY'), problems),
    logLevel: choice('LOG_LEVEL', logLevels, 'info'),
    keepsClientAddresses: readBoolean('KEEP_CLIENT_ADDRESSES', value('KEEP_CLIENT_ADDRESSES') ?? 'true', problems),
    auditRetentionDays: readDays('AUDIT_RETENTION_DAYS', value('AUDIT_RETENTION_DAYS'), 365, problems),
    corsOrigins: readOrigins(value('CORS_ORIGINS'), problems),
    workers: readWorkers(value('WORKERS'), value('REDIS_URL'), problems),
    redis: readRedis(
      value('REDIS_URL'),
      matching('REDIS_PREFIX', /^[A-Za-z0-9_.-]{1,100}$/, '1 to 100 of A-Z a-z 0-9 _ . -') ?? 'parley',
      problems,
    ),
    mediaBucket,
    mediaStagingDir: value('MEDIA_STAGING_DIR'),
    mediaMinFreeBytes: readMegabytes('MEDIA_MIN_FREE_MB', value('MEDIA_MIN_FREE_MB'), 1000, problems),
    uploadStallSeconds: readSeconds('UPLOAD_STALL_SECONDS', value('UPLOAD_STALL_SECONDS'), 30, problems),
    webhooks: {
      retrySchedule: readRetrySchedule(value('WEBHOOK_RETRY_SCHEDULE_SECONDS'), problems),
      disableAfterHours: readHours('WEBHOOK_DISABLE_AFTER_HOURS', value('WEBHOOK_DISABLE_AFTER_HOURS'), 120, problems),
    },
    outbound: {
      allowPrivate: readBoolean('WEBHOOK_ALLOW_PRIVATE', value('WEBHOOK_ALLOW_PRIVATE'), problems),
      allow: readAllowedTargets(value('OUTBOUND_ALLOW'), problems),
    },
    notifications: readNotificationEndpoints(value, problems),
    mailReplies: readMailReplies(value, problems),
    eventsRetentionDays: readDays('EVENTS_RETENTION_DAYS', value('EVENTS_RETENTION_DAYS'), 7, problems),
    sockets: readSocketSettings(value, problems),
    demo: readDemo(value, problems),
    docs:
      value('DOCS') === undefined ? value('NODE_ENV') !== 'production' : readBoolean('DOCS', value('DOCS'), problems),
    console: readBoolean('CONSOLE', value('CONSOLE') ?? 'on', problems),
    firstOwner: readFirstOwner(value('PARLEY_OPERATOR_EMAIL'), value('PARLEY_OPERATOR_PASSWORD'), problems),
    oidc: readOidc(value, problems),
    adminAllow: readNetworks('ADMIN_ALLOW', value('ADMIN_ALLOW'), problems),
    tracing: readTracing(value, problems),
    rateLimits: readRateLimits(value('RATE_LIMITS'), problems),
    appDefaults: readAppDefaults(value('APP_DEFAULTS'), isLoopback(value('HOST')), problems),
    importMaxRecords: readImportRecords(value('IMPORT_MAX_RECORDS'), problems),
    listTimeoutSeconds: readSeconds('LIST_TIMEOUT_SECONDS', value('LIST_TIMEOUT_SECONDS'), 5, problems),
    searchTimeoutSeconds: readSeconds('SEARCH_TIMEOUT_SECONDS', value('SEARCH_TIMEOUT_SECONDS'), 5, problems),
    backup: readBackupSettings(value, mediaBucket, problems),
  }
  if (config.apiKey !== undefined && config.apiKey === config.authKey) {
    problems.push('PARLEY_AUTH_KEY must differ from PARLEY_API_KEY')
  }
  if (config.metricsPort !== undefined && config.metricsPort === config.port) {
    problems.push('METRICS_PORT must differ from PORT')
  }
  if (config.adminPort !== undefined && [config.port, config.metricsPort].includes(config.adminPort)) {
    problems.push('ADMIN_PORT must differ from PORT and METRICS_PORT')
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

function readPort(text: string | undefined, problems: string[]): number {
  if (text === undefined) return 8080
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  problems.push(`PORT must be a number from 0 (any free port) to 65535; it is "${text}"`)
  return 8080
}

/** A port beside `PORT`. */
function readOwnPort(name: string, text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  problems.push(`${name} must be a number from 1 to 65535; it is "${text}"`)
  return undefined
}

/** Only on this machine: it is asked whatever operators want to see. */
function readEmulatorsUrl(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined || /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}\/?$/.test(text)) return text
  problems.push(`EMULATORS_URL must be an address of this machine, such as http://127.0.0.1:9098; it is "${text}"`)
  return undefined
}

function readDatabaseUrl(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined || /^postgres(ql)?:\/\//.test(text)) return text
  problems.push('DATABASE_URL must start with postgres:// or postgresql://')
  return undefined
}

const maxWorkers = 256

/** Processes that do not hear of each other would each serve a chat of their own. */
function readWorkers(text: string | undefined, redisUrl: string | undefined, problems: string[]): number {
  if (text === undefined) return 1
  const workers = Number(text)
  if (!/^\d{1,3}$/.test(text) || workers < 1 || workers > maxWorkers) {
    problems.push(`WORKERS must be a number of processes from 1 to ${maxWorkers}; it is "${text}"`)
    return 1
  }
  if (workers > 1 && redisUrl === undefined) {
    problems.push(
      `REDIS_URL is missing: with WORKERS=${workers} the processes send each other events through a Redis or Valkey, such as redis://127.0.0.1:6379`,
    )
  }
  return workers
}

function readRedis(text: string | undefined, prefix: string, problems: string[]): RedisSettings | undefined {
  if (text === undefined) return undefined
  if (/^rediss?:\/\/[^/]+/.test(text) && URL.canParse(text)) return { url: text, prefix }
  problems.push('REDIS_URL must start with redis:// or rediss:// and name a host')
  return undefined
}

/** What to say at start where deliveries are removed before their last attempt. */
export function retentionWarning({
  webhooks,
  eventsRetentionDays,
}: Pick<Config, 'webhooks' | 'eventsRetentionDays'>): string | undefined {
  const hours = webhooks.retrySchedule.reduce((sum, seconds) => sum + seconds, 0) / 3600
  if (hours < eventsRetentionDays * 24) return undefined
  const last = `The last attempt of WEBHOOK_RETRY_SCHEDULE_SECONDS comes ${hours.toFixed(1)} hours after the first`
  return `${last}; deliveries are removed before, after the days of EVENTS_RETENTION_DAYS (${eventsRetentionDays})`
}

/** Fractions are for tests: nobody wants to be called again within a second. */
function readRetrySchedule(text: string | undefined, problems: string[]): readonly number[] {
  if (text === undefined) return limits.webhooks.retryDelaysSeconds
  const delays = splitList(text)
  if (delays.length >= 1 && delays.length <= 30 && delays.every((delay) => /^\d{1,6}(\.\d{1,3})?$/.test(delay))) {
    return delays.map(Number)
  }
  problems.push(
    `WEBHOOK_RETRY_SCHEDULE_SECONDS must be 1 to 30 numbers of seconds with commas between, such as 10,30,300; it is "${text}"`,
  )
  return limits.webhooks.retryDelaysSeconds
}

/** Fractions are for tests, and for those who would rather refuse than wait. */
function readSeconds(name: string, text: string | undefined, fallback: number, problems: string[]): number {
  if (text === undefined) return fallback
  if (/^\d{1,3}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text)
  problems.push(`${name} must be a number of seconds above 0 and below 1000; it is "${text}"`)
  return fallback
}

/** @returns bytes */
function readMegabytes(name: string, text: string | undefined, fallback: number, problems: string[]): number {
  const megabyte = 1024 * 1024
  if (text === undefined) return fallback * megabyte
  if (/^\d{1,9}$/.test(text)) return Number(text) * megabyte
  problems.push(`${name} must be a number of megabytes (0: none is kept free); it is "${text}"`)
  return fallback * megabyte
}

function readHours(name: string, text: string | undefined, fallback: number, problems: string[]): number {
  if (text === undefined) return fallback
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1) return Number(text)
  problems.push(`${name} must be a number of hours from 1 to 99999; it is "${text}"`)
  return fallback
}

function readDays(name: string, text: string | undefined, fallback: number, problems: string[]): number {
  if (text === undefined) return fallback
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 3650) return Number(text)
  problems.push(`${name} must be a number of days from 1 to 3650; it is "${text}"`)
  return fallback
}

function readBoolean(name: string, text: string | undefined, problems: string[]): boolean {
  if (text === undefined) return false
  if (/^(1|true|yes|on)$/i.test(text)) return true
  if (/^(0|false|no|off)$/i.test(text)) return false
  problems.push(`${name} must be true or false; it is "${text}"`)
  return false
}

/** Where nothing is said, in development only: not with NODE_ENV=production, and reached from this machine alone. */
function readDemo(value: (name: string) => string | undefined, problems: string[]): boolean {
  if (value('DEMO') !== undefined) return readBoolean('DEMO', value('DEMO'), problems)
  return value('NODE_ENV') !== 'production' && isLoopback(value('HOST'))
}

/** Whether the service is reached from this machine alone. */
function isLoopback(host = '127.0.0.1'): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)
}

/** An origin and no more: the paths are the contract's. */
function readPublicUrl(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined
  if (/^https?:\/\/[^/\s?#@\\]+\/?$/i.test(text) && URL.canParse(text)) return new URL(text).origin
  problems.push(`PUBLIC_URL must be an address without a path, such as https://chat.example.com; it is "${text}"`)
  return undefined
}

function readTls(
  mode: string | undefined,
  certFile: string | undefined,
  keyFile: string | undefined,
  problems: string[],
): Config['tls'] {
  if (mode !== undefined && mode !== 'self-signed') problems.push(`TLS must be self-signed; it is "${mode}"`)
  if ((certFile === undefined) !== (keyFile === undefined)) {
    problems.push(`${certFile === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE'} is missing: the two go together`)
  }
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile }
  return mode === 'self-signed' ? 'self-signed' : undefined
}

function readTrustProxy(text: string | undefined, problems: string[]): Config['trustProxy'] {
  if (text === undefined || /^(0|false|no|off)$/i.test(text)) return false
  if (/^(1|true|yes|on)$/i.test(text)) return true
  const proxies = splitList(text)
  const wrong = proxies.filter((proxy) => !namedRanges.includes(proxy) && !isAddressRange(proxy))
  if (proxies.length === 0 || wrong.length > 0) {
    problems.push(
      `TRUST_PROXY must be true, false, or addresses, CIDR ranges and ${namedRanges.join(', ')}, with commas between; it is "${text}"`,
    )
  }
  return proxies
}

const leastPassword = 12

function readFirstOwner(
  email: string | undefined,
  password: string | undefined,
  problems: string[],
): Config['firstOwner'] {
  if (email === undefined && password === undefined) return undefined
  if (email === undefined || !/^[^\s@]{1,200}@[^\s@]{1,50}$/.test(email)) {
    problems.push('PARLEY_OPERATOR_EMAIL must be an e-mail address')
    return undefined
  }
  if (password === undefined || password.length < leastPassword || password.length > 200) {
    problems.push(`PARLEY_OPERATOR_PASSWORD must have ${leastPassword} to 200 characters`)
    return undefined
  }
  return { email, password }
}

/** Networks by address, range or name; `undefined` where nothing is said. */
function readNetworks(name: string, text: string | undefined, problems: string[]): readonly string[] | undefined {
  if (text === undefined) return undefined
  const networks = splitList(text)
  const wrong = networks.filter((network) => !namedRanges.includes(network) && !isAddressRange(network))
  if (networks.length === 0 || wrong.length > 0) {
    problems.push(
      `${name} must be addresses, CIDR ranges and ${namedRanges.join(', ')}, with commas between; it is "${text}"`,
    )
  }
  return networks
}

const namedRanges = ['loopback', 'linklocal', 'uniquelocal']

function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

/** Origins as browsers write them: lower case, no path, the port only where it is not the scheme's own. */
function readOrigins(text: string | undefined, problems: string[]): readonly string[] {
  if (text === undefined) return ['*']
  const origins = splitList(text)
  const wrong = origins.filter((origin) => origin !== '*' && !/^https?:\/\/[^/\s?#@]+\/?$/i.test(origin))
  if (origins.length === 0 || wrong.length > 0 || !origins.every((origin) => origin === '*' || URL.canParse(origin))) {
    problems.push(
      `CORS_ORIGINS must be * or origins such as https://chat.example.com, with commas between; it is "${text}"`,
    )
    return []
  }
  return origins.map((origin) => (origin === '*' ? origin : new URL(origin).origin))
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The settings of a bucket go together; one alone is a mistake. */
function readBucket(value: (name: string) => string | undefined, problems: string[]): BucketSettings | undefined {
  const names = ['MEDIA_S3_ENDPOINT', 'MEDIA_S3_BUCKET', 'MEDIA_S3_ACCESS_KEY_ID', 'MEDIA_S3_SECRET_ACCESS_KEY']
  const [endpoint, bucket, accessKeyId, secretAccessKey] = names.map(value)
  const region = value('MEDIA_S3_REGION') ?? 'us-east-1'
  const missing = names.filter((name) => value(name) === undefined)
  if (missing.length === names.length) return undefined
  for (const name of missing) problems.push(`${name} is missing: ${names.join(', ')} go together`)
  if (endpoint !== undefined && !/^https?:\/\/[^/\s]+/.test(endpoint)) {
    problems.push(`MEDIA_S3_ENDPOINT must be the address of an S3-compatible service; it is "${endpoint}"`)
  }
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) return undefined
  return { endpoint, bucket, accessKeyId, secretAccessKey, region }
}

/** A body is 16 MB at most all the same, so there is no need for more than a hundred thousand. */
function readImportRecords(text: string | undefined, problems: string[]): number {
  if (text === undefined) return limits.importRecords
  const records = Number(text)
  if (/^\d+$/.test(text) && records >= 1 && records <= 100_000) return records
  problems.push(`IMPORT_MAX_RECORDS must be a number from 1 to 100000; it is "${text}"`)
  return limits.importRecords
}
