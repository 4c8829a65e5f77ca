import type { LRUCache } from 'lru-cache'
import { type IRateLimiterOptions, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { createCache } from '../cache.ts'

/** Some 500 bytes each; more than that many users or addresses in one window is rather an attack. */
const maxKeys = 50_000

/**
 * Counts in this process, for a bounded number of keys: those that were not counted for the longest time are forgotten. The
 * library keeps every key until its window is over, and whoever has many addresses could fill the memory.
 */
export class MemoryLimiter extends RateLimiterMemory {
  readonly #keys: LRUCache<string, true>

  constructor(options: IRateLimiterOptions, max = maxKeys) {
    super(options)
    this.#keys = createCache({
      max,
      dispose: (_, key, reason) => {
        if (reason === 'evict') void this.delete(key)
      },
    })
  }

  override consume(key: string, points?: number, options?: object): Promise<RateLimiterRes> {
    this.#keys.set(key, true)
    return super.consume(key, points, options)
  }

  override penalty(key: string, points?: number, options?: object): Promise<RateLimiterRes> {
    this.#keys.set(key, true)
    return super.penalty(key, points, options)
  }

  override set(key: string, points: number, seconds: number): Promise<RateLimiterRes> {
    this.#keys.set(key, true)
    return super.set(key, points, seconds)
  }
}
