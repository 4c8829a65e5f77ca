import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { ConnectionSettings } from '../store/connection.ts'
import { openDatabase } from '../store/database.ts'
import { migrateTo } from '../store/migrate.ts'
import { nameOf, readMigrations, readSequences, readTables, type Table, withColumns } from './catalog.ts'
import { moveSequences, resumeJobs } from './finish.ts'
import { BackupError } from './format.ts'
import { inTurns } from './in-turns.ts'
import { finishLoading, type LoadProgress, prepareLoading } from './load.ts'
import { connect, openSnapshot, type Snapshot, whole } from './snapshot.ts'
import { clear, close, isServed, open, standingOf } from './target.ts'

export interface Moved {
  readonly tables: number
  readonly rows: number
}

const unfinished =
  'A database was being moved into this one, and that was not finished: what is there is not whole. Run `parley database move` again.'

/** Tables that are copied at the same time. */
const atOnce = 2

/**
 * Moves all that a database holds into an empty one, table by table, without anything between. It goes on there as if nothing had been:
 * ids, jobs that wait, and what is due stay as they were. The source is left as it is, but no service starts on it any more.
 * @param targetName what whoever starts the source is told
 * @throws BackupError when a service uses one of the two, or the target is not empty
 */
export async function moveDatabase(
  {
    from,
    to,
    targetName,
  }: {
    readonly from: ConnectionSettings
    readonly to: ConnectionSettings
    readonly targetName: string
  },
  onProgress: (progress: LoadProgress) => void,
): Promise<Moved> {
  const source = await connect(from, 'moving parley')
  const target = await connect(to, 'moving parley').catch(async (error) => {
    await source.end()
    throw error
  })
  try {
    await requireUnused(source, 'source')
    await requireUnused(target, 'target')
    if ((await standingOf(target)) === 'data') throw new BackupError('The target is not empty. Nothing was written.')
    // Whoever starts the source meanwhile waits, and is told in the end.
    const snapshot = await openSnapshot(from, { isAlone: true })
    try {
      // One may have started between the two.
      await requireUnused(source, 'source', ['parley backup', 'parley migrations'])
      return await move(snapshot, source, target, { to, targetName }, onProgress)
    } finally {
      await snapshot.close()
    }
  } finally {
    await Promise.all([source.end(), target.end()])
  }
}

async function requireUnused(client: pg.Client, name: string, except: readonly string[] = []): Promise<void> {
  if (await isServed(client, except))
    throw new BackupError(`A service or a command uses the ${name} at the moment: stop it first.`)
}

async function move(
  snapshot: Snapshot,
  source: pg.Client,
  target: pg.Client,
  { to, targetName }: { readonly to: ConnectionSettings; readonly targetName: string },
  onProgress: (progress: LoadProgress) => void,
): Promise<Moved> {
  const migrations = await readMigrations(snapshot.client)
  if (migrations.length === 0) throw new BackupError('The source is no database of Parley: no migration has run in it.')
  await close(target, unfinished, false)
  await clear(target)
  await migrateTo(to, migrations, 'another version')
  const found = await readTables(snapshot.client)
  const tables = await inTurns(found, atOnce, async (table) => ({ ...table, rows: await countRows(snapshot, table) }))
  const indexes = await prepareLoading(target, tables)
  const of = tables.reduce((sum, { rows }) => sum + rows, 0)
  let rows = 0
  await inTurns(tables, atOnce, async (table) => {
    const copied = await copyAcross(snapshot, table, to)
    if (copied !== table.rows) throw new BackupError(`Of ${table.rows} rows of ${nameOf(table)}, ${copied} arrived.`)
    rows += copied
    onProgress({ what: `${table.schema}.${table.name}`, rows, of })
  })
  await finishLoading([target], tables, indexes, (what) => onProgress({ what, rows, of }))
  await moveSequences(target, await readSequences(source), 0n)
  const database = openDatabase(to)
  await resumeJobs(database).finally(() => database.close())
  // From here on the target counts. Whoever starts the source by mistake is told.
  await close(source, `This database was moved to ${targetName}. Start the service with that one.`, true)
  await open(target)
  return { tables: tables.length, rows }
}

async function countRows(snapshot: Snapshot, table: Table): Promise<number> {
  return snapshot.read(async (client) => {
    const { rows } = await client.query<{ count: number }>(`select count(*) as count from ${nameOf(table)}`)
    return rows[0]?.count ?? 0
  })
}

async function copyAcross(snapshot: Snapshot, table: Table, to: ConnectionSettings): Promise<number> {
  const client = await connect(to, 'moving parley')
  return whole([client], async () => {
    await client.query('set synchronous_commit = off')
    return snapshot.read(async (reader) => {
      const into = client.query(copyFrom(`copy ${withColumns(table)} from stdin`))
      await pipeline(reader.query(copyTo(`copy ${withColumns(table)} to stdout`)), into)
      return into.rowCount
    })
  })
}
