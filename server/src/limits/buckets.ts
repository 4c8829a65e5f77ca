import type { LRUCache } from 'lru-cache'
import { createCache } from '../cache.ts'

/** A bucket refills steadily, and never holds more than its burst. */
export interface BucketSize {
  readonly perMinute: number
  /** What can be taken at once from a full one. */
  readonly burst: number
}

/** What became of points that somebody asked for. */
export interface Taken {
  readonly isTaken: boolean
  /** What can still be taken at once; below zero where more was taken than there was. */
  readonly left: number
  /** Milliseconds until what was asked for is there; 0 where it was taken. */
  readonly msLeft: number
}

/** A bucket of points for each key. */
export interface Buckets {
  /**
   * Takes points, or none of them.
   * @param needed takes them if this many are there; fewer than `points` leaves the bucket in debt
   */
  take(key: string, points?: number, needed?: number): Promise<Taken>
  /** What would become of one point, as far as this process knows; takes none. */
  peek(key: string): Taken
}

/** Some 200 bytes each; more than that many users or addresses within a minute is rather an attack. */
const maxKeys = 50_000
/** Times are floating point numbers. */
export const tolerance = 1e-6

/**
 * Buckets of this process. A full one needs no place, so each is kept as the time at which it is full again (the generic cell
 * rate algorithm). Own code, since rate-limiter-flexible has windows only: a minute's worth at once at the beginning of each.
 * Of too many keys, those that were not used for the longest time are forgotten.
 */
export class MemoryBuckets implements Buckets {
  readonly #size: BucketSize
  readonly #now: () => number
  readonly #fullAt: LRUCache<string, number>

  /** @param now milliseconds of a clock that never goes back */
  constructor(size: BucketSize, now = () => performance.now(), max = maxKeys) {
    this.#size = size
    this.#now = now
    this.#fullAt = createCache({ max })
  }

  async take(key: string, points = 1, needed = points): Promise<Taken> {
    const missing = this.#missingOf(key)
    const taken = takeFrom(this.#size, missing, points, needed)
    if (taken.isTaken) this.setMissing(key, missing + points)
    return taken
  }

  peek(key: string): Taken {
    return takeFrom(this.#size, this.#missingOf(key), 0, 1)
  }

  /** What others took as well. */
  setMissing(key: string, points: number): void {
    this.#fullAt.set(key, this.#now() + points * msPerPoint(this.#size))
  }

  #missingOf(key: string): number {
    const fullAt = this.#fullAt.get(key)
    return fullAt === undefined ? 0 : Math.max(0, fullAt - this.#now()) / msPerPoint(this.#size)
  }
}

export function msPerPoint({ perMinute }: BucketSize): number {
  return 60_000 / perMinute
}

/** @param missing what the bucket lacks to be full */
function takeFrom(size: BucketSize, missing: number, points: number, needed: number): Taken {
  const left = size.burst - missing
  const lacking = needed - left
  if (lacking > tolerance) return { isTaken: false, left, msLeft: lacking * msPerPoint(size) }
  return { isTaken: true, left: left - points, msLeft: 0 }
}
