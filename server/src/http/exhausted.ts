import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { App } from '../chat/identity.ts'
import { limitExceeded, TooManyRequests } from '../limits/errors.ts'
import type { Limits } from '../limits/index.ts'
import type { Standing } from '../limits/rate-limiter.ts'

/**
 * Tokens of users who have exceeded their limit. Whoever goes on all the same is refused without anything being looked up,
 * and later and later, or refusing them would take from everybody what the limit saves.
 */
export interface Exhausted {
  /** @throws 429 for a token that was told to come back later than now */
  check(app: App, token: unknown, reply: FastifyReply): Promise<void>
  /** Remembers why a request was refused, if it is the limit of its user. */
  note(app: App, token: unknown, error: unknown): void
}

interface Refusals {
  readonly standing: Standing
  readonly until: number
  /** Without a pause between them. */
  count: number
}

const maxTokens = 10_000
/** What is longer is no token. */
const tokenLength = 200
/** So many more are refused at once, as those that a front end has sent already. */
const atOnce = 100
const delayMs = 500
/** Whoever lets so much time pass without being refused begins anew. */
const pauseMs = 10_000

export function createExhausted({ onRefused }: Pick<Limits, 'onRefused'>): Exhausted {
  const known = new LRUCache<string, Refusals>({ max: maxTokens, ttl: pauseMs })
  const nameOf = ({ appId }: App, token: unknown) =>
    typeof token === 'string' && token.length <= tokenLength ? `${appId} ${token}` : undefined

  return {
    async check(app, token, reply) {
      if (known.size === 0) return
      const name = nameOf(app, token)
      const refusals = name === undefined ? undefined : known.get(name)
      if (name === undefined || refusals === undefined) return
      const msLeft = refusals.until - performance.now()
      if (msLeft <= 0) return
      const { standing } = refusals
      onRefused(standing.name)
      refusals.count++
      known.set(name, refusals, { ttl: Math.max(pauseMs, msLeft) })
      if (refusals.count > atOnce) await delay(Math.min(delayMs, msLeft), undefined, { ref: false })
      reply.header('x-rate-limit', standing.limit).header('x-rate-limit-remaining', 0)
      throw limitExceeded({ ...standing, msLeft: Math.max(1, refusals.until - performance.now()) })
    },
    note(app, token, error) {
      if (!(error instanceof TooManyRequests) || error.standing?.name !== 'user') return
      const name = nameOf(app, token)
      if (name === undefined) return
      // Not before the time that is told, or each second of whoever never stops would be full of look-ups.
      const waitMs = error.retryAfterSeconds * 1000
      const count = (known.get(name)?.count ?? 0) + 1
      const refusals = { standing: error.standing, until: performance.now() + waitMs, count }
      known.set(name, refusals, { ttl: waitMs + pauseMs })
    },
  }
}
