import { LRUCache } from 'lru-cache'
import type { Ready } from './ready.ts'

/** Keeps what is sent close to what was decided: that holds no more for who has logged out, blocked or read meanwhile. */
export interface Freshness {
  /** How many notifications a provider has at hand at most, so that none waits long. @param atOnce under way at the same time */
  roomOf(provider: number, atOnce: number): number
  /** An attempt by a provider took so many milliseconds. */
  took(provider: number, ms: number): void
  /** Whether something was decided too long ago. That is said once of each, so that it is sent at last however busy the process is. */
  isStale(item: Pick<Ready, 'id' | 'readyAt'>): boolean
}

/** As long may something wait for its attempt as far as that can be foreseen, and as long before it is decided anew. */
const waitsMs = 500
const staleMs = 1_000
/** The last attempts of which the average is: one that is slow is no slow provider. */
const averageOf = 8
const mostKnown = 10_000

export function createFreshness(): Freshness {
  const averages = new LRUCache<number, number>({ max: mostKnown })
  const stale = new LRUCache<number, true>({ max: mostKnown })
  return {
    // Of one that is not known yet, as many as there is room for.
    roomOf: (provider, atOnce) => atOnce + Math.max(1, Math.floor((atOnce * waitsMs) / (averages.get(provider) ?? 0))),
    took(provider, ms) {
      const average = averages.get(provider) ?? ms
      averages.set(provider, average + (ms - average) / averageOf)
    },
    isStale({ id, readyAt }) {
      const wasStale = stale.delete(id)
      if (wasStale || performance.now() - readyAt <= staleMs) return false
      stale.set(id, true)
      return true
    },
  }
}
