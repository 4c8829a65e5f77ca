import { Cron } from 'croner'
import type { BucketSettings } from '../media/bucket.ts'

/**
 * How fast a backup or an export works through all that there is: giving way to others while they are busy, always, or never.
 */
export const paces = ['auto', 'gentle', 'full'] as const
export type PaceName = (typeof paces)[number]

export const isPace = (text: string): text is PaceName => paces.some((name) => name === text)

/** Where backups are kept. */
export type BackupDestination =
  | { readonly kind: 'folder'; readonly folder: string }
  /** `prefix` is empty or ends with a slash. */
  | { readonly kind: 'bucket'; readonly settings: BucketSettings; readonly prefix: string }

export interface BackupSettings {
  /** Absent: commands name it. */
  readonly destination: BackupDestination | undefined
  /** When the service makes one by itself, in UTC, as cron has it; absent: never. */
  readonly schedule: string | undefined
  /** How many the service keeps; older ones are removed after one that succeeded. */
  readonly keep: number
  /** Seals the keys; absent: they are not in backups. */
  readonly passphrase: string | undefined
  readonly pace: PaceName
}

const defaultKeep = 7
const shortestPassphrase = 12

type Value = (name: string) => string | undefined

/** @param mediaBucket says what `BACKUP_S3_*` does not */
export function readBackupSettings(
  value: Value,
  mediaBucket: BucketSettings | undefined,
  problems: string[],
): BackupSettings {
  const to = value('BACKUP_TO')
  const bucket = readBucket(value, mediaBucket)
  const destination = readDestination(to, bucket, problems)
  const schedule = readSchedule(value('BACKUP_SCHEDULE'), problems)
  if (schedule !== undefined && to === undefined) {
    problems.push('BACKUP_TO is missing: with BACKUP_SCHEDULE it says where backups go')
  }
  const passphrase = value('BACKUP_PASSPHRASE')
  if (passphrase !== undefined && passphrase.length < shortestPassphrase) {
    problems.push(`BACKUP_PASSPHRASE must have ${shortestPassphrase} characters or more`)
  }
  return {
    ...{ destination, schedule, passphrase },
    keep: readKeep(value('BACKUP_KEEP'), problems),
    pace: readPace(value('BACKUP_PACE'), problems),
  }
}

/**
 * A place as `BACKUP_TO` and commands name it: a folder, or `s3://<bucket>/<prefix>`.
 * @param bucket undefined where nothing says how to reach one
 */
export function readDestination(
  text: string | undefined,
  bucket: Omit<BucketSettings, 'bucket'> | undefined,
  problems: string[],
): BackupDestination | undefined {
  if (text === undefined) return undefined
  if (!text.startsWith('s3:')) return { kind: 'folder', folder: text }
  const [, name, prefix = ''] = /^s3:\/\/([^/\s]+)\/?(\S*)$/.exec(text) ?? []
  if (name === undefined) {
    problems.push(`BACKUP_TO must be a folder, or s3://<bucket>/<prefix>; it is "${text}"`)
    return undefined
  }
  if (bucket === undefined) {
    problems.push(
      'BACKUP_TO names a bucket: set BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY, or those of MEDIA_S3_*',
    )
    return undefined
  }
  return { kind: 'bucket', settings: { ...bucket, bucket: name }, prefix: prefix && `${prefix.replace(/\/+$/, '')}/` }
}

/** How a bucket of backups is reached. */
export function readBucket(
  value: Value,
  media: BucketSettings | undefined,
): Omit<BucketSettings, 'bucket'> | undefined {
  const endpoint = value('BACKUP_S3_ENDPOINT') ?? media?.endpoint
  const accessKeyId = value('BACKUP_S3_ACCESS_KEY_ID') ?? media?.accessKeyId
  const secretAccessKey = value('BACKUP_S3_SECRET_ACCESS_KEY') ?? media?.secretAccessKey
  const region = value('BACKUP_S3_REGION') ?? media?.region ?? 'us-east-1'
  if (endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { endpoint, accessKeyId, secretAccessKey, region }
}

function readSchedule(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined
  try {
    if (text.trim().split(/\s+/).length !== 5) throw new Error('five fields')
    if (new Cron(text, { timezone: 'UTC', paused: true }).nextRun() !== null) return text
  } catch {
    // Said below.
  }
  problems.push(`BACKUP_SCHEDULE must be five fields as cron has them, in UTC, such as "30 3 * * *"; it is "${text}"`)
  return undefined
}

/**
 * When a backup is due by a schedule after one that began at a time, both in epoch seconds.
 * @returns undefined where none ever is
 */
export function dueAfter(schedule: string, startedAt: number): number | undefined {
  const due = new Cron(schedule, { timezone: 'UTC', paused: true }).nextRun(new Date(startedAt * 1000))
  return due === null ? undefined : Math.floor(due.getTime() / 1000)
}

/** What is known of the backups that a schedule asked for, in epoch seconds; null: there was none. */
export interface PastBackups {
  /** When the last one that succeeded began. */
  readonly succeededAt: number | null
  /** When the first of all began, however it ended. */
  readonly firstAt: number | null
}

/**
 * Since when a backup is due that has not succeeded, or as of when the next one is.
 * @returns undefined where none was due yet
 */
export function dueSince(schedule: string, { succeededAt, firstAt }: PastBackups): number | undefined {
  return succeededAt === null ? (firstAt ?? undefined) : dueAfter(schedule, succeededAt)
}

function readKeep(text: string | undefined, problems: string[]): number {
  if (text === undefined) return defaultKeep
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1) return Number(text)
  problems.push(`BACKUP_KEEP must be a number of backups from 1 to 9999; it is "${text}"`)
  return defaultKeep
}

function readPace(text: string | undefined, problems: string[]): PaceName {
  if (text === undefined) return 'auto'
  if (isPace(text)) return text
  problems.push(`BACKUP_PACE must be ${paces.join(', ')}; it is "${text}"`)
  return 'auto'
}
