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
import { LRUCache } from 'lru-cache'

/** A fixed SQL text. It is parsed once per connection, under its name, and run again without parsing. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** It changes rows or locks them, so it may have to wait for whoever has locked them before. */
  readonly locks?: boolean
}

const locking = /\b(insert\s+into|delete\s+from|update\s+[a-z_]+|for\s+(no\s+key\s+)?update|for\s+(key\s+)?share)\b/i

/** Makes a named statement; the name comes from the text, so that equal texts share one. */
export function statement(text: string): Statement {
  const name = createHash('sha1').update(text).digest('base64url').slice(0, 20)
  return { name, text, locks: locking.test(text) }
}

/** A statement whose rows are lists of their columns: for what is read most, since making an object of names costs more. */
export interface OrderedStatement extends Statement {
  readonly rowMode: 'array'
}

export function inOrder(fixed: Statement): OrderedStatement {
  return { ...fixed, rowMode: 'array' }
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

/**
 * Names of composed texts, those that came last. One that is forgotten is made again from its text when that comes back, and
 * is the same: whoever composes ever new ones takes no name from anybody. How many a connection keeps is in `reads.ts`.
 */
const names = new LRUCache<string, string>({ max: 500 })

/**
 * The text of a composed statement with its parameters, under a name, so that the database parses and plans it once per
 * connection: for a short page that takes longer than reading it.
 */
export function compileFragment(fragment: Fragment): { name: string; text: string; values: unknown[] } {
  const { sql: text, parameters } = fragment.compile(compiler)
  let name = names.get(text)
  if (name === undefined) {
    name = statement(text).name
    names.set(text, name)
  }
  return { name, text, values: parameters as unknown[] }
}

/** A fixed statement out of fragments, whose parameters are written as `$1`, `$2` (`sql.raw`). */
export function fixedStatement(fragment: Fragment): Statement {
  const { sql: text, parameters } = fragment.compile(compiler)
  if (parameters.length > 0) throw new Error(`a fixed statement has values of its own: ${text}`)
  return statement(text)
}
