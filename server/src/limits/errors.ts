import { ApiError } from '@parley/contract'
import type { Standing } from './rate-limiter.ts'

/** 429 `ERR_TOO_MANY_REQUESTS`, which says when to come back. */
export class TooManyRequests extends ApiError {
  override readonly retryAfterSeconds: number
  /** The rate limit that is exceeded, where it is one. */
  readonly standing: Standing | undefined

  constructor(what: string, waitMs: number, standing?: Standing) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    super('ERR_TOO_MANY_REQUESTS', `${what} Try again in ${seconds} s.`)
    this.retryAfterSeconds = seconds
    this.standing = standing
  }
}

/** A rate limit is exceeded. */
export function limitExceeded(standing: Standing): TooManyRequests {
  const { name, limit, burst, msLeft } = standing
  const atOnce = burst < limit ? `, ${burst} of them at once,` : ''
  return new TooManyRequests(`The rate limit ${name} of ${limit} per minute${atOnce} is exceeded.`, msLeft, standing)
}

/** Too many keys and tokens from this address were wrong. */
export function tooManyWrongCredentials(waitMs: number): TooManyRequests {
  return new TooManyRequests('Too many keys or tokens from this address were wrong.', waitMs)
}

/** The user has given too many wrong passwords for the group. */
export function tooManyWrongPasswords(guid: string, waitMs: number): TooManyRequests {
  return new TooManyRequests(`Too many passwords for the group ${guid} were wrong.`, waitMs)
}
