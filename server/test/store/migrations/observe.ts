import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { migrations as all } from '../../../src/store/migrations/index.ts'
import type { Migration } from '../../../src/store/migrations/migration.ts'
import type { OwnDatabase } from '../../support/own-database.ts'

/** What a migration sent, and where it would keep others out for as long as a table is large. */
export interface Observed {
  /** Its statements, as they were sent. */
  readonly sent: readonly string[]
  /** A sentence each. */
  readonly flaws: readonly string[]
}

/** Rows that a table has to have to count as full. */
const full = 200

/** Locks that keep out those who read or write. */
const strong = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

/** Tables that stay small however much the service is used: a few rows for each app, or for the installation. */
export const small: readonly string[] = [
  'api_keys',
  'apps',
  'data_keys',
  'event_horizon',
  'key_holders',
  'kysely_migration',
  'kysely_migration_lock',
  'moderation_engines',
  'notification_providers',
  'operators',
  'presence_nodes',
  'search_progress',
  'settings',
  'webhooks',
]

interface Table {
  readonly name: string
  readonly rows: number
  readonly file: string
  readonly read: number
  readonly changed: number
}

/**
 * Runs a migration on full tables as the service would, and looks after each statement what it holds and what it has done. Whether it
 * would be slow is no matter of time: one that goes through a whole table while it keeps others out is.
 * @param undo nothing of it stays
 */
export async function observe(client: pg.Client, migration: Migration, { undo = false } = {}): Promise<Observed> {
  const sent: string[] = []
  const flaws: string[] = []
  let before = await look(client)
  const inspect = async (text: string) => {
    if (!/^\s*(begin|start|commit|rollback|select|set )/i.test(text)) sent.push(text)
    if (migration.outside === true || /^\s*(commit|rollback)/i.test(text)) return
    const after = await look(client)
    const held = await locksOf(client)
    for (const [name, table] of before) {
      if (table.rows < full || small.includes(name)) continue
      const now = after.get(name)
      const lock = held.get(name)
      const what = firstLine(text)
      if (now === undefined) flaws.push(`${what}: it drops ${name}, which older processes still use`)
      else if (now.changed - table.changed >= full)
        flaws.push(
          `${what}: it changes ${now.changed - table.changed} rows of ${name} at once, which nobody else can change until it ends`,
        )
      else if (lock !== undefined && now.file !== table.file)
        flaws.push(`${what}: it writes ${name} anew under ${lock}`)
      else if (lock !== undefined && now.read - table.read >= table.rows)
        flaws.push(`${what}: it reads all of ${name} under ${lock}`)
    }
    before = after
  }
  const lent = {
    query: async (config: string | pg.QueryConfig, values?: unknown[]) => {
      const answer = await client.query(config as pg.QueryConfig, values as unknown[])
      await inspect(typeof config === 'string' ? config : config.text)
      return answer
    },
    release() {},
  }
  const pool = { connect: async () => lent, end: async () => {} }
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: pool as unknown as pg.Pool }) })
  if (migration.outside === true) await migration.up(db)
  else {
    const undone = new Error('undone')
    const work = db.transaction().execute(async (tx) => {
      await migration.up(tx)
      if (undo) throw undone
    })
    await work.catch((error: unknown) => {
      if (error !== undone) throw error
    })
  }
  return { sent, flaws }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.trim().slice(0, 80) ?? ''
}

async function look(client: pg.Client): Promise<Map<string, Table>> {
  const { rows } = await client.query<Table>(`
    select c.relname as name, greatest(c.reltuples, 0)::int as rows, pg_relation_filenode(c.oid)::text as file,
      coalesce(s.seq_tup_read, 0)::int as read, coalesce(s.n_tup_upd + s.n_tup_del, 0)::int as changed
    from pg_class c
    left join pg_stat_xact_user_tables s on s.relid = c.oid
    where c.relnamespace = 'public'::regnamespace
    and c.relkind = 'r'`)
  return new Map(rows.map((table) => [table.name, table]))
}

async function locksOf(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; mode: string }>(
    `select c.relname as name, l.mode
    from pg_locks l
    join pg_class c on c.oid = l.relation
    where l.pid = pg_backend_pid()
    and l.granted
    and l.mode = any($1)`,
    [strong],
  )
  return new Map(rows.map(({ name, mode }) => [name, mode]))
}

/** The migrations after one, in their order. */
export function migrationsAfter(name: string): Array<[string, Migration]> {
  return Object.entries(all).filter(([other]) => other > name)
}

/** The names of the migrations up to one. */
export function migrationsUpTo(name: string): string[] {
  return Object.keys(all).filter((other) => other <= name)
}

/** Brings an empty database to where a version left it, and fills every table of it. */
export async function fillDatabase({ connection }: Pick<OwnDatabase, 'connection'>, upTo: string): Promise<pg.Client> {
  const client = new pg.Client(connection)
  await client.connect()
  const lent = { query: client.query.bind(client), release() {} }
  const pool = { connect: async () => lent, end: async () => {} }
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: pool as unknown as pg.Pool }) })
  await db.transaction().execute(async (tx) => {
    for (const [name, { up }] of Object.entries(all)) if (name <= upTo) await up(tx)
  })
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  for (const { name } of tables) if (!small.includes(name)) await fill(client, name)
  await client.query('analyze')
  return client
}

interface Column {
  readonly name: string
  readonly type: string
}

/** Rows that mean nothing, and differ in each column. */
async function fill(client: pg.Client, table: string): Promise<void> {
  const { rows: columns } = await client.query<Column>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_attribute a
    where a.attrelid = $1::regclass
    and a.attnum > 0
    and not a.attisdropped
    and a.attgenerated = ''
    and a.attidentity = ''`,
    [table],
  )
  await client.query(`alter table ${table} disable trigger user`)
  const names = columns.map(({ name }) => `"${name}"`)
  const values = columns.map(({ name, type }) => sampleOf(table, name, type))
  await client.query(
    `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from generate_series(1, ${full * 2}) g`,
  )
  await client.query(`alter table ${table} enable trigger user`)
}

function sampleOf(table: string, column: string, type: string): string {
  if (type.endsWith('[]')) return `'{}'::${type}`
  if (/^(smallint|integer|bigint|numeric|real|double precision)$/.test(type)) return `g::${type}`
  if (type === 'boolean') return 'g % 2 = 0'
  if (type === 'bytea') return `decode(md5(g::text), 'hex')`
  if (/^jsonb?$/.test(type)) return `'{}'::${type}`
  if (type === 'tsvector') return `to_tsvector('simple', g::text)`
  if (/^(text|character varying)/.test(type)) return `'x' || g`
  if (type === 'date') return `date '2026-01-01' + g`
  const [, bits] = /^bit\((\d+)\)$/.exec(type) ?? []
  if (bits !== undefined) return `repeat('0', ${bits})::${type}`
  if (/^timestamp/.test(type)) return `now()`
  if (type === 'uuid') return 'gen_random_uuid()'
  throw new Error(`${table}.${column}: say how a value of type ${type} is made`)
}
