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
  /** @throws 429 for a token that is known to be refused until its limit starts anew */
  check(app: App, token: unknown, reply: FastifyReply): Promise<void>
  /** Remembers why a request was refused, if it is the limit of its user. */
  note(app: App, token: unknown, error: unknown): void
}

interface Refusals {
  readonly standing: Standing
  readonly until: number
  count: number
}

const maxTokens = 10_000
/** What is longer is no token. */
const tokenLength = 200
/** So many more are refused at once, as those that a front end has sent already. */
const atOnce = 100
const delayMs = 500

export function createExhausted({ onRefused }: Pick<Limits, 'onRefused'>): Exhausted {
  const known = new LRUCache<string, Refusals>({ max: maxTokens })
  const nameOf = ({ appId }: App, token: unknown) =>
    typeof token === 'string' && token.length <= tokenLength ? `${appId} ${token}` : undefined

  return {
    async check(app, token, reply) {
      if (known.size === 0) return
      const name = nameOf(app, token)
      const refusals = name === undefined ? undefined : known.get(name)
      if (name === undefined || refusals === undefined) return
      const msLeft = refusals.until - performance.now()
      if (msLeft <= 0) {
        known.delete(name)
        return
      }
      onRefused(refusals.standing.name)
      refusals.count++
      if (refusals.count > atOnce) await delay(Math.min(delayMs, msLeft), undefined, { ref: false })
      reply.header('x-rate-limit', refusals.standing.limit).header('x-rate-limit-remaining', 0)
      throw limitExceeded({ ...refusals.standing, msLeft: Math.max(1, refusals.until - performance.now()) })
    },
    note(app, token, error) {
      const standing = error instanceof TooManyRequests ? error.standing : undefined
      const name = nameOf(app, token)
      if (standing?.name !== 'user' || name === undefined) return
      known.set(name, { standing, until: performance.now() + standing.msLeft, count: 1 })
    },
  }
}
