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
import pg from 'pg'
import { types } from './connection.ts'

/** A fixed SQL text. It is parsed once per connection, under its name, and run again without parsing. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Makes a named statement; the name comes from the text, so that equal texts share one. */
export function statement(text: string): Statement {
  return { name: createHash('sha1').update(text).digest('base64url').slice(0, 20), text }
}

/** A statement whose rows are lists of their columns, and whose `json` is not parsed but given as its text. */
export interface JsonStatement extends Statement {
  readonly rowMode: 'array'
  readonly types: pg.CustomTypesConfig
}

/** For pages that are passed on nearly as they are: whoever parses them would only write them out again. */
export function jsonAsText(fixed: Statement): JsonStatement {
  return { ...fixed, rowMode: 'array', types: textOfJson }
}

const textOfJson: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.JSON ? String : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
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

/** Most texts that get a name; each takes memory on every connection. What a list with its usual filters composes fits in. */
const maxNames = 500
const names = new Map<string, string>()

/**
 * The text of a composed statement with its parameters. The first texts that occur get a name, so that the database
 * parses and plans them once per connection: for a short page that takes longer than reading it.
 */
export function compileFragment(fragment: Fragment): { name?: string; text: string; values: unknown[] } {
  const { sql: text, parameters } = fragment.compile(compiler)
  const values = parameters as unknown[]
  let name = names.get(text)
  if (name === undefined && names.size < maxNames) {
    name = statement(text).name
    names.set(text, name)
  }
  return name === undefined ? { text, values } : { name, text, values }
}

/** A fixed statement out of fragments, whose parameters are written as `$1`, `$2` (`sql.raw`). */
export function fixedStatement(fragment: Fragment): Statement {
  const { sql: text, parameters } = fragment.compile(compiler)
  if (parameters.length > 0) throw new Error(`a fixed statement has values of its own: ${text}`)
  return statement(text)
}
