import { existsSync } from 'node:fs'
import { access, mkdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { checkBackup } from '../backup/check.ts'
import { openDestination } from '../backup/destination.ts'
import type { Finished } from '../backup/finish.ts'
import { BackupError, chooseBackup, inBackup, type Manifest } from '../backup/format.ts'
import { requireKey, type SealedKeys, unsealKeys } from '../backup/keys.ts'
import { createLedgerBucket, type LedgerEntry, readLedger } from '../backup/ledger/destinations.ts'
import { openLedgerDestinations } from '../backup/ledger/open.ts'
import { finishRecovered, requireKnown, requireUnused, restore } from '../backup/restore.ts'
import { connect } from '../backup/snapshot.ts'
import { type Standing, standingOf } from '../backup/target.ts'
import { type Config, readConfig } from '../config/index.ts'
import { loadKeys } from '../keys-file.ts'
import { createMediaStorage } from '../media/create.ts'
import { createFolderStorage } from '../media/folder.ts'
import type { FileStore } from '../media/storage.ts'
import { findDestination } from './backup.ts'
import { describeHeld } from './held.ts'
import { createProgressLine } from './progress.ts'
import { dataDirOf, openEmbedded, openExternal, openSession, type Session } from './session.ts'
import { runCommandLine, UsageError } from './usage.ts'

const help = `Usage: parley restore [<backup>] [options]

Brings a backup back, the newest unless one is named, into an empty database and an empty data folder. The whole backup is checked before
anything is written. Stop the service first.

Options:
  --from <destination>      a folder, or s3://<bucket>/<prefix> (default: BACKUP_TO)
  --replace <name>    where the database or the data folder is not empty: its name, as the refusal says it. What was in a data folder is
                      moved to a folder in it; what was in an external database is removed
  --recovered         the database is back already, by other means, such as a point-in-time recovery: only do what a restore does beyond
                      bringing data back (the ledger, sequences, what is held, cursors)
  -h, --help          show this text

The database is that of DATABASE_URL, else an embedded one in DATA_DIR. The master key is that of PARLEY_MASTER_KEY or keys.env in
DATA_DIR, else that of the backup, if it was made with --with-keys and BACKUP_PASSPHRASE is set.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`

/** Runs `parley restore`. @returns the exit code */
export function restoreCommand(args: string[]): Promise<number> {
  return runCommandLine('restore', help, async () => {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        from: { type: 'string' },
        replace: { type: 'string' },
        recovered: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    if (positionals.length > 1) throw new UsageError('name one backup')
    dotenv.config({ quiet: true })
    const config = readConfig(process.env)
    if (values.recovered === true) return await finishOnly(config, values.from)
    const destination = openDestination(findDestination(config, values.from, '--from'))
    return await bring(config, destination, positionals[0], values.replace)
  })
}

async function bring(
  config: Config,
  destination: FileStore,
  wanted: string | undefined,
  replace: string | undefined,
): Promise<number> {
  const dataDir = dataDirOf(config)
  const line = createProgressLine()
  const id = await chooseBackup(destination, wanted)
  const { manifest, problems } = await checkBackup(destination, id, ({ parts, of, files }) =>
    line.show(`checking ${id}: ${parts} of ${of} parts, ${files} files`),
  )
  if (problems.length > 0) {
    throw new BackupError(`The backup ${id} is damaged, and nothing was written:\n  ${problems.join('\n  ')}`)
  }
  requireKnown(manifest)
  const keys = await findKeys(config, dataDir, destination, manifest)
  requireKey(manifest, keys.masterKey)
  // Read before anything of the data folder is moved.
  const entries = await readLedgers(config, dataDir, destination, Date.parse(manifest.startedAt))
  const target = await openTarget(config, dataDir, replace)
  const begun = performance.now()
  try {
    if (keys.unsealed !== undefined) await writeKeys(dataDir, keys.unsealed)
    const finished = await restore({
      ...{ destination, manifest, connection: target.connection, replace: replace !== undefined },
      ...{ masterKey: keys.masterKey, entries },
      media: createMediaStorage(config, path.join(dataDir, 'media')),
      onProgress: ({ what, rows, of, files }) => line.show(`${rows} of ${of} rows, ${files} files: ${what}`),
    })
    line.end()
    reportRestore(manifest, target, performance.now() - begun)
    reportFinished(finished)
    return 0
  } finally {
    await target.close()
  }
}

function reportRestore(manifest: Manifest, target: Session, took: number): void {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  process.stdout.write(`${manifest.id}, of ${manifest.startedAt}\n`)
  process.stdout.write(
    `${rows} rows and ${manifest.files.count} files in ${(took / 1000).toFixed(1)} s, into ${target.name}\n`,
  )
}

function reportFinished({ applied, held }: Finished): void {
  for (const [what, count] of Object.entries(applied)) {
    process.stdout.write(`Done again, by the ledger: ${count} ${what}\n`)
  }
  for (const line of describeHeld(held)) process.stdout.write(`Held: ${line}\n`)
  if (held.length > 0) process.stdout.write('None of it is sent by itself: see parley held.\n')
}

/** @param from where else a ledger is, beside the places of the configuration */
async function finishOnly(config: Config, from: string | undefined): Promise<number> {
  const dataDir = dataDirOf(config)
  const { masterKey } = config.masterKey === undefined ? await loadKeys(config, dataDir, { mustExist: true }) : config
  const destination = from === undefined ? undefined : openDestination(findDestination(config, from, '--from'))
  const entries = await readLedgers(config, dataDir, destination, 0)
  const session = await openSession(config, { exclusive: true })
  try {
    const { connection } = session
    const finished = await finishRecovered({ connection, masterKey: masterKey as string, entries })
    process.stdout.write(`${session.name} is fit to serve\n`)
    reportFinished(finished)
    return 0
  } finally {
    await session.close()
  }
}

/** From beside the data, from the place of the configuration, and from where the backup is. */
function readLedgers(
  config: Config,
  dataDir: string,
  from: FileStore | undefined,
  backedUpAt: number,
): Promise<LedgerEntry[]> {
  const destinations = [
    ...openLedgerDestinations(config, dataDir, path.join(dataDir, 'media')),
    ...(from === undefined ? [] : [createLedgerBucket(from, 'the place of the backup: ')]),
  ]
  return readLedger(destinations, backedUpAt)
}

interface FoundKeys {
  readonly masterKey: string | undefined
  /** What is to be written into the data folder. */
  readonly unsealed?: SealedKeys
}

async function findKeys(
  config: Config,
  dataDir: string,
  destination: FileStore,
  manifest: Manifest,
): Promise<FoundKeys> {
  if (config.masterKey !== undefined) return { masterKey: config.masterKey }
  const hasFile = await access(path.join(dataDir, 'keys.env')).then(
    () => true,
    () => false,
  )
  if (hasFile) return { masterKey: (await loadKeys(config, dataDir, { mustExist: true })).masterKey }
  const { passphrase } = config.backup
  if (manifest.keys.sealed === null || passphrase === undefined) return { masterKey: undefined }
  const sealed = await buffer(await destination.read(inBackup(manifest.id, manifest.keys.sealed), undefined))
  const unsealed = await unsealKeys(sealed, passphrase)
  return { masterKey: unsealed.PARLEY_MASTER_KEY, unsealed }
}

/** Puts keys where the service looks for them; a file that is there stays. */
async function writeKeys(dataDir: string, keys: SealedKeys): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(path.join(dataDir, 'keys.env'), lines.join(''), { mode: 0o600, flag: 'wx', flush: true })
}

/**
 * Opens the database that is to be filled, if it is empty, or its name was typed.
 * @throws BackupError when it is not empty
 */
async function openTarget(config: Config, dataDir: string, replace: string | undefined): Promise<Session> {
  const isExternal = config.databaseUrl !== undefined
  const open = () =>
    isExternal ? openExternal(config.databaseUrl as string) : openEmbedded(dataDir, { max_wal_size: '4GB' })
  const target = await open()
  try {
    const standing = await readStanding(target)
    const isMediaThere = config.mediaBucket === undefined && (await holdsFiles(path.join(dataDir, 'media')))
    if (standing === 'unfinished' || (standing === 'empty' && !isMediaThere)) return target
    const what = standing === 'data' ? `The database ${target.name}` : `The folder ${path.join(dataDir, 'media')}`
    if (replace === undefined) {
      throw new BackupError(
        `${what} is not empty. To replace what is there, say --replace ${target.name}. Nothing was written.`,
      )
    }
    if (replace !== target.name) throw new BackupError(`--replace is not ${target.name}. Nothing was written.`)
    await requireUnused(target.connection)
  } catch (error) {
    await target.close()
    throw error
  }
  await target.close()
  await moveAside(dataDir, isExternal ? ['media'] : ['postgres', 'media'])
  return open()
}

async function readStanding({ connection }: Session): Promise<Standing> {
  const client = await connect(connection, 'restoring parley')
  try {
    return await standingOf(client)
  } finally {
    await client.end()
  }
}

async function holdsFiles(folder: string): Promise<boolean> {
  return (await createFolderStorage(folder).list('')).some((name) => !name.startsWith('staging/'))
}

/** What was in a data folder is not removed by a restore: it may be all that there is. */
async function moveAside(dataDir: string, names: readonly string[]): Promise<void> {
  const folder = path.join(dataDir, `replaced-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`)
  for (const name of names) {
    if (!existsSync(path.join(dataDir, name))) continue
    await mkdir(folder, { recursive: true, mode: 0o755 })
    await rename(path.join(dataDir, name), path.join(folder, name))
  }
  if (existsSync(folder)) process.stdout.write(`What was there is in ${folder}.\n`)
}
