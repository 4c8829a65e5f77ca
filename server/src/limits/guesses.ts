import { RateLimiterRedis } from 'rate-limiter-flexible'
import { MemoryLimiter } from './memory-limiter.ts'
import type { SharedCounts } from './shared-buckets.ts'

/** Slows down whoever guesses: after some wrong attempts, each further one must wait longer. */
export interface Guesses {
  /**
   * Asks whether another attempt may be made now, and counts it as wrong until it has succeeded.
   * @returns milliseconds to wait; 0: go on
   */
  attempt(key: string): Promise<number>
  /**
   * An attempt that was let through was not looked at after all: it does not count. What it may have had to wait for
   * stays, or whoever guesses could shorten it by attempts that are not looked at.
   */
  wasUnchecked(key: string): Promise<void>
  /** Forgets the wrong attempts. */
  succeeded(key: string): Promise<void>
  /** Milliseconds that whoever has failed too often must wait, without counting anything. */
  waitOf(key: string): Promise<number>
}

export interface GuessesOptions {
  readonly name: string
  /** Wrong attempts that cost nothing. */
  readonly free: number
  /** For how long wrong attempts are remembered, since the first. */
  readonly rememberSeconds: number
  /** After the first wrong one too many it is a second, then twice that, and so on up to this. */
  readonly longestSeconds: number
}

/** Remembered in Redis for all processes; without it, and while it does not answer, by each process. */
export function createGuesses(options: GuessesOptions, redis?: SharedCounts): Guesses {
  const { name, free, rememberSeconds, longestSeconds } = options
  const limiter = (part: string, points: number, duration: number) => {
    const memory = new MemoryLimiter({ points, duration })
    if (redis === undefined) return memory
    return new RateLimiterRedis({
      storeClient: redis.commands,
      keyPrefix: redis.name(`guesses:${name}:${part}`),
      points,
      duration,
      rejectIfRedisNotReady: true,
      insuranceLimiter: memory,
    })
  }
  const wrong = limiter('wrong', free, rememberSeconds)
  /** One attempt passes, and the next may come when its window is over. */
  const gate = limiter('gate', 1, longestSeconds)
  const delayAfter = (attempts: number) => Math.min(longestSeconds, 2 ** Math.min(30, attempts - free - 1))

  return {
    async attempt(key) {
      const { consumedPoints } = await wrong.penalty(key)
      if (consumedPoints <= free) return 0
      try {
        // Of those who ask at the same time, one passes.
        await gate.consume(key, 1, { customDuration: delayAfter(consumedPoints) })
        return 0
      } catch (refusal) {
        await wrong.reward(key)
        return msOf(refusal)
      }
    },
    async wasUnchecked(key) {
      await wrong.reward(key)
    },
    async succeeded(key) {
      await Promise.all([wrong.delete(key), gate.delete(key)])
    },
    async waitOf(key) {
      const standing = await gate.get(key)
      return standing === null ? 0 : Math.max(0, standing.msBeforeNext)
    },
  }
}

/** The library refuses with what is left of the window, and fails with an error. */
function msOf(refusal: unknown): number {
  if (refusal instanceof Error) throw refusal
  return Math.max(1, (refusal as { msBeforeNext: number }).msBeforeNext)
}
