import { createHash } from 'node:crypto'
import { createCache } from '../cache.ts'
import { tooManyWrongCredentials } from '../limits/errors.ts'
import { createGuesses } from '../limits/guesses.ts'

/**
 * Slows down whoever tries keys and tokens, by their address. A key or token that has been right from there goes on
 * working, so that others behind the same address are not locked out; when it is over, it is still no guess. One that is
 * wrong again and again, as that of a client that was logged out long ago, counts once.
 */
export interface WrongCredentials {
  /** @throws 429 for an unknown key or token, while its address must wait; nothing is looked up */
  check(address: string | undefined, credential: string): Promise<void>
  wasRight(address: string | undefined, credential: string): void
  wasWrong(address: string | undefined, credential: string): Promise<void>
}

/** Distinct wrong ones of an address that cost nothing, in ten minutes. */
const free = 100
const rememberSeconds = 600
const longestSeconds = 60
const rightFor = 3_600_000
const maxKnown = 20_000
/** What is longer is not kept whole: a JWT, or nothing at all. */
const credentialLength = 200

/** What stands for a key or token: itself, unless it is long. Many JWTs begin alike. */
export function shortened(credential: string): string {
  if (credential.length <= credentialLength) return credential
  return createHash('sha256').update(credential).digest('base64')
}

/** @param onSlowed hears of each attempt that is refused */
export function createWrongCredentials(onSlowed: () => void): WrongCredentials {
  const guesses = createGuesses({ name: 'credentials', free, rememberSeconds, longestSeconds })
  const right = createCache<string, true>({ max: maxKnown, ttl: rightFor })
  const wrong = createCache<string, true>({ max: maxKnown, ttl: rememberSeconds * 1000 })
  const nameOf = (address: string, credential: string) => `${address} ${shortened(credential)}`

  return {
    async check(address, credential) {
      if (address === undefined) return
      const waitMs = await guesses.waitOf(address)
      if (waitMs === 0 || right.has(nameOf(address, credential))) return
      onSlowed()
      throw tooManyWrongCredentials(waitMs)
    },
    wasRight(address, credential) {
      if (address !== undefined) right.set(nameOf(address, credential), true)
    },
    async wasWrong(address, credential) {
      if (address === undefined) return
      const name = nameOf(address, credential)
      if (right.has(name) || wrong.has(name)) return
      wrong.set(name, true)
      await guesses.attempt(address)
    },
  }
}
