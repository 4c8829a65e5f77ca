import type { Statement } from './statement.ts'

/**
 * A statement that looks up rows by their keys, at most one for each. `$1` is the app, and each further parameter a list
 * with one column of the keys.
 */
export interface Lookup<Row = never> extends Statement {
  /** The columns of a row's key, in the order of the parameters. */
  readonly keyOf: (row: Row) => readonly unknown[]
}

export function lookup<Row>(fixed: Statement, keyOf: (row: Row) => readonly unknown[]): Lookup<Row> {
  return { ...fixed, keyOf }
}

export function isLookup(asked: Statement): asked is Lookup {
  return 'keyOf' in asked
}

/** Asks for what many requests look up at the same moment at once. */
export interface Lookups {
  /** @param values the app, and the columns of the keys */
  ask<Row>(asked: Lookup, values: readonly unknown[]): Promise<Row[]>
}

interface Waiting {
  readonly keys: readonly string[]
  readonly resolve: (rows: unknown[]) => void
  readonly reject: (error: unknown) => void
}

/** What is looked up by one statement for one app. */
interface Batch {
  readonly asked: Lookup
  readonly appId: unknown
  /** The columns of all keys. */
  readonly columns: unknown[][]
  readonly waiting: Waiting[]
}

/** Whoever looks up more than this at once does so by themselves. */
const maxKeys = 200

/**
 * Gathers what is looked up in one turn of the event loop: when many requests come at the same time, each of which looks up
 * who acts, that is one query. Each is still asked after its request came.
 */
export function createLookups(query: (asked: Statement, values: unknown[]) => Promise<unknown[]>): Lookups {
  let batches = new Map<string, Batch>()

  const send = () => {
    const due = batches
    batches = new Map()
    for (const batch of due.values()) void answer(query, batch)
  }
  return {
    ask<Row>(asked: Lookup, [appId, ...lists]: readonly unknown[]) {
      const columns = lists as unknown[][]
      const keys = keysOf(columns)
      if (keys.length > maxKeys) return query(asked, [appId, ...columns]) as Promise<Row[]>
      return new Promise<Row[]>((resolve, reject) => {
        if (batches.size === 0) setImmediate(send)
        const name = `${asked.name} ${appId}`
        const waiting = { keys, resolve: resolve as Waiting['resolve'], reject }
        const batch = batches.get(name)
        if (batch === undefined) batches.set(name, { asked, appId, columns: columns.slice(), waiting: [waiting] })
        else {
          for (const [i, column] of columns.entries())
            batch.columns[i] = [...(batch.columns[i] as unknown[]), ...column]
          batch.waiting.push(waiting)
        }
      })
    },
  }
}

async function answer(
  query: (asked: Statement, values: unknown[]) => Promise<unknown[]>,
  { asked, appId, columns, waiting }: Batch,
): Promise<void> {
  try {
    const rows = await query(asked, [appId, ...columns])
    const [only] = waiting
    if (only !== undefined && waiting.length === 1) return only.resolve(rows)
    const found = new Map(rows.map((row) => [keyOf(asked.keyOf(row as never)), row]))
    for (const { keys, resolve } of waiting) {
      // Not by `flatMap`: rows may be lists themselves.
      resolve(keys.map((key) => found.get(key)).filter((row) => row !== undefined))
    }
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

function keysOf(columns: readonly unknown[][]): string[] {
  const [first = []] = columns
  return first.map((_, i) => keyOf(columns.map((column) => column[i])))
}

function keyOf(parts: readonly unknown[]): string {
  return parts.map((part) => (Buffer.isBuffer(part) ? part.toString('base64') : String(part))).join('\0')
}
