import pg from 'pg'
import type { Pace } from '../../media/steps.ts'
import { keepFromMigrating } from '../../store/migrate.ts'
import { lowerPriorityOf } from '../../store/priority.ts'
import { type Catalogue, catalogueSql, toCatalogue } from './catalogue.ts'

/** The database as it stood at one moment, whatever is written meanwhile. */
export interface Snapshot {
  readonly catalogue: Catalogue
  /** The last migration that was made. */
  readonly migration: string
  /** Rows as lists of the texts that the database gives of their columns, some thousand at a time. `$1` is the app. */
  read(sql: string, appId: number): AsyncIterable<readonly (readonly (string | null)[])[]>
  close(): Promise<void>
}

const rowsAtFirst = 100
const mostRows = 1000
/** What a row costs here, which is put together out of several tables, beside one that is only copied. */
const timesAsDear = 4
/** Below those of the service, where both run on one machine. */
const niceness = 19

/** Begins to read at one moment, until it is closed. Nothing is migrated meanwhile. */
export async function openSnapshot(connectionString: string, pace: Pace): Promise<Snapshot> {
  const client = new pg.Client({
    connectionString,
    application_name: 'parley export',
    types: { getTypeParser: () => (text: string) => text },
  } as pg.ClientConfig)
  // Whoever waits for an answer is told; nobody else need be.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('set statement_timeout = 0')
    await keepFromMigrating(client)
    await client.query('begin isolation level repeatable read, read only')
    await client.query('set local jit = off')
    const rows = (await client.query(catalogueSql)).rows as Array<Record<string, string>>
    const [last] = (await client.query('select max(name) as name from kysely_migration')).rows as { name: string }[]
    lowerPriorityOf(client, niceness)
    return {
      catalogue: toCatalogue(rows.map((row) => ({ ...row, isRequired: row.isRequired === 't' })) as never),
      migration: last?.name ?? '',
      read: (sql, appId) => readPages(client, sql, appId, pace),
      close: () => client.end(),
    }
  } catch (error) {
    await client.end()
    throw error
  }
}

type Row = (string | null)[]

async function* readPages(client: pg.Client, sql: string, appId: number, pace: Pace) {
  await client.query({ text: `declare export_rows no scroll cursor for ${sql.replaceAll('$1', String(appId))}` })
  try {
    for (let count = rowsAtFirst; ; ) {
      const text = `fetch ${count} from export_rows`
      const { rows } = await pace.step(() => client.query<Row>({ text, rowMode: 'array' }))
      if (rows.length > 0) yield rows
      if (rows.length < count) return
      count = Math.max(1, Math.min(mostRows, Math.round((count * pace.bytesAtOnce) / timesAsDear / sizeOf(rows))))
    }
  } finally {
    await client.query('close export_rows')
  }
}

function sizeOf(rows: readonly Row[]): number {
  return rows.reduce((all, row) => row.reduce((sum, text) => sum + (text?.length ?? 0), all), 1)
}
