import { isDeepStrictEqual } from 'node:util'
import type { JsonRecord } from '../import/records.ts'
import { digestOf } from './digests.ts'
import type { IdMap } from './id-map.ts'
import { rowsOf, type SpanPage, scanSpan } from './lists.ts'
import type { Remote } from './remote.ts'

/** A message as both sides have it; undefined where one lacks it. */
export interface Pair {
  readonly ours: JsonRecord | undefined
  readonly theirs: JsonRecord | undefined
}

export interface ComparingMessages {
  readonly source: Remote
  readonly target: Remote
  readonly ids: IdMap
  /** Parts of the time that are compared at once. */
  readonly parts: number
  /** Epoch seconds. */
  readonly now: number
}

/**
 * Reads all messages of both sides, and puts together which of them are the same under the map of ids. Both come in the order of
 * time, and a message has one time on both sides, so that only the messages of a second are remembered.
 */
export async function compareMessages(
  { source, target, ids, parts, now }: ComparingMessages,
  visit: (pair: Pair) => void | Promise<void>,
): Promise<void> {
  const first = Math.min(...(await Promise.all([source, target].map(firstSecond))))
  const until = now + 60
  if (first > until) return
  const length = Math.ceil((until - first + 1) / parts)
  const compare = async (from: number) => {
    const span = { from, to: Math.min(until, from + length - 1), done: false }
    const [old, young] = [source, target].map((side) => seconds(ahead(scanSpan(side, span, '&withTags=true'))))
    for await (const [ours, theirs] of together(old!, young!)) {
      const byId = new Map(theirs.map((row) => [String(row.id), row]))
      for (const row of ours) {
        const id = ids.to(String(row.id))
        const found = id === undefined ? undefined : byId.get(id)
        if (id !== undefined) byId.delete(id)
        await visit({ ours: row, theirs: found })
      }
      for (const row of byId.values()) await visit({ ours: undefined, theirs: row })
    }
  }
  await Promise.all(Array.from({ length: parts }, (_, part) => compare(first + part * length)))
}

async function firstSecond(side: Remote): Promise<number> {
  const path = '/messages?affix=append&limit=1'
  const [first] = rowsOf(side, path, (await side.get(path)).body)
  return first === undefined ? Number.POSITIVE_INFINITY : Number(first.sentAt)
}

/** Asks for the next item while one is worked on. */
async function* ahead<Item>(items: AsyncGenerator<Item>): AsyncGenerator<Item> {
  for (let next = items.next(); ; ) {
    const { done, value } = await next
    if (done) return
    next = items.next()
    // Whoever stops early does not wait for it.
    next.catch(() => undefined)
    yield value
  }
}

export type Second = readonly [second: number, rows: JsonRecord[]]

/** The messages of each second that has some. */
export async function* seconds(pages: AsyncGenerator<SpanPage>): AsyncGenerator<Second> {
  let [second, rows]: [number, JsonRecord[]] = [0, []]
  for await (const page of pages) {
    for (const row of page.rows) {
      if (Number(row.sentAt) !== second) {
        if (rows.length > 0) yield [second, rows]
        ;[second, rows] = [Number(row.sentAt), []]
      }
      rows.push(row)
    }
  }
  if (rows.length > 0) yield [second, rows]
}

/** The messages of each second that one of the sides has some of. */
export async function* together(
  one: AsyncGenerator<Second>,
  other: AsyncGenerator<Second>,
): AsyncGenerator<readonly [ours: JsonRecord[], theirs: JsonRecord[]]> {
  let [left, right] = await Promise.all([one.next(), other.next()])
  while (!left.done || !right.done) {
    const [at, otherAt] = [left, right].map((item) => (item.done ? Number.POSITIVE_INFINITY : item.value[0]))
    const ours = at! <= otherAt! && !left.done ? left.value[1] : []
    const theirs = otherAt! <= at! && !right.done ? right.value[1] : []
    yield [ours, theirs]
    ;[left, right] = await Promise.all([ours.length > 0 ? one.next() : left, theirs.length > 0 ? other.next() : right])
  }
}

/** A record of one kind, on one side or both; undefined where one lacks it. */
export interface Found {
  readonly key: string
  readonly ours: JsonRecord | undefined
  readonly theirs: JsonRecord | undefined
}

export type Keyed = AsyncIterable<readonly [key: string, record: JsonRecord]>

/**
 * Compares two lists whatever their order, and tells of records that differ. Remembers a digest of each record, and the
 * records that differ.
 * @param each is told of every record on either side, with its digest
 */
export async function compareLists(
  source: () => Keyed,
  target: () => Keyed,
  each: (side: 'ours' | 'theirs', key: string, digest: bigint) => void = () => undefined,
): Promise<Found[]> {
  const digests = new Map<string, bigint>()
  for await (const [key, record] of source()) {
    const digest = digestOf([key, record])
    digests.set(key, digest)
    each('ours', key, digest)
  }
  const found = new Map<string, { ours: JsonRecord | undefined; theirs: JsonRecord | undefined }>()
  for await (const [key, record] of target()) {
    const digest = digestOf([key, record])
    each('theirs', key, digest)
    if (digests.get(key) !== digest) found.set(key, { ours: undefined, theirs: record })
    digests.delete(key)
  }
  for (const key of digests.keys()) found.set(key, { ours: undefined, theirs: undefined })
  if (found.size > 0)
    for await (const [key, record] of source()) {
      const difference = found.get(key)
      if (difference !== undefined) difference.ours = record
    }
  // What changed while it was read may be equal by now, or gone.
  return [...found]
    .map(([key, { ours, theirs }]) => ({ key, ours, theirs }))
    .filter(({ ours, theirs }) => !isDeepStrictEqual(ours, theirs))
}
