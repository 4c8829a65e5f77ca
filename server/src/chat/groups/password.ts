import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ApiError } from '@parley/contract'
import { TooManyRequests } from '../../limits/errors.ts'
import type { Database } from '../../store/database.ts'
import { type Reader, ReadsFullError, ReadTimeoutError } from '../../store/reader.ts'
import type { Secrets } from '../../store/secrets.ts'
import { createTurns } from '../../store/turns.ts'

/**
 * Passwords of groups. What is kept is slow to compute, so that whoever has the database and the master key still has to
 * guess; few are computed at a time, in turn between apps and users, so that nothing else waits for them.
 */
export interface GroupPasswords {
  /** What is kept of a password. @param reader on whose behalf */
  hash(reader: Reader, password: string): Promise<Buffer>
  matches(reader: Reader, guid: string, password: string, kept: Buffer): Promise<boolean>
}

const deriveKey = promisify<Buffer, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** 16 MB and some 50 ms. */
const cost = { N: 2 ** 14, r: 8, p: 1 }
/**
 * Begins what is kept: another cost would have another number. Of the first kind was the password together with the master key
 * and the number of the app, so that it can be checked nowhere else; it is replaced when somebody joins.
 */
const version = Buffer.from([2])
const bound = 1
const saltBytes = 16
const keyBytes = 32

/** Two of the four threads that files are read by, too. */
const turnLimits = {
  atOnce: 2,
  atOncePerApp: 2,
  atOncePerUser: 1,
  atOncePerKey: 1,
  waitingPerReader: 20,
  waitingPerApp: 200,
  waiting: 1_000,
}
const patienceMs = 10_000
/** Computing takes a core: a user with a token gets a quarter of the time of one, and rests after each. */
const restsTimes = 3
const longestRestMs = 1_000

export function createGroupPasswords(secrets: Secrets): GroupPasswords {
  const turns = createTurns('password', turnLimits, patienceMs)
  const derive = async (reader: Reader, password: Buffer, salt: Buffer) => {
    let ms = 0
    const compute = async () => {
      const from = performance.now()
      const key = await deriveKey(password, salt, keyBytes, cost)
      ms = performance.now() - from
      return key
    }
    try {
      return await turns.run(reader, compute, () => (reader.isPaced ? Math.min(longestRestMs, ms * restsTimes) : 0))
    } catch (error) {
      throw refusalOf(error, reader) ?? error
    }
  }
  return {
    async hash(reader, password) {
      const salt = randomBytes(saltBytes)
      return Buffer.concat([version, salt, await derive(reader, Buffer.from(password), salt)])
    },
    async matches(reader, guid, password, kept) {
      if (isDigest(kept)) return timingSafeEqual(kept, digestGroupPassword(secrets, reader.appId, guid, password))
      const salt = kept.subarray(version.length, version.length + saltBytes)
      const hashed = isPortable(kept)
        ? Buffer.from(password)
        : digestGroupPassword(secrets, reader.appId, guid, password)
      return timingSafeEqual(kept.subarray(version.length + saltBytes), await derive(reader, hashed, salt))
    },
  }
}

/** On whose behalf a password is computed. @param database as the request was given it */
export function passwordReader({ reader }: Pick<Database, 'reader'>, appId: number, uid: string | undefined): Reader {
  return { appId, uid, isPaced: reader.isPaced === true }
}

function refusalOf(error: unknown, { isPaced }: Reader): ApiError | undefined {
  // Whoever is paced waits for themselves.
  const isOwn =
    (error instanceof ReadTimeoutError && isPaced) || (error instanceof ReadsFullError && error.of === 'reader')
  if (isOwn) {
    return new TooManyRequests('Too many of your group passwords wait to be checked.', 1_000)
  }
  if (error instanceof ReadsFullError || error instanceof ReadTimeoutError) {
    return new ApiError('ERR_MISSION_FAILED', 'Too many group passwords wait to be checked. Try again.')
  }
  return undefined
}

/**
 * What an import keeps of a group's password, since there may be a thousand at once; it is made slow when somebody joins.
 * Neither colons nor blanks occur in a guid, so no two inputs are alike.
 */
export function digestGroupPassword(secrets: Secrets, appId: number, guid: string, password: string): Buffer {
  return secrets.digest(`group password:${appId}:${guid}:${password}`)
}

/** Is this what an import keeps? */
function isDigest(kept: Buffer): boolean {
  return kept.length === keyBytes
}

/** Is this all that a service needs to check a password, whatever its master key? */
export function isPortable(kept: Buffer): boolean {
  return kept.length === version.length + saltBytes + keyBytes && kept[0] !== bound
}

/** @param hash as exports have it: `scrypt$16384$8$1$`, salt and key in base64 */
export function readPasswordHash(hash: string): Buffer {
  const parts = hash.split('$').slice(4)
  return Buffer.concat([version, ...parts.map((part) => Buffer.from(part, 'base64'))])
}

/** 400: a group of type password needs one. */
export function emptyGroupPassword(guid: string): ApiError {
  return new ApiError('ERR_EMPTY_GROUP_PASS', `The group ${guid} has the type password, so a password is required.`, [
    { path: 'body/password', message: 'is required for a group of type password' },
  ])
}

/** 403: it is another. */
export function wrongGroupPassword(guid: string): ApiError {
  return new ApiError('ERR_WRONG_GROUP_PASS', `The password of the group ${guid} is wrong.`)
}
