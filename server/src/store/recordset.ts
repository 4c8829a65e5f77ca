import { plainArray, textArray } from './arrays.ts'

/** A column of rows that go to the database together: its name, its type there, and what it has of a row. */
export type Column<Row> =
  | readonly [
      name: string,
      type: 'int' | 'smallint' | 'bigint' | 'boolean',
      read: (row: Row) => number | boolean | null,
    ]
  | readonly [name: string, type: 'text', read: (row: Row) => string | null]
  /** Comes out as text, to be cast row by row: arrays of several lengths cannot be unnested. */
  | readonly [name: string, type: 'text[]', read: (row: Row) => readonly string[] | null]

/** Rows as one array for each column: many cost the driver no more than one. */
export interface Recordset<Row> {
  /** `unnest($1::int[], ...) as r(app_id, ...)` */
  readonly sql: string
  /** The parameters that `sql` takes, in its order. No row may have nothing but nulls. */
  values(rows: readonly Row[]): Array<string | null>
  /** How many parameters that are. */
  readonly length: number
  /** Where the values of a column stand among them. */
  indexOf(name: string): number
}

/**
 * One list makes both the SQL and the values, so that neither can get out of the order of the other.
 * @param alias of the rows in the SQL
 * @param first number of the first parameter
 */
export function createRecordset<Row>(
  columns: ReadonlyArray<Column<Row>>,
  { alias = 'r', first = 1 } = {},
): Recordset<Row> {
  const names = columns.map(([name]) => name)
  const types = columns.map(([, type], i) => `$${first + i}::${type === 'text[]' ? 'text' : type}[]`)
  return {
    sql: `unnest(${types.join(', ')}) as ${alias}(${names.join(', ')})`,
    values: (rows) => columns.map((column) => arrayOf(column, rows)),
    length: columns.length,
    indexOf: (name) => names.indexOf(name),
  }
}

/** No array where it would hold nothing but nulls: unnested beside others it is filled up with them, and costs nobody anything. */
function arrayOf<Row>([, type, read]: Column<Row>, rows: readonly Row[]): string | null {
  const values = rows.map(read as (row: Row) => unknown)
  if (values.every((value) => value === null)) return null
  switch (type) {
    case 'text':
      return textArray(values as Array<string | null>)
    case 'text[]':
      return textArray((values as Array<readonly string[] | null>).map((list) => list && textArray(list)))
    default:
      return plainArray(values as Array<number | boolean | null>)
  }
}
