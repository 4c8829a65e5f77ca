import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type pg from 'pg'
import type { Pace } from '../media/steps.ts'
import type { FileStore } from '../media/storage.ts'
import type { ConnectionSettings } from '../store/connection.ts'
import { opensWith, readKeyCheck } from '../store/data-keys.ts'
import { migrations } from '../store/migrations/index.ts'
import { tables as declared } from '../tables.ts'
import { version } from '../version.ts'
import { readMigrations, readSequences, readTables, type Table } from './catalog.ts'
import { copyFiles } from './files.ts'
import { BackupError, inBackup, type Manifest, type TableEntry, writeManifest } from './format.ts'
import { inTurns } from './in-turns.ts'
import { fullPace } from './pace.ts'
import { writeParts } from './parts.ts'
import { rowsOf } from './rows.ts'
import { type Share, shareOf } from './share.ts'
import { connect, openSnapshot, type Snapshot } from './snapshot.ts'

export interface Progress {
  /** What is worked on: a table, or the files. */
  readonly what: string
  readonly rows: number
  /** Bytes of rows, unpacked, and those that were written. */
  readonly rawBytes: number
  readonly bytes: number
  readonly tables: number
  readonly tablesDone: number
  readonly files: number
}

export interface BackupOptions {
  readonly connection: ConnectionSettings
  readonly destination: FileStore
  /** Where the files of messages are. */
  readonly media: FileStore
  /** The keys, sealed (keys.ts); absent: they are not in the backup. */
  readonly sealedKeys?: { readonly box: Buffer; readonly masterKey: string } | undefined
  /** Left out: as much as this machine can do beside its service. */
  readonly share?: Share
  /** Left out: as fast as it goes. `destination` is best opened with it, too. */
  readonly pace?: Pace
  readonly onProgress?: (progress: Progress) => void
  /** Called with what does not keep it from being whole. */
  readonly onWarning?: (text: string) => void
  /** Ends it; what was written of it is removed. */
  readonly signal?: AbortSignal
}

const sealedFile = 'keys.sealed'

/**
 * Copies a database, while it serves, and the files of its messages. It is all of one moment: that of the start.
 * @throws BackupError when there is nothing to back up
 */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const { destination, signal } = options
  const startedAt = new Date()
  const id = newId(startedAt)
  const snapshot = await openSnapshot(options.connection)
  try {
    const contents = await copyAll(options, snapshot, id)
    signal?.throwIfAborted()
    const manifest: Manifest = {
      ...{ format: 1, id, startedAt: startedAt.toISOString(), finishedAt: new Date().toISOString(), parley: version },
      ...contents,
    }
    await writeManifest(destination, manifest, (text) => Readable.from([Buffer.from(text)]))
    return manifest
  } catch (error) {
    // What cannot be removed now is by the next that is made with --keep.
    await removeBackup(destination, id).catch(() => {})
    throw error
  } finally {
    await snapshot.close()
  }
}

/** Ids in the order of their times, so that the newest is the last. Those of one second are told apart by the milliseconds that begin what is drawn. */
function newId(startedAt: Date): string {
  const [second, milliseconds] = startedAt.toISOString().replace(/[-:Z]/g, '').split('.')
  return `${second}Z-${milliseconds}${randomBytes(2).toString('hex').slice(1)}`
}

/** Removes a backup, what is missing of it first: its manifest. Files that others use, too, stay. */
export async function removeBackup(destination: FileStore, id: string): Promise<void> {
  const names = await destination.list(inBackup(id, ''))
  const first = inBackup(id, 'manifest.json')
  for (const name of names.sort((one, other) => Number(other === first) - Number(one === first)))
    await destination.remove(name)
  await destination.tidyBelow(inBackup(id, ''))
}

type Contents = Omit<Manifest, 'format' | 'id' | 'startedAt' | 'finishedAt' | 'parley'>

async function copyAll(options: BackupOptions, snapshot: Snapshot, id: string): Promise<Contents> {
  const {
    destination,
    media,
    connection,
    share = shareOf(),
    pace = fullPace,
    signal,
    onProgress = () => {},
    onWarning = () => {},
  } = options
  const applied = await readMigrations(snapshot.client)
  if (applied.length === 0) throw new BackupError('This is no database of Parley: no migration has run in it.')
  const check = await requireKeyCheck(snapshot.client)
  if (options.sealedKeys !== undefined && !opensWith(check, options.sealedKeys.masterKey)) {
    throw new BackupError(
      'The master key here is not that of the database: sealed in the backup, it would open nothing.',
    )
  }
  const { tables, foreign } = describe(await readTables(snapshot.client), applied)
  const progress = { rows: 0, rawBytes: 0, bytes: 0, tables: tables.length, tablesDone: 0, files: 0 }

  const copying: Copying = { snapshot, destination, id, pace, packers: share.packers }
  const entries = await inTurns(tables, share.readers, async (table) => {
    const entry = await copyTable(copying, table, (what, { rows, rawBytes, bytes }) => {
      signal?.throwIfAborted()
      progress.rows += rows
      progress.rawBytes += rawBytes
      progress.bytes += bytes
      onProgress({ ...progress, what })
    })
    progress.tablesDone++
    return entry
  })

  const now = await connect(connection, 'parley backup')
  try {
    const files = await copyFiles({ destination, media, id, snapshot, now, pace, onWarning }, (done) => {
      signal?.throwIfAborted()
      onProgress({ ...progress, files: done.files, what: 'files' })
    })
    const { rows } = await now.query<{ server_version: string }>('show server_version')
    return {
      foreign,
      ...{ postgres: rows[0]?.server_version ?? '', migrations: applied },
      tables: entries.filter((entry) => entry !== undefined),
      // After the tables: no row that was read has an id beyond.
      sequences: await readSequences(now),
      files,
      keys: { check, sealed: await writeKeys(options, id) },
    }
  } finally {
    await now.end()
  }
}

/**
 * Tables that are not ours: no migration makes them, so none could be filled. Of tables as an older version made them it is not known.
 */
function describe(found: readonly Table[], applied: readonly string[]) {
  const isCurrent = Object.keys(migrations).every((name) => applied.includes(name))
  const known = new Set(declared.map(({ name }) => name))
  const isOurs = ({ schema, name }: Table) => !isCurrent || schema !== 'public' || known.has(name)
  return { tables: found.filter(isOurs), foreign: found.filter((table) => !isOurs(table)).map(({ name }) => name) }
}

async function writeKeys({ destination, sealedKeys }: BackupOptions, id: string): Promise<string | null> {
  if (sealedKeys === undefined) return null
  await destination.write(inBackup(id, sealedFile), Readable.from([sealedKeys.box]), 'application/octet-stream')
  return sealedFile
}

async function requireKeyCheck(client: pg.Client): Promise<string> {
  const check = await readKeyCheck((text) => client.query(text))
  if (check === undefined) throw new BackupError('This database has never been served: it names no master key.')
  return check
}

const undefinedTable = '42P01'

interface Copying {
  readonly snapshot: Snapshot
  readonly destination: FileStore
  readonly id: string
  readonly pace: Pace
  readonly packers: number
}

/** @returns undefined where the table is gone: a day of the log that is kept no longer */
async function copyTable(
  { snapshot, destination, id, pace, packers }: Copying,
  table: Table,
  onPart: (what: string, part: { rows: number; rawBytes: number; bytes: number }) => void,
): Promise<TableEntry | undefined> {
  const { schema, name, columns } = table
  const what = `${schema}.${name}`
  try {
    const parts = await snapshot.read((client) =>
      writeParts(destination, id, (number) => `${what}.${number}.copy.gz`, rowsOf(client, table, pace), {
        packers,
        pace,
        onPart: (part) => onPart(what, part),
      }),
    )
    return { schema, name, columns, rows: parts.reduce((sum, { rows }) => sum + rows, 0), parts }
  } catch (error) {
    if ((error as { code?: unknown }).code === undefinedTable && schema !== 'public') return undefined
    throw error
  }
}
