import type { FastifyReply } from 'fastify'
import type { App, Caller } from '../chat/identity.ts'
import type { RateLimitName } from '../config/rate-limits.ts'
import { limitExceeded } from '../limits/errors.ts'
import type { CallerKind, RateLimiter, Standing } from '../limits/rate-limiter.ts'

/** Who has a fullAccess key is a server, whomever it acts for; keys of other scopes lie in front ends. */
export function kindOf(caller: Caller): CallerKind {
  const isServer = !(caller.kind === 'user' && caller.via === 'token') && caller.scope === 'fullAccess'
  return isServer ? 'server' : 'frontEnd'
}

/**
 * Counts a request against the limits of its user and of its app, and shows the client where it stands.
 * @param names the limits of the operation for a caller of this kind
 * @throws 429 `ERR_TOO_MANY_REQUESTS`; the request is not processed, and the exceeded limit and those behind it do not count it
 */
export async function takeFromLimits(
  limiter: RateLimiter,
  reply: FastifyReply,
  app: App,
  caller: Caller,
  names: readonly RateLimitName[],
): Promise<void> {
  let tightest: Standing | undefined
  for (const name of names) {
    const key = keyOf(name, app, caller)
    const standing = key === undefined ? undefined : await limiter.take(name, key)
    if (standing === undefined) continue
    if (tightest === undefined || standing.remaining < tightest.remaining) tightest = standing
    if (standing.isExceeded) {
      tightest = standing
      break
    }
  }
  if (tightest !== undefined) requireWithin(reply, tightest)
}

/**
 * Counts the other receivers of a send to several. One that begins within the limit is done as a whole.
 * @throws 429 `ERR_TOO_MANY_REQUESTS`
 */
export async function takeForReceivers(
  limiter: RateLimiter,
  reply: FastifyReply,
  app: App,
  caller: Caller,
  receivers: number,
): Promise<void> {
  if (receivers < 2 || caller.kind !== 'user') return
  const standing = await limiter.take('sendPerUser', `${app.appId} ${caller.uid}`, receivers - 1, 0)
  if (standing !== undefined) requireWithin(reply, standing)
}

/** What a request is counted under; undefined where it has no such limit. Servers are counted apart from front ends. */
function keyOf(name: RateLimitName, { appId }: App, caller: Caller): string | undefined {
  if (name === 'core' || name === 'standard' || name === 'import') {
    return kindOf(caller) === 'server' ? `${appId} server` : `${appId}`
  }
  return caller.kind === 'user' ? `${appId} ${caller.uid}` : undefined
}

function requireWithin(reply: FastifyReply, standing: Standing): void {
  setHeaders(reply, standing)
  if (standing.isExceeded) throw limitExceeded(standing)
}

function setHeaders(reply: FastifyReply, { limit, remaining }: Standing): void {
  reply.header('x-rate-limit', limit).header('x-rate-limit-remaining', remaining)
}
