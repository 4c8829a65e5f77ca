import type { FileStore } from '../media/storage.ts'
import type { ConnectionSettings } from '../store/connection.ts'
import { openSecrets } from '../store/data-keys.ts'
import { openDatabase } from '../store/database.ts'
import { ClosedDatabaseError, finishMigrating, NewerDatabaseError } from '../store/migrate.ts'
import { migrations } from '../store/migrations/index.ts'
import { copyFile, readFileList } from './files.ts'
import { type Finished, finish } from './finish.ts'
import { BackupError, filesFolder, type Manifest } from './format.ts'
import { inTurns } from './in-turns.ts'
import type { LedgerEntry } from './ledger/destinations.ts'
import { load } from './load.ts'
import { connect } from './snapshot.ts'
import { clear, close, isServed, open, reasonClosed, standingOf } from './target.ts'

export interface RestoreProgress {
  readonly what: string
  readonly rows: number
  readonly of: number
  readonly files: number
}

export interface RestoreOptions {
  readonly destination: FileStore
  /** Of a backup that was checked. */
  readonly manifest: Manifest
  readonly connection: ConnectionSettings
  /** Where the files go; absent: nowhere. */
  readonly media?: FileStore | undefined
  /** That of the backup; absent: nothing can be unsealed, which an empty ledger does not need. */
  readonly masterKey: string | undefined
  /** Of the ledger, from everywhere that it is kept. */
  readonly entries: readonly LedgerEntry[]
  /** Whether what stands in the database goes first. */
  readonly replace?: boolean
  readonly onProgress?: (progress: RestoreProgress) => void
}

/** @throws NewerDatabaseError when this version does not know the tables of a backup */
export function requireKnown({ migrations: names, parley }: Manifest): void {
  const unknown = names.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length > 0) throw new NewerDatabaseError(parley, unknown)
}

/**
 * Brings a backup back into a database that nobody uses. As long as it is not finished, the service does not start on it.
 * @throws BackupError when the database is not empty, or is in use
 */
export async function restore(options: RestoreOptions): Promise<Finished> {
  const { destination, manifest, connection, media, onProgress = () => {} } = options
  requireKnown(manifest)
  const client = await connect(connection, 'restoring parley')
  try {
    if (await isServed(client)) {
      throw new BackupError(inUse)
    }
    const standing = await standingOf(client)
    if (standing === 'data' && options.replace !== true) {
      throw new BackupError('This database is not empty. Nothing was written.')
    }
    await close(client, unfinishedRestore(manifest.id), false)
    await clear(client)
    const progress = { rows: 0, of: 0, files: 0 }
    await load({ destination, manifest, connection }, (done) => onProgress(Object.assign(progress, done)))
    if (media !== undefined) {
      await bringFiles(destination, manifest, media, (files) => onProgress({ ...progress, files, what: 'files' }))
    }
    await finishMigrating(connection)
    const { masterKey, entries } = options
    const finished = await finish(client, { connection, sequences: manifest.sequences, entries, masterKey })
    await open(client)
    return finished
  } finally {
    await client.end()
  }
}

/**
 * Does to a database that was brought back by other means (a point-in-time recovery, a dump, a snapshot of its disk) what a restore does
 * beyond bringing data back. As long as it is not finished, the service does not start on it.
 * @throws BackupError when a service uses it
 * @throws ClosedDatabaseError when it is closed for another reason than that this was not finished
 */
export async function finishRecovered({
  connection,
  masterKey,
  entries,
}: {
  readonly connection: ConnectionSettings
  readonly masterKey: string
  readonly entries: readonly LedgerEntry[]
}): Promise<Finished> {
  const client = await connect(connection, 'restoring parley')
  try {
    if (await isServed(client)) throw new BackupError(inUse)
    const reason = await reasonClosed(client)
    if (reason !== undefined && reason !== unfinishedRecovery) throw new ClosedDatabaseError(reason)
    await finishMigrating(connection)
    const database = openDatabase(connection)
    await openSecrets(database, [masterKey]).finally(() => database.close())
    await close(client, unfinishedRecovery, true)
    const finished = await finish(client, { connection, entries, masterKey })
    await open(client)
    return finished
  } finally {
    await client.end()
  }
}

/** @throws BackupError when a service uses the database */
export async function requireUnused(connection: ConnectionSettings): Promise<void> {
  const client = await connect(connection, 'restoring parley')
  try {
    if (await isServed(client)) throw new BackupError(inUse)
  } finally {
    await client.end()
  }
}

const inUse = 'A service or a command uses this database at the moment: stop it first. Nothing was written.'

const unfinishedRecovery =
  'This database was being made fit to serve, and that was not finished. Run `parley restore --recovered` again.'

const unfinishedRestore = (id: string) =>
  `The backup ${id} was being restored into this database, and that was not finished: what is there is not whole. Run \`parley restore\` again.`

/** Files that are copied at the same time. */
const atOnce = 4

async function bringFiles(
  destination: FileStore,
  manifest: Manifest,
  media: FileStore,
  onProgress: (files: number) => void,
): Promise<void> {
  let files = 0
  const bring = async ({ path, bytes, sha256 }: { path: string; bytes: number; sha256: string }) => {
    // A bucket may have it still; a file never changes.
    if ((await media.sizeOf(path)) !== bytes) {
      const copied = await copyFile(destination, `${filesFolder}${path}`, media, path)
      if (copied.sha256 !== sha256) throw new BackupError(`The file ${path} did not arrive as it was.`)
    }
    onProgress(++files)
  }
  let batch: { path: string; bytes: number; sha256: string }[] = []
  for await (const file of readFileList(destination, manifest)) {
    batch.push(file)
    if (batch.length < 500) continue
    await inTurns(batch, atOnce, bring)
    batch = []
  }
  await inTurns(batch, atOnce, bring)
}
