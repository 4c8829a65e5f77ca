import type pg from 'pg'
import { closedMarker } from '../store/migrate.ts'
import type { SequenceEntry, TableEntry } from './format.ts'

/**
 * Where the service's tables are. That of its jobs is none of them: what jobs are for stands in tables, and the service finds there
 * what is to be done.
 */
export const schemas = ['public', 'notification_days'] as const

/** Of the library of migrations, which a restore fills by migrating; and what keeps a database from being served. */
const notKept = ['kysely_migration', 'kysely_migration_lock', closedMarker]

export type Table = Pick<TableEntry, 'schema' | 'name' | 'columns'>

const selectTables = `
  select n.nspname as schema, c.relname as name,
    array(
      select a.attname::text
      from pg_attribute a
      where a.attrelid = c.oid
      and a.attnum > 0
      and not a.attisdropped
      and a.attgenerated = ''
      order by a.attnum
    ) as columns
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r'
  and n.nspname = any($1)
  and c.relname <> all($2)
  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  order by pg_table_size(c.oid) desc, 1, 2`

/** Tables and parts of tables, the largest first, with the columns that hold something of their own. */
export async function readTables(client: pg.ClientBase): Promise<Table[]> {
  return (await client.query<Table>(selectTables, [schemas, notKept])).rows
}

const selectSequences = `
  select schemaname as schema, sequencename as name, last_value::text as "lastValue"
  from pg_sequences
  where schemaname = any($1)
  order by 1, 2`

export async function readSequences(client: pg.ClientBase): Promise<SequenceEntry[]> {
  return (await client.query<SequenceEntry>(selectSequences, [schemas])).rows
}

export async function readMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ there: boolean }>(`select to_regclass('kysely_migration') is not null as there`)
  if (rows[0]?.there !== true) return []
  return (await client.query<{ name: string }>('select name from kysely_migration order by name')).rows.map(
    ({ name }) => name,
  )
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export const nameOf = ({ schema, name }: Pick<Table, 'schema' | 'name'>) => `${quoted(schema)}.${quoted(name)}`

/** As COPY takes it. */
export const withColumns = (table: Table) => `${nameOf(table)} (${table.columns.map(quoted).join(', ')})`
