import { type Channel, withChannel } from './channel.ts'
import { isLockTimeout } from './connection.ts'
import type { Database } from './database.ts'
import { ReadsFullError } from './reader.ts'
import { statement } from './statement.ts'
import { createTurns } from './turns.ts'

/**
 * How long a batch waits for a lock, in milliseconds, before what somebody holds is taken out of it. Where several processes write
 * into one conversation, each waits for the batches of the others, of some 10 ms each: that is not meant. Below the second after
 * which the database looks for deadlocks: to give up ends those as well.
 */
export const patienceMs = 250

/** The same while something is held: then more may be, as all conversations of a user who is erased, and each is found sooner. */
export const hurriedMs = 25

/** For transactions that wait no longer than `hurriedMs`. */
export const hurry = statement(`select set_config('lock_timeout', '${hurriedMs}ms', true)`)

/**
 * For transactions that have all their locks and much to do: whatever else they meet on the way they wait for as long as it
 * takes, since to begin anew would keep others waiting for longer. They are `longTransaction`s.
 */
export const takeTime = statement(`select set_config('lock_timeout', '0', true)`)

/** How long what is held is waited for apart, in milliseconds, before it is the turn of something else that is held. */
export const turnMs = 1_000

/** So many things that are held are waited for at once, each on a connection of its own; of one app fewer, so that others have some. */
const turns = { atOnce: 3, atOncePerApp: 2 }

/** So much waits at most. */
const places = { all: 10_000, perApp: 2_000 }

/** @param settings of the connections on which a writer waits for nothing for long */
export const settingsOfPatience = (ms: number, settings = '') =>
  `${settings === '' ? '' : `${settings};`} set lock_timeout = ${ms}`

export interface HeldApartOptions<Item, Result> {
  readonly database: Database
  /** Of its connections. */
  readonly name: string
  /** Of each connection. */
  readonly settings?: string
  readonly maxBatch: number
  readonly appOf: (item: Item) => number
  /** What it locks: a conversation. Whatever has the same name is written in the order in which it came. */
  readonly nameOf: (item: Item) => string
  /**
   * Writes items in one transaction; one result (or error) for each, in order. It throws when it failed as a whole, and nothing is written.
   * @param isHurried something is held: to begin with `hurry`
   * @param isApart they wait already, and nobody else waits for them
   */
  readonly write: (
    channel: Channel,
    items: readonly Item[],
    how: { readonly isHurried: boolean; readonly isApart: boolean },
  ) => Promise<Array<Result | Error>>
  /** Which of them somebody holds at the moment, by their places. */
  readonly findHeld: (channel: Channel, items: readonly Item[]) => Promise<readonly number[]>
  /** What stood behind an item that waited, and need not wait any more: to be written before all that came after it. */
  readonly resume: (items: readonly Item[]) => ReadonlyArray<Promise<Result>>
  /** As those of a coalescer. */
  readonly isDivisible: (error: unknown) => boolean
  readonly onBatch?: (size: number) => void
}

/**
 * Batches in which nobody waits for what somebody else has locked for long. When a batch meets such a lock, what is held leaves
 * it, and is waited for apart, as is what comes for it meanwhile.
 */
export interface HeldApart<Item, Result> {
  /** Writes a batch of a coalescer. What is held has the promise of its result, and then it does not throw. */
  write(channel: Channel, items: readonly Item[]): Promise<Array<Outcome<Result>>>
  /** Resolves when nothing waits apart. */
  drain(): Promise<void>
}

type Outcome<Result> = Result | Error | Promise<Result>

export function createHeldApart<Item extends object, Result>(
  options: HeldApartOptions<Item, Result>,
): HeldApart<Item, Result> {
  const { nameOf, findHeld, isDivisible } = options
  const line = createLine(options)

  /** @param isPart something of its batch waits apart already: it may not fail as a whole, and so be written again */
  const write = async (channel: Channel, items: readonly Item[], isPart: boolean) => {
    const outcomes = new Map<Item, Outcome<Result>>()
    const putApart = (held: readonly Item[]) => {
      for (const item of held) {
        const written = line.submit(item)
        // It is heard of once the rest of the batch is written.
        written.catch(() => {})
        outcomes.set(item, written)
      }
    }
    let fruitless = 0
    let due = items
    for (;;) {
      if (outcomes.size > 0) due = due.filter((item) => !outcomes.has(item))
      if (line.isBusy && due.length > 0) {
        const held = due.filter((item) => line.holds(nameOf(item)))
        putApart(held)
        if (held.length > 0) due = due.filter((item) => !outcomes.has(item))
      }
      if (due.length === 0) return outcomes
      try {
        const written = await options.write(channel, due, { isHurried: line.isBusy && fruitless === 0, isApart: false })
        for (const [i, item] of due.entries()) outcomes.set(item, written[i] as Result | Error)
        putApart(due.filter((_, i) => isLockTimeout(written[i])))
        return outcomes
      } catch (error) {
        if (!isLockTimeout(error)) {
          if (!isPart && outcomes.size === 0) throw error
          for (const [item, outcome] of await divide(channel, due, error)) outcomes.set(item, outcome)
          return outcomes
        }
      }
      // Where that is not to be known, each waits alone: what waits apart already may not be written again with the rest.
      const found = await findHeld(channel, due).catch(() => [...due.keys()])
      const held = new Set(found.map((place) => nameOf(due[place] as Item)))
      // Nobody holds any of it any more: others are just busy with it, for whom there is more time at the next try.
      if (held.size === 0) fruitless++
      // What is waited for is something else, again: whoever it is waits alone.
      putApart(fruitless > 1 ? due : due.filter((item) => held.has(nameOf(item))))
    }
  }
  /** What a coalescer does with a batch that fails as a whole. */
  const divide = async (channel: Channel, items: readonly Item[], error: unknown) => {
    if (items.length === 1 || !isDivisible(error)) {
      return new Map<Item, Outcome<Result>>(items.map((item) => [item, error as Error]))
    }
    const half = Math.ceil(items.length / 2)
    const first = await write(channel, items.slice(0, half), true)
    return new Map([...first, ...(await write(channel, items.slice(half), true))])
  }
  return {
    async write(channel, items) {
      const outcomes = await write(channel, items, false)
      return items.map((item) => outcomes.get(item) as Outcome<Result>)
    },
    drain: line.drain,
  }
}

/** What waits for somebody who holds it. */
interface Line<Item, Result> {
  readonly isBusy: boolean
  holds(name: string): boolean
  submit(item: Item): Promise<Result>
  drain(): Promise<void>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (error: unknown) => void
}

function createLine<Item, Result>(options: HeldApartOptions<Item, Result>): Line<Item, Result> {
  const { database, name, settings, maxBatch, appOf, nameOf, resume, onBatch } = options
  const channels = Array.from({ length: turns.atOnce }, (_, i) =>
    database.openChannel(`${name} ${i}`, settingsOfPatience(turnMs, settings)),
  )
  const unlimited = Number.POSITIVE_INFINITY
  const inTurn = createTurns(
    name,
    {
      ...{ ...turns, atOncePerUser: 1, atOncePerKey: 1 },
      // What waits is counted in items, before it stands here.
      ...{ waiting: unlimited, waitingPerApp: unlimited, waitingPerReader: unlimited },
    },
    0,
  )
  const lines = new Map<string, Waiting<Item, Result>[]>()
  /** Items in lines, of each app. */
  const perApp = new Map<number, number>()
  let waiting = 0
  let unanswered = 0
  let idle: Array<() => void> = []

  const count = (appId: number, by: number) => {
    waiting += by
    const ofApp = (perApp.get(appId) ?? 0) + by
    if (ofApp === 0) perApp.delete(appId)
    else perApp.set(appId, ofApp)
  }
  /** Writes the first ones of a line as soon as nobody holds it any more; those behind them go on as usual. */
  const work = async (appId: number, held: string, line: Waiting<Item, Result>[]) => {
    const { batch, results } = await writeOnceFree({ appId, uid: held }, line)
    lines.delete(held)
    count(appId, -line.length)
    const rest = line.slice(batch.length)
    const resumed = resume(rest.map(({ item }) => item))
    for (const [i, { resolve }] of rest.entries()) resolve(resumed[i] as Promise<Result>)
    for (const [i, { resolve, reject }] of batch.entries()) {
      const result = results[i]
      if (result instanceof Error) reject(result)
      else resolve(result as Result | Promise<Result>)
    }
  }
  const writeOnceFree = async (reader: { appId: number; uid: string }, line: Waiting<Item, Result>[]) => {
    for (;;) {
      let batch: Waiting<Item, Result>[] = []
      const attempt = () =>
        withChannel(channels, (channel) => {
          batch = line.slice(0, maxBatch)
          return options.write(
            channel,
            batch.map(({ item }) => item),
            { isHurried: false, isApart: true },
          )
        })
      try {
        const results: ReadonlyArray<Outcome<Result>> = await inTurn.run(reader, attempt)
        onBatch?.(batch.length)
        return { batch, results }
      } catch (error) {
        // Nobody holds it: what is wrong with one of them is found where others are written.
        if (options.isDivisible(error) && !isLockTimeout(error) && batch.length > 1) return { batch: [], results: [] }
        // Else it is still held, and whatever else waits has its turn before.
        if (!isLockTimeout(error)) return { batch, results: batch.map(() => error as Error) }
      }
    }
  }
  const enter = (item: Item): Promise<Result> => {
    const [appId, held] = [appOf(item), nameOf(item)]
    if (waiting >= places.all || (perApp.get(appId) ?? 0) >= places.perApp) throw new ReadsFullError('all')
    return new Promise((resolve, reject) => {
      const line = lines.get(held)
      const waits = { item, resolve, reject }
      count(appId, 1)
      if (line !== undefined) return void line.push(waits)
      const opened = [waits]
      lines.set(held, opened)
      void work(appId, held, opened)
    })
  }
  return {
    get isBusy() {
      return waiting > 0
    },
    holds: (held) => lines.has(held),
    async submit(item) {
      unanswered++
      try {
        return await enter(item)
      } finally {
        unanswered--
        if (unanswered === 0) {
          for (const resolve of idle) resolve()
          idle = []
        }
      }
    },
    drain() {
      if (unanswered === 0) return Promise.resolve()
      return new Promise((resolve) => idle.push(resolve))
    },
  }
}
