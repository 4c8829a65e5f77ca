import { type Channel, withChannel } from './channel.ts'
import { type Coalescer, createCoalescer } from './coalesce.ts'
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
const hurriedMs = 25

/** For transactions that wait no longer than `hurriedMs`. */
export const hurry = statement(`select set_config('lock_timeout', '${hurriedMs}ms', true)`)

/** How long what is held is waited for apart, in milliseconds, before it is the turn of something else that is held. */
const turnMs = 1_000

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
  /** As those of a coalescer. */
  readonly isDivisible: (error: unknown) => boolean
  readonly onBatch?: (size: number) => void
}

/**
 * Batches in which nobody waits for what somebody else has locked for long. When a batch meets such a lock, what is held leaves
 * it, and is waited for apart, as is what comes for it later.
 */
export interface HeldApart<Item, Result> {
  /**
   * Writes a batch of a coalescer. What is held has the promise of its result. Once an item waits apart it is never written
   * otherwise, also when it comes again in a part of its batch.
   */
  write(channel: Channel, items: readonly Item[]): Promise<Array<Result | Error | Promise<Result>>>
  /** Resolves when nothing waits apart. */
  drain(): Promise<void>
}

export function createHeldApart<Item extends object, Result>(
  options: HeldApartOptions<Item, Result>,
): HeldApart<Item, Result> {
  const { nameOf, findHeld } = options
  const lane = createLane(options)
  const apart = new WeakMap<Item, Promise<Result>>()

  const putApart = (items: readonly Item[]) => {
    for (const item of items) {
      const written = lane.submit(item)
      // It is heard of once the rest of the batch is written.
      written.catch(() => {})
      apart.set(item, written)
    }
  }
  const isIn = (item: Item) => !apart.has(item)

  const write = async (channel: Channel, items: readonly Item[]) => {
    const results = new Map<Item, Result | Error>()
    let fruitless = 0
    let due = items
    for (;;) {
      if (lane.isBusy) putApart(due.filter((item) => isIn(item) && lane.holds(nameOf(item))))
      due = due.filter(isIn)
      if (due.length === 0) return results
      try {
        const written = await options.write(channel, due, { isHurried: lane.isBusy, isApart: false })
        for (const [i, item] of due.entries()) results.set(item, written[i] as Result | Error)
        putApart(due.filter((item) => isLockTimeout(results.get(item))))
        return results
      } catch (error) {
        if (!isLockTimeout(error)) throw error
      }
      const found = await findHeld(channel, due)
      const held = new Set(found.map((place) => nameOf(due[place] as Item)))
      if (held.size === 0) fruitless++
      // What is waited for is something else, again: whoever it is waits alone.
      putApart(fruitless > 1 ? due : due.filter((item) => held.has(nameOf(item))))
    }
  }
  return {
    async write(channel, items) {
      const results = await write(channel, items)
      return items.map((item) => apart.get(item) ?? (results.get(item) as Result | Error))
    },
    drain: lane.drain,
  }
}

/** What waits for somebody who holds it. */
interface Lane<Item, Result> {
  readonly isBusy: boolean
  holds(name: string): boolean
  submit(item: Item): Promise<Result>
  drain(): Promise<void>
}

interface Line<Item, Result> {
  readonly coalescer: Coalescer<Item, Result>
  waiting: number
}

function createLane<Item, Result>(options: HeldApartOptions<Item, Result>): Lane<Item, Result> {
  const { database, name, settings, maxBatch, appOf, nameOf, isDivisible, onBatch } = options
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
  const lines = new Map<string, Line<Item, Result>>()
  const perApp = new Map<number, number>()
  let waiting = 0
  let idle: Array<() => void> = []

  const count = (appId: number, line: Line<Item, Result>, by: 1 | -1) => {
    waiting += by
    line.waiting += by
    const ofApp = (perApp.get(appId) ?? 0) + by
    if (ofApp === 0) perApp.delete(appId)
    else perApp.set(appId, ofApp)
  }
  const writeOnceFree = async (reader: { appId: number; uid: string }, items: readonly Item[]) => {
    for (;;) {
      try {
        return await inTurn.run(reader, () =>
          withChannel(channels, (channel) => options.write(channel, items, { isHurried: false, isApart: true })),
        )
      } catch (error) {
        // It is still held. Whatever else waits has its turn before.
        if (!isLockTimeout(error)) throw error
      }
    }
  }
  const lineOf = (appId: number, held: string): Line<Item, Result> => {
    const known = lines.get(held)
    if (known !== undefined) return known
    const reader = { appId, uid: held }
    const write = (items: Item[]) => writeOnceFree(reader, items)
    const shape = { maxBatch, maxInFlight: 1, write, isDivisible, ...(onBatch && { onBatch }) }
    const line = { coalescer: createCoalescer(shape), waiting: 0 }
    lines.set(held, line)
    return line
  }
  return {
    get isBusy() {
      return waiting > 0
    },
    holds: (held) => lines.has(held),
    async submit(item) {
      const [appId, held] = [appOf(item), nameOf(item)]
      if (waiting >= places.all || (perApp.get(appId) ?? 0) >= places.perApp) throw new ReadsFullError('all')
      const line = lineOf(appId, held)
      count(appId, line, 1)
      try {
        return await line.coalescer.submit(item)
      } finally {
        count(appId, line, -1)
        if (line.waiting === 0) lines.delete(held)
        if (waiting === 0) {
          for (const resolve of idle) resolve()
          idle = []
        }
      }
    },
    drain() {
      if (waiting === 0) return Promise.resolve()
      return new Promise((resolve) => idle.push(resolve))
    },
  }
}
