import { createHash } from 'node:crypto'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely'

/** A fixed SQL text. It is parsed once per connection, under its name, and run again without parsing. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Makes a named statement; the name comes from the text, so that equal texts share one. */
export function statement(text: string): Statement {
  return { name: createHash('sha1').update(text).digest('base64url').slice(0, 20), text }
}

/**
 * The text of a PostgreSQL array of texts, for where each row of an unnested parameter has an array of its own. A column
 * of array literals is a parameter of type `text[]`, cast row by row.
 */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** A piece of SQL with its parameters, composed at run time with the tag `sql`. */
export type Fragment<Row = unknown> = RawBuilder<Row>

/** Joins conditions with `and`; no condition is `true`. */
export function allOf(conditions: readonly Fragment[]): Fragment {
  return conditions.length === 0 ? sql`true` : sql.join(conditions.slice(), sql`\n  and `)
}

const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

export function compileFragment(fragment: Fragment): { text: string; values: unknown[] } {
  const { sql: text, parameters } = fragment.compile(compiler)
  return { text, values: parameters as unknown[] }
}
