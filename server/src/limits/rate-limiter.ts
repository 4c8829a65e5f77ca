import type { Operation } from '@parley/contract'
import type { RateLimitName, RateLimits } from '../config/rate-limits.ts'
import { type BucketSize, type Buckets, MemoryBuckets, type Taken, tolerance } from './buckets.ts'
import { createSharedBuckets, type SharedCounts } from './shared-buckets.ts'

/** Where somebody stands with one limit. */
export interface Standing {
  readonly name: RateLimitName
  /** Who is counted. */
  readonly key: string
  /** Per minute. */
  readonly limit: number
  /** How much is let through at once after a while without any. */
  readonly burst: number
  /** How much would be let through at once from now on. */
  readonly remaining: number
  /** Nothing was counted: there was too little left. */
  readonly isExceeded: boolean
  /** Where the limit is exceeded: milliseconds until the same would be let through. */
  readonly msLeft: number
}

/** Those who call an operation: front ends with a token or an authOnly key, or a server with a fullAccess key. */
export type CallerKind = 'frontEnd' | 'server'

/** Counts requests, and whatever else is limited by the minute. */
export interface RateLimiter {
  /** Which limits there are for an operation, in the order in which they are counted: the user's before the app's. */
  limitsOf(operation: Pick<Operation, 'rateLimit' | 'userRateLimit'>, kind: CallerKind): readonly RateLimitName[]
  /**
   * Counts some more, if the limit allows it.
   * @param needed lets all of them through if so many are left; those behind wait for the rest to be made up for
   * @returns where the limit stands, or undefined where nothing is limited
   */
  take(name: RateLimitName, key: string, points?: number, needed?: number): Promise<Standing | undefined>
  /** Where a limit stands for one more, as far as this process knows; counts nothing. */
  peek(name: RateLimitName, key: string): Standing | undefined
}

/** @param onRefused hears of each take that exceeds a limit */
export function createRateLimiter(
  rateLimits: RateLimits,
  redis?: SharedCounts,
  onRefused: (name: RateLimitName) => void = () => {},
): RateLimiter {
  const kept = new Map<RateLimitName, Buckets>()
  for (const [name, size] of Object.entries(rateLimits)) {
    const buckets = redis === undefined ? new MemoryBuckets(size) : createSharedBuckets(name, size, redis)
    kept.set(name as RateLimitName, buckets)
  }
  const standingOf = (
    name: RateLimitName,
    key: string,
    { isTaken, left, msLeft }: Taken,
    size: BucketSize,
  ): Standing => {
    const remaining = Math.max(0, Math.floor(left + tolerance))
    return { name, key, limit: size.perMinute, burst: size.burst, remaining, isExceeded: !isTaken, msLeft }
  }
  return {
    limitsOf({ rateLimit, userRateLimit }, kind) {
      const names: readonly RateLimitName[] = [
        'user',
        ...(userRateLimit === undefined ? [] : [userRateLimit]),
        rateLimit,
      ]
      return names.filter((name) => {
        const limit = rateLimits[name]
        return limit !== undefined && (kind === 'frontEnd' || limit.isSet)
      })
    },
    async take(name, key, points, needed) {
      const [buckets, size] = [kept.get(name), rateLimits[name]]
      if (buckets === undefined || size === undefined) return undefined
      const taken = await buckets.take(key, points, needed)
      if (!taken.isTaken) onRefused(name)
      return standingOf(name, key, taken, size)
    },
    peek(name, key) {
      const [buckets, size] = [kept.get(name), rateLimits[name]]
      return buckets && size && standingOf(name, key, buckets.peek(key), size)
    },
  }
}
