import type { ExportedTable } from './places.ts'

/** A column of a table, as the database has it. */
export interface Column {
  readonly type: string
  readonly isRequired: boolean
  /** SQL of its default. */
  readonly default: string | null
}

export type Catalogue = ReadonlyMap<string, ReadonlyMap<string, Column>>

/** Gives every column of every table of the service: table, column, type, isRequired, default. */
export const catalogueSql = `
  select c.relname as "table", a.attname as "column", format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull as "isRequired", pg_get_expr(d.adbin, d.adrelid) as "default"
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where n.nspname = current_schema()
  and c.relkind in ('r', 'p')
  and not c.relispartition
  and a.attnum > 0
  and not a.attisdropped
  order by c.relname, a.attnum`

export function toCatalogue(
  rows: ReadonlyArray<{ readonly table: string; readonly column: string } & Column>,
): Catalogue {
  const tables = new Map<string, Map<string, Column>>()
  for (const { table, column, ...rest } of rows) {
    const columns = tables.get(table) ?? new Map<string, Column>()
    tables.set(table, columns.set(column, rest))
  }
  return tables
}

export function columnOf(catalogue: Catalogue, { table }: ExportedTable, column: string): Column {
  const found = catalogue.get(table)?.get(column)
  if (found === undefined) throw new Error(`the table ${table} has no column ${column}`)
  return found
}
