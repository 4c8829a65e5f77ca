import type { Operation } from '@parley/contract'
import type { RateLimitName, RateLimits } from '../config/rate-limits.ts'
import { type Counter, createCounter, type SharedCounts } from './counter.ts'

/** Where somebody stands with one limit. */
export interface Standing {
  readonly name: RateLimitName
  readonly limit: number
  /** Points left in this window; below zero where the limit is exceeded. */
  readonly remaining: number
  /** Milliseconds until the count starts anew. */
  readonly msLeft: number
}

/** Those who call an operation: front ends with a token or an authOnly key, or a server with a fullAccess key. */
export type CallerKind = 'frontEnd' | 'server'

/** Counts requests, and whatever else is limited by the minute. */
export interface RateLimiter {
  /** Which limits there are for an operation, in the order in which they are counted: the user's before the app's. */
  limitsOf(operation: Pick<Operation, 'rateLimit' | 'userRateLimit'>, kind: CallerKind): readonly RateLimitName[]
  /**
   * Counts some more.
   * @returns where the limit stands, or undefined where nothing is limited
   */
  take(name: RateLimitName, key: string, points?: number): Promise<Standing | undefined>
}

const windowSeconds = 60

/** @param onRefused hears of each take that exceeds a limit */
export function createRateLimiter(
  rateLimits: RateLimits,
  redis?: SharedCounts,
  onRefused: (name: RateLimitName) => void = () => {},
): RateLimiter {
  const counters = new Map<RateLimitName, { limit: number; counter: Counter }>()
  for (const [name, { perMinute }] of Object.entries(rateLimits)) {
    const counter = createCounter({ name, limit: perMinute, seconds: windowSeconds }, redis)
    counters.set(name as RateLimitName, { limit: perMinute, counter })
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
    async take(name, key, points = 1) {
      const found = counters.get(name)
      if (found === undefined) return undefined
      const { limit, counter } = found
      const { points: taken, msLeft } = await counter.take(key, points)
      if (taken > limit) onRefused(name)
      return { name, limit, remaining: limit - taken, msLeft }
    },
  }
}
