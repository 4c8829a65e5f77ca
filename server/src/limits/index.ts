import { Counter, type Registry } from 'prom-client'
import type { RateLimits } from '../config/rate-limits.ts'
import { createGuesses, type Guesses } from './guesses.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'
import type { SharedCounts } from './shared-buckets.ts'

/** What keeps one client from taking what is there for all. */
export interface Limits {
  readonly rateLimiter: RateLimiter
  /** Wrong passwords of groups, by user and group. */
  readonly groupPasswords: Guesses
  /** Wrong sign-ins of operators, by address and account ... */
  readonly operatorSignIns: Guesses
  /** ... and by account alone, from wherever they come. */
  readonly operatorAccounts: Guesses
  /** Counts a refusal in the metrics. */
  onRefused(limit: string): void
}

export function createLimits(rateLimits: RateLimits, redis: SharedCounts | undefined, registry: Registry): Limits {
  const refused = new Counter({
    name: 'parley_limited_total',
    help: 'Requests refused with 429, by the limit: a name of RATE_LIMITS, or credentials, groupPasswords or operators',
    labelNames: ['limit'],
    registers: [registry],
  })
  const onRefused = (limit: string) => refused.inc({ limit })
  return {
    rateLimiter: createRateLimiter(rateLimits, redis, onRefused),
    groupPasswords: createGuesses(
      { name: 'group-passwords', free: 10, rememberSeconds: 86_400, longestSeconds: 900 },
      redis,
    ),
    operatorSignIns: createGuesses({ name: 'operators', free: 5, rememberSeconds: 3_600, longestSeconds: 900 }, redis),
    operatorAccounts: createGuesses(
      { name: 'operator-accounts', free: 50, rememberSeconds: 3_600, longestSeconds: 60 },
      redis,
    ),
    onRefused,
  }
}
