import type pg from 'pg'
import { nameOf, quoted, type Table } from './catalog.ts'

/** An index, as statements: filling a table is faster without, and making them afterwards is, too. */
export interface Index {
  readonly drop: string
  readonly create: string
}

const selectIndexes = `
  select i.indexrelid::regclass::text as index, pg_get_indexdef(i.indexrelid) as definition,
    c.conname as constraint, pg_get_constraintdef(c.oid) as "constraintDefinition"
  from pg_index i
  left join pg_constraint c on c.conindid = i.indexrelid and c.conrelid = i.indrelid and c.contype in ('p', 'u', 'x')
  where i.indrelid = $1::regclass
  and not exists (select from pg_inherits h where h.inhrelid = i.indexrelid)
  order by i.indexrelid`

interface Row {
  readonly index: string
  readonly definition: string
  readonly constraint: string | null
  readonly constraintDefinition: string | null
}

/** The indexes of a table, those of its keys among them. Nothing refers to keys: there are no foreign ones. */
export async function readIndexes(client: pg.ClientBase, table: Table): Promise<Index[]> {
  const { rows } = await client.query<Row>(selectIndexes, [nameOf(table)])
  return rows.map(({ index, definition, constraint, constraintDefinition }) => {
    if (constraint === null) return { drop: `drop index ${index}`, create: definition }
    const alter = `alter table ${nameOf(table)}`
    return {
      drop: `${alter} drop constraint ${quoted(constraint)}`,
      create: `${alter} add constraint ${quoted(constraint)} ${constraintDefinition}`,
    }
  })
}
