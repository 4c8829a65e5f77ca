import { readPasswordHash } from '../../../chat/groups/password.ts'
import { nameKey } from '../../../chat/users/rows.ts'
import { textArray } from '../../../store/arrays.ts'
import { type Statement, statement } from '../../../store/statement.ts'
import { type Catalogue, columnOf } from '../../export/catalogue.ts'
import type { ExportedTable } from '../../export/places.ts'

export type ExportedRecord = Readonly<Record<string, unknown>>

/** How records of a place are stored: one statement for many. */
export interface Insertion {
  /** `$1` is the app. */
  readonly statement: Statement
  values(records: readonly ExportedRecord[]): string[]
}

const kindNumbers: Readonly<Record<string, string>> = { user: '1', group: '2' }

const namedConversation = `(
    select k.key
    from conversations k
    where k.app_id = $1
    and k.kind = case split_part(r.conversation, '/', 1) when 'user' then 1 else 2 end
    and k.first = split_part(r.conversation, '/', 2)
    and k.second = split_part(r.conversation, '/', 3))`

interface Input {
  readonly column: string
  /** SQL of the column's value. */
  readonly value: string
  read(record: ExportedRecord): string | null
}

export function insertionOf(catalogue: Catalogue, place: ExportedTable): Insertion {
  const inputs = [...place.members].map(([member, column]) => inputOf(catalogue, place, member, column))
  const helpers = Object.values(place.makes).includes('r.name_key')
    ? [{ column: 'name_key', read: ({ name }: ExportedRecord) => nameKey(String(name)) }]
    : []
  const names = [...inputs.map(({ column }) => column), ...helpers.map(({ column }) => column)]
  const made = Object.entries(place.makes)
  const columns = [...inputs.map(({ column }) => column), ...made.map(([column]) => column)]
  const values = [...inputs.map(({ value }) => value), ...made.map(([, value]) => value)]
  const arrays = names.map((_, i) => `$${i + 2}::text[]`)
  return {
    statement: statement(`
      insert into ${place.table} (app_id, ${columns.map(quoted).join(', ')})
      select $1::int, ${values.join(', ')}
      from unnest(${arrays.join(', ')}) with ordinality as r(${names.map(quoted).join(', ')}, record_place)
      order by r.record_place`),
    values: (records) => [...inputs, ...helpers].map(({ read }) => textArray(records.map(read))),
  }
}

function inputOf(catalogue: Catalogue, place: ExportedTable, member: string, column: string): Input {
  const { type, isRequired, default: otherwise } = columnOf(catalogue, place, column)
  const name = quoted(column)
  if (column === 'conversation') return { column, value: namedConversation, read: (record) => asText(record[member]) }
  if (member === 'receiverType')
    return { column, value: `r.${name}::smallint`, read: (record) => kindNumbers[String(record[member])] ?? null }
  if (member === 'passwordHash')
    return {
      ...{ column, value: `r.${name}::bytea` },
      read: ({ passwordHash }) =>
        typeof passwordHash === 'string' ? `\\x${readPasswordHash(passwordHash).toString('hex')}` : null,
    }
  const cast = `r.${name}::${type}`
  const value = isRequired && otherwise !== null ? `coalesce(${cast}, ${otherwise})` : cast
  if (type === 'json' || type === 'jsonb')
    return {
      ...{ column, value },
      read: (record) => (record[member] === undefined ? null : JSON.stringify(record[member])),
    }
  if (type.endsWith('[]'))
    return {
      ...{ column, value },
      read: (record) => {
        const list = record[member]
        return Array.isArray(list) ? textArray(list.map(asText)) : null
      },
    }
  return { column, value, read: (record) => asText(record[member]) }
}

function asText(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value)
}

/** Columns may be named as words of SQL are. */
function quoted(column: string): string {
  return `"${column}"`
}
