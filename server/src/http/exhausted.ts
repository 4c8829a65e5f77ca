import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { createCache } from '../cache.ts'
import type { App } from '../chat/identity.ts'
import { limitExceeded, TooManyRequests } from '../limits/errors.ts'
import type { Limits } from '../limits/index.ts'
import { shortened } from '../protocol/wrong-credentials.ts'

/**
 * Tokens of users who have exceeded their limit. Whoever goes on all the same is refused without anything being looked up,
 * and later and later, or refusing them would take from everybody what the limit saves.
 */
export interface Exhausted {
  /** @throws 429 for a token whose user is known to have nothing left */
  check(app: App, token: unknown, reply: FastifyReply): Promise<void>
  /** Remembers why a request was refused, if it is the limit of its user. */
  note(app: App, token: unknown, error: unknown): void
}

interface Refusals {
  /** Whose limit it is. */
  readonly key: string
  /** Without a pause between them. */
  count: number
}

const maxTokens = 10_000
/** So many more are refused at once, as those that a front end has sent already. */
const atOnce = 100
const delayMs = 500
/** Whoever is not refused for so long begins anew. */
const pauseMs = 10_000

export function createExhausted({ onRefused, rateLimiter }: Pick<Limits, 'onRefused' | 'rateLimiter'>): Exhausted {
  const known = createCache<string, Refusals>({ max: maxTokens, ttl: pauseMs })
  const nameOf = ({ appId }: App, token: unknown) =>
    typeof token === 'string' ? `${appId} ${shortened(token)}` : undefined
  const count = (name: string, key: string) => {
    const refusals = { key, count: (known.get(name)?.count ?? 0) + 1 }
    known.set(name, refusals)
    return refusals.count
  }

  return {
    async check(app, token, reply) {
      if (known.size === 0) return
      const name = nameOf(app, token)
      const refusals = name === undefined ? undefined : known.get(name)
      if (name === undefined || refusals === undefined) return
      // What comes in is let through evenly, also to whoever never waits: all of a second at once would be in the way of others.
      const standing = rateLimiter.peek('user', refusals.key)
      if (standing === undefined || !standing.isExceeded) return
      onRefused('user')
      if (count(name, refusals.key) > atOnce) await delay(delayMs, undefined, { ref: false })
      reply.header('x-rate-limit', standing.limit).header('x-rate-limit-remaining', 0)
      throw limitExceeded(standing)
    },
    note(app, token, error) {
      const standing = error instanceof TooManyRequests ? error.standing : undefined
      const name = nameOf(app, token)
      if (standing?.name === 'user' && name !== undefined) count(name, standing.key)
    },
  }
}
