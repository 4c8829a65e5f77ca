import { PageTurns, type WaitingPage } from './page-turns.ts'
import type { Reader } from './reader.ts'
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
  /** It reads a page of a list, which waits for the turn of its app and its reader. */
  readonly isPage?: true
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

/** The same for a page of a list, which one user asks for: each row is a whole page. */
export function pageLookup<Row>(fixed: Statement, placeOf: (row: Row) => number, atOnce: number): Lookup<Row> {
  return { ...placedLookup(fixed, placeOf, atOnce), isPage: true }
}

export function isLookup(asked: Statement): asked is Lookup {
  return 'found' in asked
}

/** Asks for what many requests look up at the same moment at once. */
export interface Lookups {
  /**
   * @param values the app, and the columns of the keys
   * @throws ReadsFullError when too many pages wait already
   * @throws ReadAbandonedError when the reader has gone before the turn of their page came
   */
  ask<Row>(asked: Lookup, values: readonly unknown[], reader: Reader): Promise<Row[]>
}

/** The keys of somebody who waits. */
interface Waiting {
  readonly columns: readonly unknown[][]
  readonly count: number
  resolve(rows: unknown[]): void
  reject(error: unknown): void
}

/** What is looked up by one statement for one app. */
interface Batch {
  readonly asked: Lookup
  readonly appId: unknown
  readonly waiting: Waiting[]
}

interface Page extends Waiting, WaitingPage {
  readonly asked: Lookup
}

/**
 * As many clients may ask for their first pages at once after a restart. One reader hardly has that many under way, since their
 * requests wait for each other before.
 */
const pageLimits = { perReader: 100, perApp: 2000, inAll: 10_000 }

/**
 * Gathers what is looked up in one turn of the event loop: when many requests come at the same time, each of which looks up
 * who acts, that is one query. While the database has enough to do, what comes goes on gathering until it has answered one: it
 * would not begin with more before, and to begin and end a query often takes longer than what is looked up. Each is still asked
 * after its request came. Pages take turns, beside what is looked up by key.
 * @param most so many queries are under way at once
 */
export function createLookups(
  query: (asked: Statement, values: unknown[]) => Promise<unknown[]>,
  most: number,
): Lookups {
  /** In the order in which they came; all but those of this turn wait for others to be answered. */
  const due: KeyBatch[] = []
  /** Those of `due` that others may join. */
  const open = new Map<string, KeyBatch>()
  const pages = new PageTurns<Page>(pageLimits)
  let running = 0
  let isSending = false
  let isPagesTurn = true

  /** Keys and pages in turn: what waits goes on gathering, so that neither takes more statements than it has to. */
  const next = (): Batch | undefined => {
    isPagesTurn = !isPagesTurn
    return isPagesTurn ? (takePages() ?? takeKeys()) : (takeKeys() ?? takePages())
  }
  const takeKeys = (): Batch | undefined => {
    const batch = due.shift()
    if (batch !== undefined && open.get(batch.name) === batch) open.delete(batch.name)
    return batch
  }
  const takePages = (): Batch | undefined => {
    const waiting = pages.take()
    const [first] = waiting
    return first && { asked: first.asked, appId: first.appId, waiting }
  }
  const send = () => {
    isSending = false
    while (running < most) {
      const batch = next()
      if (batch === undefined) return
      void run(batch)
    }
  }
  const run = async (batch: Batch) => {
    running++
    await answer(query, batch)
    running--
    if (due.length > 0 || pages.isWaiting) sendSoon()
  }
  /** Whoever asks because of what was answered a moment ago comes along. */
  const sendSoon = () => {
    if (isSending) return
    isSending = true
    setImmediate(send)
  }
  const joinBatch = (asked: Lookup, appId: unknown, item: Waiting) => {
    const name = `${asked.name} ${appId}`
    const known = open.get(name)
    if (known !== undefined && known.count + item.count <= asked.atOnce) {
      known.waiting.push(item)
      known.count += item.count
      return
    }
    const batch: KeyBatch = { name, asked, appId, waiting: [item], count: item.count }
    due.push(batch)
    open.set(name, batch)
  }
  return {
    ask<Row>(asked: Lookup, [appId, ...lists]: readonly unknown[], reader: Reader) {
      const columns = lists as unknown[][]
      const count = columns[0]?.length ?? 0
      if (count > maxKeys) return query(asked, [appId, ...columns]) as Promise<Row[]>
      return new Promise<Row[]>((resolve, reject) => {
        const item = { columns, count, resolve: resolve as Waiting['resolve'], reject }
        if (asked.isPage === true) {
          const kind = asked.name as string
          pages.add({ ...item, asked, appId: appId as number, kind, reader, atOnce: asked.atOnce })
        } else joinBatch(asked, appId, item)
        sendSoon()
      })
    },
  }
}

/** What is looked up by key, which others may join while it waits. */
interface KeyBatch extends Batch {
  readonly name: string
  /** Keys. */
  count: number
}

async function answer(
  query: (asked: Statement, values: unknown[]) => Promise<unknown[]>,
  { asked, appId, waiting }: Batch,
): Promise<void> {
  try {
    const columns = columnsOf(waiting)
    const rows = await query(asked, [appId, ...columns])
    const [only] = waiting
    if (only !== undefined && waiting.length === 1) return only.resolve(rows)
    const find = finderOf(asked.found as Found<unknown>, columns, rows)
    let from = 0
    for (const { count, resolve } of waiting) {
      const own: unknown[] = []
      for (let place = from; place < from + count; place++) {
        const row = find(place)
        if (row !== undefined) own.push(row)
      }
      from += count
      resolve(own)
    }
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

/** The keys of all, column by column. */
function columnsOf(waiting: readonly Waiting[]): readonly unknown[][] {
  const [first, ...others] = waiting as readonly [Waiting, ...Waiting[]]
  if (others.length === 0) return first.columns
  return first.columns.map((column, i) => column.concat(...others.map(({ columns }) => columns[i] as unknown[])))
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
