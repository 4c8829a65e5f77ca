import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { passwordsWait } from './errors.ts'

/** Passwords of operators, as they are kept: slow to compute, and few at a time, so that signing in cannot hold up the chat. */
export interface Passwords {
  hash(password: string): Promise<Buffer>
  /** @param kept undefined where there is no such account: that takes as long */
  matches(password: string, kept: Buffer | undefined): Promise<boolean>
}

const deriveKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** What a password costs, by the number that what is kept begins with: another cost gets another number. */
const costs = {
  /** For tests, which sign in all the time: some 3 ms. */
  0: { N: 2 ** 10, r: 8, p: 1 },
  /** 32 MB and some 200 ms. */
  1: { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 },
} satisfies Readonly<Record<number, ScryptOptions>>
export type PasswordCost = keyof typeof costs
const versionBytes = 1
const saltBytes = 16
const keyBytes = 32
/** One of the four threads that files are read by, too. */
const mostWaiting = 20

/** @param cost of those that are set from now on; those that are there are checked at the cost that they were set at */
export function createPasswords(cost: PasswordCost = 1): Passwords {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const derive = async (password: string, salt: Buffer, at: PasswordCost) => {
    if (waiting >= mostWaiting) {
      throw passwordsWait()
    }
    waiting++
    const key = last.then(() => deriveKey(password.normalize('NFC'), salt, keyBytes, costs[at]))
    last = key.catch(() => {})
    try {
      return await key
    } finally {
      waiting--
    }
  }
  const none = Buffer.concat([Buffer.from([cost]), randomBytes(saltBytes + keyBytes)])
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      return Buffer.concat([Buffer.from([cost]), salt, await derive(password, salt, cost)])
    },
    async matches(password, kept = none) {
      const salt = kept.subarray(versionBytes, versionBytes + saltBytes)
      const derived = await derive(password, salt, kept[0] as PasswordCost)
      return timingSafeEqual(kept.subarray(versionBytes + saltBytes), derived) && kept !== none
    },
  }
}
