import { createCache } from '../cache.ts'

/** What was read from the database and is kept in this process until it is forgotten. */
export interface Memory<Key, Value> {
  /** What is known, or else read now: once for all who ask meanwhile. Never what was read before it was forgotten. */
  recall(key: Key): Promise<Value>
  /** What is known, as far as it needs no waiting. */
  known(key: Key): Value | undefined
  forget(key: Key): void
  forgetWhere(isForgotten: (key: Key) => boolean): void
  forgetAll(): void
}

export interface MemoryOptions<Key, Value> {
  /** So many are kept, those that were asked for last. */
  readonly max: number
  /** Kept no longer than this, whatever is announced; for ever where it is absent. */
  readonly ttlMs?: number
  readonly read: (key: Key) => Promise<Value>
  /** Whether it is kept once it was read; everything where it is absent. */
  readonly keeps?: (value: Value) => boolean
}

interface Entry<Value> {
  readonly reading: Promise<Value>
  value?: Value
  isForgotten: boolean
}

/**
 * Keeps what is asked for all the time. The reading itself is kept, not only what it gives: a change that is announced
 * while something is read drops the reading, so that what was found before the change can never be put back after it.
 */
export function createMemory<Key extends string | number, Value>(
  options: MemoryOptions<Key, Value>,
): Memory<Key, Value> {
  const { max, ttlMs, read, keeps } = options
  const entries = createCache<Key, Entry<Value>>({ max, ...(ttlMs !== undefined && { ttl: ttlMs }) })

  const drop = (key: Key, entry: Entry<Value>) => {
    if (entries.peek(key) === entry) entries.delete(key)
  }
  const load = (key: Key): Entry<Value> => {
    const entry: Entry<Value> = { reading: read(key), isForgotten: false }
    entries.set(key, entry)
    entry.reading.then(
      (value) => {
        entry.value = value
        if (keeps?.(value) === false) drop(key, entry)
      },
      () => drop(key, entry),
    )
    return entry
  }
  const learn = async (key: Key): Promise<Value> => {
    for (;;) {
      const entry = entries.get(key) ?? load(key)
      const value = await entry.reading
      if (!entry.isForgotten) return value
    }
  }
  // Nearly always it is known: each request asks for several things, and waits for each as briefly as can be.
  const recall = (key: Key): Promise<Value> => {
    const entry = entries.get(key)
    return entry?.value === undefined ? learn(key) : entry.reading
  }
  const forget = (key: Key) => {
    const entry = entries.peek(key, { allowStale: true })
    if (entry === undefined) return
    entry.isForgotten = true
    entries.delete(key)
  }
  const forgetWhere = (isForgotten: (key: Key) => boolean) => {
    for (const key of [...entries.keys()]) if (isForgotten(key)) forget(key)
  }
  return {
    recall,
    known: (key) => entries.get(key)?.value,
    forget,
    forgetWhere,
    forgetAll: () => forgetWhere(() => true),
  }
}
