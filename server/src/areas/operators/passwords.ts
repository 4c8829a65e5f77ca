import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ApiError } from '@parley/contract'

/** Passwords of operators, as they are kept: slow to compute, and few at a time, so that signing in cannot hold up the chat. */
export interface Passwords {
  hash(password: string): Promise<Buffer>
  /** @param kept undefined where there is no such account: that takes as long */
  matches(password: string, kept: Buffer | undefined): Promise<boolean>
}

const deriveKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** 32 MB and some 200 ms. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
/** Begins what is kept: another cost would have another number. */
const version = Buffer.from([1])
const saltBytes = 16
const keyBytes = 32
/** One of the four threads that files are read by, too. */
const mostWaiting = 20

export function createPasswords(): Passwords {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const derive = async (password: string, salt: Buffer) => {
    if (waiting >= mostWaiting) {
      throw new ApiError('ERR_MISSION_FAILED', 'Too many passwords wait to be checked. Try again.').retryAfter(5)
    }
    waiting++
    const key = last.then(() => deriveKey(password.normalize('NFC'), salt, keyBytes, cost))
    last = key.catch(() => {})
    try {
      return await key
    } finally {
      waiting--
    }
  }
  const none = Buffer.concat([version, randomBytes(saltBytes + keyBytes)])
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      return Buffer.concat([version, salt, await derive(password, salt)])
    },
    async matches(password, kept = none) {
      const salt = kept.subarray(version.length, version.length + saltBytes)
      const isRight = timingSafeEqual(kept.subarray(version.length + saltBytes), await derive(password, salt))
      return isRight && kept !== none
    },
  }
}
