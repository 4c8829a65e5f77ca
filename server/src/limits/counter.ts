import { LRUCache } from 'lru-cache'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { RedisLink } from '../store/redis.ts'
import { MemoryLimiter } from './memory-limiter.ts'

export type SharedCounts = Pick<RedisLink, 'commands' | 'isUp' | 'name'>

/** How much has been counted, and when the count starts anew. */
export interface Count {
  readonly points: number
  readonly msLeft: number
}

/** Counts points by key, within a window of time that begins with the first. */
export interface Counter {
  /** Counts some more. */
  take(key: string, points?: number): Promise<Count>
}

export interface CounterOptions {
  /** Names it among other counters. */
  readonly name: string
  /** Beyond it, processes need not know how far. */
  readonly limit: number
  readonly seconds: number
}

/** After Redis failed to answer, for how long it is not asked: requests must not wait for it one after the other. */
const restMs = 2_000
/** Processes tell each other of so many hundredths of the limit at a time: one request in many waits for Redis. */
const shares = 100
/** Keys of which something is not yet told. */
const maxUntold = 100_000

/**
 * Counts in this process and, in steps of a hundredth of the limit, in Redis for all processes together. Without Redis,
 * and while it does not answer, each process counts for itself.
 */
export function createCounter({ name, limit, seconds }: CounterOptions, redis?: SharedCounts): Counter {
  const here = new MemoryLimiter({ points: limit, duration: seconds })
  const count = async (key: string, points: number): Promise<Count> => {
    const { consumedPoints, msBeforeNext } = await here.penalty(key, points)
    return { points: consumedPoints, msLeft: msBeforeNext }
  }
  if (redis === undefined) return { take: (key, points = 1) => count(key, points) }

  const together = new RateLimiterRedis({
    storeClient: redis.commands,
    keyPrefix: redis.name(`count:${name}`),
    points: limit,
    duration: seconds,
  })
  const step = Math.max(1, Math.floor(limit / shares))
  const untold = new LRUCache<string, number>({ max: maxUntold, ttl: seconds * 1000 })
  let restsUntil = 0

  const tell = async (key: string, points: number): Promise<Count | undefined> => {
    if (!redis.isUp || Date.now() < restsUntil) return undefined
    try {
      const { consumedPoints, msBeforeNext } = await together.penalty(key, points)
      return { points: consumedPoints, msLeft: Math.max(1, msBeforeNext) }
    } catch {
      restsUntil = Date.now() + restMs
      return undefined
    }
  }

  return {
    async take(key, points = 1) {
      const counted = await count(key, points)
      // Who was over the limit before is so everywhere.
      if (counted.points - points > limit) return counted
      const due = (untold.get(key) ?? 0) + points
      if (due < step) {
        untold.set(key, due)
        return counted
      }
      untold.delete(key)
      const all = await tell(key, due)
      if (all === undefined) return counted
      await here.set(key, all.points + (untold.get(key) ?? 0), all.msLeft / 1000)
      return all
    },
  }
}
