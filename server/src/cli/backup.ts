import path from 'node:path'
import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { type BackupOptions, makeBackup } from '../backup/backup.ts'
import { describeDestination, openDestination } from '../backup/destination.ts'
import { listBackups, readManifest } from '../backup/format.ts'
import { sealKeys } from '../backup/keys.ts'
import { oneAtATime } from '../backup/one-at-a-time.ts'
import { atPace } from '../backup/pace.ts'
import { pruneBackups } from '../backup/prune.ts'
import { findStaging } from '../backup/staging.ts'
import { type BackupDestination, isPace, type PaceName, readBucket, readDestination } from '../config/backup.ts'
import { type Config, readConfig } from '../config/index.ts'
import { createReader } from '../config/secrets.ts'
import { loadKeys } from '../keys-file.ts'
import { createMediaStorage } from '../media/create.ts'
import type { Pace } from '../media/steps.ts'
import type { FileStore } from '../media/storage.ts'
import { createProgressLine, describeBytes } from './progress.ts'
import { dataDirOf, openSession } from './session.ts'
import { runCommandLine, UsageError } from './usage.ts'

const help = `Usage: parley backup [options]

Copies the database and the files of messages, as they are at this moment, while the service goes on. Each backup is whole by itself, but
for the files of messages, which all backups of a destination share.

Options:
  --to <destination>      a folder, or s3://<bucket>/<prefix> (default: BACKUP_TO)
  --with-keys       also keys.env, sealed with BACKUP_PASSPHRASE; without it, a backup holds no key that opens it
  --keep <number>   afterwards, remove all backups there but the newest ones, with files that no other backup has
  --pace <pace>     auto: in small steps with rests while others are busy, else as fast as it goes; gentle: always in small steps;
                    full: as fast as it goes, whoever waits (default: BACKUP_PACE, or auto)
  --list            list the backups there instead
  -h, --help        show this text

The database is that of DATABASE_URL, else the embedded one (DATA_DIR), whether a service runs on it or not.

Exit codes: 0 done, 1 it failed, and what was written of it is removed, or one of those to list cannot be read, 2 wrong usage.
`

/** Runs `parley backup`. @returns the exit code */
export function backupCommand(args: string[]): Promise<number> {
  return runCommandLine('backup', help, async () => {
    const { values } = parseArgs({
      args,
      options: {
        to: { type: 'string' },
        'with-keys': { type: 'boolean' },
        keep: { type: 'string' },
        pace: { type: 'string' },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    dotenv.config({ quiet: true })
    const config = readConfig(process.env)
    const destination = findDestination(config, values.to, '--to')
    if (values.list === true) return list(destination)
    const keep = values.keep === undefined ? undefined : Number(values.keep)
    if (keep !== undefined && !(Number.isInteger(keep) && keep > 0))
      throw new UsageError('--keep takes a number from 1')
    const { pace = config.backup.pace } = values
    if (!isPace(pace)) throw new UsageError('--pace takes auto, gentle or full')
    return back(config, destination, { withKeys: values['with-keys'] === true, keep, pace })
  })
}

/** The place that an option names, or the configuration. */
export function findDestination(config: Config, named: string | undefined, option: string): BackupDestination {
  if (named === undefined) {
    if (config.backup.destination === undefined)
      throw new UsageError(`say where the backups are: ${option}, or BACKUP_TO`)
    return config.backup.destination
  }
  const problems: string[] = []
  const destination = readDestination(
    named,
    readBucket(createReader(process.env, problems), config.mediaBucket),
    problems,
  )
  if (destination === undefined) throw new UsageError(problems.join('; '))
  return destination
}

async function list(destination: BackupDestination): Promise<number> {
  const store = openDestination(destination)
  let code = 0
  for (const id of await listBackups(store)) {
    const manifest = await readManifest(store, id).catch((error: Error) => error)
    if (manifest instanceof Error) {
      process.stderr.write(`parley backup: ${id} is not listed: ${manifest.message}\n`)
      code = 1
      continue
    }
    const { startedAt, parley, postgres, tables, files, keys } = manifest
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    const bytes = tables.reduce((sum, { parts }) => sum + parts.reduce((all, part) => all + part.bytes, 0), 0)
    const size = `${rows} rows, ${describeBytes(bytes)}, ${files.count} files, ${describeBytes(files.bytes)}`
    const sealed = keys.sealed === null ? '' : ', with keys'
    process.stdout.write(`${id}\t${startedAt}\tParley ${parley}, PostgreSQL ${postgres}\t${size}${sealed}\n`)
  }
  return code
}

interface Wanted {
  readonly withKeys: boolean
  /** How many backups stay. */
  readonly keep: number | undefined
  readonly pace: PaceName
}

async function back(
  config: Config,
  destination: BackupDestination,
  { withKeys, keep, pace: paceName }: Wanted,
): Promise<number> {
  const dataDir = dataDirOf(config)
  const sealedKeys = withKeys ? await seal(config, dataDir) : undefined
  const session = await openSession(config)
  const line = createProgressLine()
  const stop = new AbortController()
  const interrupt = () => stop.abort(new Error('interrupted'))
  for (const signal of signals) process.once(signal, interrupt)
  const begun = performance.now()
  const { connection } = session
  const warnings: string[] = []
  /** The backup is whole by then, whatever comes of the old ones. */
  const prune = async (store: FileStore, keep: number): Promise<string[]> => {
    try {
      return await pruneBackups(store, keep)
    } catch (error) {
      warnings.push(`old backups could not all be removed, or files that only they have: ${(error as Error).message}`)
      return []
    }
  }
  try {
    const make = (store: FileStore, pace: Pace) =>
      makeBackup({
        ...{ connection, destination: store, sealedKeys, pace },
        media: createMediaStorage(config, path.join(dataDir, 'media')),
        signal: stop.signal,
        onWarning: (text) => warnings.push(text),
        onProgress: ({ what, rows, rawBytes, bytes, tables, tablesDone, files }) =>
          line.show(
            `${tablesDone} of ${tables} tables, ${rows} rows, ${describeBytes(rawBytes)} (${describeBytes(bytes)} packed), ${files} files: ${what}`,
          ),
      })
    const { manifest, removed } = await oneAtATime(connection, () =>
      atPace(
        connection,
        paceName,
        async (pace) => {
          const store = openDestination(destination, { pace, staging: await findStaging(config, dataDir) })
          await store.tidy()
          return {
            manifest: await make(store, pace),
            removed: keep === undefined ? [] : await prune(store, keep),
          }
        },
        stop.signal,
      ),
    )
    line.end()
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    const { files } = manifest
    process.stdout.write(
      `${manifest.id}\n${rows} rows and ${files.count} files in ${seconds} s, to ${describeDestination(destination)}${withKeys ? ', with the keys' : ''}\n`,
    )
    if (removed.length > 0) process.stdout.write(`removed: ${removed.join(', ')}\n`)
    for (const text of warnings) process.stderr.write(`parley backup: ${text}\n`)
    if (manifest.foreign.length > 0) {
      process.stderr.write(`parley backup: left out, since they are not of Parley: ${manifest.foreign.join(', ')}\n`)
    }
    if (files.missing > 0) {
      process.stderr.write(
        `parley backup: ${files.missing} files that messages name are not in the storage, such as ${files.examplesOfMissing[0]}\n`,
      )
    }
    return 0
  } finally {
    for (const signal of signals) process.off(signal, interrupt)
    await session.close()
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const

async function seal(config: Config, dataDir: string): Promise<NonNullable<BackupOptions['sealedKeys']>> {
  const { passphrase } = config.backup
  if (passphrase === undefined)
    throw new UsageError('--with-keys seals the keys with BACKUP_PASSPHRASE, which is not set')
  const { apiKey, authKey, masterKey } = await loadKeys(config, dataDir, { mustExist: true })
  const keys = { PARLEY_API_KEY: apiKey, PARLEY_AUTH_KEY: authKey, PARLEY_MASTER_KEY: masterKey }
  return { box: await sealKeys(keys, passphrase), masterKey }
}
