import type { Statement } from './statement.ts'

/**
 * A statement that looks up rows by their keys, at most one for each. `$1` is the app, and each further parameter a list
 * with one column of the keys.
 */
export interface Lookup<Row = never> extends Statement {
  /** Says whose a row is. */
  readonly found: Found<Row>
  /** So many keys go into one statement at most, where others wait. */
  readonly atOnce: number
}

/** By the columns of its key, in the order of the parameters, or by the place of that among those asked for, from 1. */
type Found<Row> =
  | { readonly by: 'key'; readonly of: (row: Row) => readonly unknown[] }
  | { readonly by: 'place'; readonly of: (row: Row) => number }

/** Whoever looks up more than this at once does so by themselves. */
const maxKeys = 200

export function lookup<Row>(fixed: Statement, keyOf: (row: Row) => readonly unknown[]): Lookup<Row> {
  return { ...fixed, found: { by: 'key', of: keyOf }, atOnce: Number.POSITIVE_INFINITY }
}

/**
 * A look-up whose rows say where their key stands among those asked for (`with ordinality`): for keys of many columns.
 * @param atOnce where finding a row takes long, so that the first ones need not wait for all others
 */
export function placedLookup<Row>(fixed: Statement, placeOf: (row: Row) => number, atOnce: number): Lookup<Row> {
  return { ...fixed, found: { by: 'place', of: placeOf }, atOnce }
}

export function isLookup(asked: Statement): asked is Lookup {
  return 'found' in asked
}

/** Asks for what many requests look up at the same moment at once. */
export interface Lookups {
  /** @param values the app, and the columns of the keys */
  ask<Row>(asked: Lookup, values: readonly unknown[]): Promise<Row[]>
}

interface Waiting {
  /** Its keys are so many, behind so many of others. */
  readonly count: number
  readonly from: number
  readonly resolve: (rows: unknown[]) => void
  readonly reject: (error: unknown) => void
}

/** What is looked up by one statement for one app. */
interface Batch {
  /** Of the look-up and the app. */
  readonly name: string
  readonly asked: Lookup
  readonly appId: unknown
  /** The columns of all keys. */
  readonly columns: unknown[][]
  readonly waiting: Waiting[]
  count: number
}

/**
 * Gathers what is looked up in one turn of the event loop: when many requests come at the same time, each of which looks up
 * who acts, that is one query. While the database has enough to do, what comes goes on gathering until it has answered one: it
 * would not begin with more before, and to begin and end a query often takes longer than what is looked up. Each is still asked
 * after its request came.
 * @param most so many queries are under way at once
 */
export function createLookups(
  query: (asked: Statement, values: unknown[]) => Promise<unknown[]>,
  most: number,
): Lookups {
  /** In the order in which they came; all but those of this turn wait for others to be answered. */
  const due: Batch[] = []
  /** Those of `due` that others may join. */
  const open = new Map<string, Batch>()
  let running = 0
  let isSending = false

  const send = () => {
    isSending = false
    while (running < most) {
      const batch = due.shift()
      if (batch === undefined) return
      if (open.get(batch.name) === batch) open.delete(batch.name)
      void run(batch)
    }
  }
  const run = async (batch: Batch) => {
    running++
    await answer(query, batch)
    running--
    if (due.length > 0) sendSoon()
  }
  /** Whoever asks because of what was answered a moment ago comes along. */
  const sendSoon = () => {
    if (isSending) return
    isSending = true
    setImmediate(send)
  }
  const batchFor = (asked: Lookup, appId: unknown, columns: readonly unknown[][], count: number): Batch => {
    const name = `${asked.name} ${appId}`
    const known = open.get(name)
    if (known !== undefined && known.count + count <= asked.atOnce) return known
    const batch: Batch = { name, asked, appId, columns: columns.map(() => []), waiting: [], count: 0 }
    due.push(batch)
    sendSoon()
    open.set(name, batch)
    return batch
  }
  return {
    ask<Row>(asked: Lookup, [appId, ...lists]: readonly unknown[]) {
      const columns = lists as unknown[][]
      const count = columns[0]?.length ?? 0
      if (count > maxKeys) return query(asked, [appId, ...columns]) as Promise<Row[]>
      return new Promise<Row[]>((resolve, reject) => {
        const batch = batchFor(asked, appId, columns, count)
        for (const [i, column] of columns.entries()) batch.columns[i]?.push(...column)
        batch.waiting.push({ count, from: batch.count, resolve: resolve as Waiting['resolve'], reject })
        batch.count += count
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
    const find = finderOf(asked.found as Found<unknown>, columns, rows)
    for (const { count, from, resolve } of waiting) {
      const own: unknown[] = []
      for (let place = from; place < from + count; place++) {
        const row = find(place)
        if (row !== undefined) own.push(row)
      }
      resolve(own)
    }
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

/** Finds the row for the key at a place, from 0. */
function finderOf(
  found: Found<unknown>,
  columns: readonly unknown[][],
  rows: readonly unknown[],
): (place: number) => unknown {
  if (found.by === 'place') {
    const placed = new Map(rows.map((row) => [found.of(row) - 1, row]))
    return (place) => placed.get(place)
  }
  const keyed = new Map(rows.map((row) => [keyOf(found.of(row)), row]))
  return (place) => keyed.get(keyOf(columns.map((column) => column[place])))
}

function keyOf(parts: readonly unknown[]): string {
  return parts.map((part) => (Buffer.isBuffer(part) ? part.toString('base64') : String(part))).join('\0')
}
