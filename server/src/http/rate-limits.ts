import { ApiError, type Operation } from '@parley/contract'
import type { FastifyReply } from 'fastify'
import type { App, Caller } from '../chat/identity.ts'
import type { RateLimitName, RateLimits } from '../config/index.ts'
import type { RedisLink } from '../store/redis.ts'
import { type CountInRedis, countInRedis } from './shared-counts.ts'

/** Counts requests by minute, for each app and for each acting user. */
export interface RateLimiter {
  /** Is any limit of this operation set? */
  limits(operation: Pick<Operation, 'rateLimit' | 'userRateLimit'>): boolean
  /**
   * Counts one more request.
   * @returns where the limit stands, or undefined where nothing is limited
   */
  take(name: RateLimitName, key: string): Promise<Standing | undefined>
}

export interface Standing {
  readonly limit: number
  /** Requests left in this minute; below zero when this one is refused. */
  readonly remaining: number
  /** Epoch seconds at which the count starts anew. */
  readonly resetsAt: number
}

const windowMs = 60_000

/**
 * Counts in Redis for all processes together. Without Redis, and while it does not answer, each process counts for itself.
 */
export function createRateLimiter(
  rateLimits: RateLimits,
  redis?: Pick<RedisLink, 'commands' | 'isUp' | 'name'>,
  now: () => number = Date.now,
): RateLimiter {
  const countHere = createCounts(now)
  const countTogether: CountInRedis = redis === undefined ? async () => undefined : countInRedis(redis)
  return {
    limits: ({ rateLimit, userRateLimit }) =>
      rateLimits[rateLimit] !== undefined || (userRateLimit !== undefined && rateLimits[userRateLimit] !== undefined),
    async take(name, key) {
      const limit = rateLimits[name]
      if (limit === undefined) return undefined
      const counter = `${name} ${key}`
      const { count, resetsAt } = (await countTogether(counter)) ?? countHere(counter)
      return { limit, remaining: limit - count, resetsAt }
    },
  }
}

/** Counts in this process. */
function createCounts(now: () => number): (counter: string) => { count: number; resetsAt: number } {
  let window = 0
  let counts = new Map<string, number>()
  return (counter) => {
    const current = Math.floor(now() / windowMs)
    // A new minute: what was counted before is forgotten as a whole, so the map never grows beyond one minute.
    if (current !== window) {
      window = current
      counts = new Map()
    }
    const count = (counts.get(counter) ?? 0) + 1
    counts.set(counter, count)
    return { count, resetsAt: ((current + 1) * windowMs) / 1000 }
  }
}

/**
 * Counts a request against the limits of its app and of its acting user, and tells the client where it stands.
 * @throws 429 `ERR_TOO_MANY_REQUESTS`; the request is not processed
 */
export async function takeFromLimits(
  limiter: RateLimiter,
  reply: FastifyReply,
  app: App,
  caller: Caller,
  { rateLimit, userRateLimit }: Operation,
): Promise<void> {
  report(reply, await limiter.take(rateLimit, String(app.appId)), `requests of the class ${rateLimit}`)
  if (userRateLimit !== undefined && caller.kind === 'user') {
    report(reply, await limiter.take(userRateLimit, `${app.appId} ${caller.uid}`), `such requests of ${caller.uid}`)
  }
}

function report(reply: FastifyReply, standing: Standing | undefined, what: string): void {
  if (standing === undefined) return
  const { limit, remaining, resetsAt } = standing
  reply.header('x-rate-limit', limit).header('x-rate-limit-remaining', Math.max(0, remaining))
  if (remaining >= 0) return
  const retryAfter = Math.max(1, Math.ceil(resetsAt - Date.now() / 1000))
  reply.header('retry-after', retryAfter).header('x-rate-limit-reset', resetsAt)
  throw new ApiError(
    'ERR_TOO_MANY_REQUESTS',
    `The limit of ${limit} ${what} per minute is exceeded. Try again in ${retryAfter} s.`,
  )
}
