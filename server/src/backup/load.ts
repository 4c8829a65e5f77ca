import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { creationOfDay } from '../delivery/notifications/days.ts'
import type { FileStore } from '../media/storage.ts'
import type { ConnectionSettings } from '../store/connection.ts'
import { migrateTo } from '../store/migrate.ts'
import { nameOf, readTables, type Table, withColumns } from './catalog.ts'
import { BackupError, type Manifest, type TableEntry } from './format.ts'
import { inTurns } from './in-turns.ts'
import { type Index, readIndexes } from './indexes.ts'
import { readPart } from './parts.ts'
import { connect, whole } from './snapshot.ts'

export interface LoadProgress {
  readonly what: string
  readonly rows: number
  readonly of: number
}

/** Tables with fewer rows keep their indexes while they are filled. */
const manyRows = 20_000

/** Loading has nothing to lose: what is not finished begins anew. */
const loading = `set synchronous_commit = off; set maintenance_work_mem = '256MB'`

/**
 * Fills an empty database with the tables of a backup, as they were: made by the same migrations, then filled without triggers,
 * since what these would write is in the backup, too.
 * @param workers connections that load at the same time
 * @throws BackupError when what arrives is not what the manifest says
 */
export async function load(
  {
    destination,
    manifest,
    connection,
    workers = 3,
  }: {
    readonly destination: FileStore
    readonly manifest: Manifest
    readonly connection: ConnectionSettings
    readonly workers?: number
  },
  onProgress: (progress: LoadProgress) => void,
): Promise<void> {
  await migrateTo(connection, manifest.migrations, manifest.parley)
  const clients = await Promise.all(Array.from({ length: workers }, () => connect(connection, 'restoring parley')))
  await whole(clients, async () => {
    const [client] = clients as [pg.Client]
    for (const each of clients) await each.query(loading)
    const { tables } = manifest
    const indexes = await prepareLoading(client, tables)
    const of = tables.reduce((sum, { rows }) => sum + rows, 0)
    let rows = 0
    const parts = tables.flatMap((table) => table.parts.map((part) => ({ table, part })))
    await onClients(clients, parts, async (on, { table, part }) => {
      const loaded = await loadPart(on, table, await readPart(destination, manifest.id, part))
      if (loaded !== part.rows) throw new BackupError(`${part.file} brought ${loaded} rows, not ${part.rows}.`)
      rows += loaded
      onProgress({ what: `${table.schema}.${table.name}`, rows, of })
    })
    await finishLoading(clients, tables, indexes, (what) => onProgress({ what, rows, of }))
  })
}

type Filled = Table & Pick<TableEntry, 'rows'>

/**
 * Makes tables ready to be filled: empty, without triggers, the large ones without indexes.
 * @returns the indexes that are to be made afterwards, those of the first tables first
 * @throws BackupError where the database has other tables
 */
export async function prepareLoading(client: pg.Client, tables: readonly Filled[]): Promise<Index[]> {
  await makeDays(client, tables)
  await compareTables(client, tables)
  // First: the trigger of the audit log lets nobody empty it.
  for (const table of tables) await client.query(`alter table ${nameOf(table)} disable trigger user`)
  await client.query(`truncate ${tables.map(nameOf).join(', ')}`)
  const dropped: Index[] = []
  for (const table of tables) {
    if (table.rows < manyRows) continue
    for (const index of await readIndexes(client, table)) {
      await client.query(index.drop)
      dropped.push(index)
    }
  }
  return dropped
}

/** Makes indexes, statistics and triggers of tables that were filled. */
export async function finishLoading(
  clients: readonly pg.Client[],
  tables: readonly Filled[],
  indexes: readonly Index[],
  onProgress: (what: string) => void,
): Promise<void> {
  const [client] = clients as [pg.Client]
  onProgress('indexes')
  await onClients(clients, indexes, (on, { create }) => on.query(create))
  for (const table of tables) await client.query(`alter table ${nameOf(table)} enable trigger user`)
  onProgress('statistics')
  await client.query('analyze')
}

/** The parts of the log of notifications that the service made as the days came. */
async function makeDays(client: pg.Client, tables: readonly Table[]): Promise<void> {
  const days = tables.flatMap(({ schema, name }) => {
    const day = schema === 'notification_days' ? /^day_(\d+)$/.exec(name)?.[1] : undefined
    return day === undefined ? [] : [Number(day)]
  })
  await client.query('begin')
  for (const day of days) for (const statement of creationOfDay(day)) await client.query(statement)
  await client.query('commit')
}

/** Migrations make what they made; if not, nothing is loaded into what is something else. */
async function compareTables(client: pg.Client, tables: readonly Table[]): Promise<void> {
  const there = new Map((await readTables(client)).map((table) => [nameOf(table), table]))
  for (const table of tables) {
    const found = there.get(nameOf(table))
    if (found === undefined) throw new BackupError(`There is a table ${nameOf(table)} that the migrations do not make.`)
    if (found.columns.toSorted().join() !== table.columns.toSorted().join()) {
      throw new BackupError(`The columns of ${nameOf(table)} are not those that the migrations make.`)
    }
  }
}

async function loadPart(client: pg.Client, table: Table | TableEntry, lines: NodeJS.ReadableStream): Promise<number> {
  const into = client.query(copyFrom(`copy ${withColumns(table)} from stdin`))
  await pipeline(lines, into)
  return into.rowCount
}

/** Each client takes the next piece of work as soon as it is free. */
async function onClients<Item>(
  clients: readonly pg.Client[],
  items: readonly Item[],
  work: (client: pg.Client, item: Item) => Promise<unknown>,
): Promise<void> {
  const free = [...clients]
  await inTurns(items, clients.length, async (item) => {
    const client = free.pop() as pg.Client
    try {
      await work(client, item)
    } finally {
      free.push(client)
    }
  })
}
