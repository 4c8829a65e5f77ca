import type { AppSettings } from '@parley/contract'
import type { Log } from '../../log.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import type { AppSettingsStore } from '../app-settings.ts'
import type { App } from '../identity.ts'
import { usePrecision } from './idle-timeout.ts'

/** Auth tokens as requests and sockets ask for them. */
export interface Tokens {
  /** Whose token this is. @returns undefined for an unknown or expired token, and for one whose user is deactivated */
  ownerOf(app: App, token: string): Promise<string | undefined>
  /** Those of some tokens in use, by digest (base64), that still open something. */
  findValid(appId: number, digests: readonly string[]): Promise<ReadonlySet<string>>
  /** Writes down what is still to be written. */
  stop(): Promise<void>
}

interface Row {
  readonly digest: Buffer
  readonly uid: string
  /** Epoch seconds. */
  readonly createdAt: number
  /** Epoch seconds; kept while the app has an idle timeout. Null: not used since. */
  readonly usedAt: number | null
}

const select = lookup<Row>(
  statement(`
  select t.digest, t.uid, t.created_at as "createdAt", t.used_at as "usedAt"
  from auth_tokens t
  join users u on u.app_id = t.app_id
    and u.uid = t.uid
  where t.app_id = $1
  and t.digest = any($2::bytea[])
  and u.deactivated_at is null`),
  ({ digest }) => [digest],
)

const noteUse = statement(`
  update auth_tokens
  set used_at = $3
  where app_id = $1
  and digest = any($2::bytea[])
  and (used_at is null or used_at < $3)`)

/** Uses are gathered for so long before they are written. */
const noteAfterMs = 1_000

export interface TokensOptions {
  readonly database: Database
  readonly secrets: Secrets
  readonly settings: AppSettingsStore
  readonly log: Log
  /** Called for each request, and each socket that logs in, with a token that opens something. */
  readonly onUse: (appId: number, uid: string) => void
}

export function createTokens({ database, secrets, settings, log, onUse }: TokensOptions): Tokens {
  /** By app: digests of tokens that are in use. */
  let used = new Map<number, Map<string, Buffer>>()
  let timer: NodeJS.Timeout | undefined

  const write = async () => {
    clearTimeout(timer)
    timer = undefined
    const due = used
    used = new Map()
    const now = Math.floor(Date.now() / 1000)
    for (const [appId, digests] of due) {
      try {
        await database.query(noteUse, [appId, [...digests.values()], now])
      } catch (error) {
        // Each is noted at its next use.
        if (!isConnectionFailure(error)) log.warn({ err: error }, 'uses of auth tokens could not be noted')
      }
    }
  }
  const note = (appId: number, digest: Buffer) => {
    const ofApp = used.get(appId) ?? new Map<string, Buffer>()
    used.set(appId, ofApp.set(digest.toString('base64'), digest))
    timer ??= setTimeout(() => void write(), noteAfterMs).unref()
  }

  /** Whether a token opens something now; then that counts as a use. */
  const use = (appId: number, row: Row, held: AppSettings): boolean => {
    const now = Math.floor(Date.now() / 1000)
    if (isExpired(row, held, now)) return false
    if (isUseToBeNoted(row, held, now)) note(appId, row.digest)
    return true
  }

  return {
    async ownerOf({ appId }, token) {
      const [[row], held] = await Promise.all([
        database.query<Row>(select, [appId, [secrets.digest(token)]]),
        settings.of(appId),
      ])
      if (row === undefined || !use(appId, row, held)) return undefined
      onUse(appId, row.uid)
      return row.uid
    },
    async findValid(appId, digests) {
      const [rows, held] = await Promise.all([
        database.query<Row>(select, [appId, digests.map((digest) => Buffer.from(digest, 'base64'))]),
        settings.of(appId),
      ])
      return new Set(rows.filter((row) => use(appId, row, held)).map(({ digest }) => digest.toString('base64')))
    },
    stop: write,
  }
}

type Expiry = Pick<AppSettings, 'tokenLifetime' | 'tokenIdleTimeout'>

/** Between these and now lie the times of tokens that are valid, in epoch seconds; -1: whenever it was. */
export interface Validity {
  readonly createdAfter: number
  readonly usedAfter: number
}

/** What is not noted is granted, so that no token expires before its time. */
export function validityOf({ tokenLifetime, tokenIdleTimeout }: Expiry, now: number): Validity {
  return {
    createdAfter: tokenLifetime === 0 ? -1 : now - tokenLifetime,
    usedAfter: tokenIdleTimeout === 0 ? -1 : now - tokenIdleTimeout - usePrecision(tokenIdleTimeout),
  }
}

export function isExpired(
  { createdAt, usedAt }: Pick<Row, 'createdAt' | 'usedAt'>,
  held: Expiry,
  now: number,
): boolean {
  const { createdAfter, usedAfter } = validityOf(held, now)
  return createdAt <= createdAfter || (usedAt !== null && usedAt <= usedAfter)
}

function isUseToBeNoted({ usedAt }: Pick<Row, 'usedAt'>, held: Expiry, now: number): boolean {
  return held.tokenIdleTimeout !== 0 && (usedAt === null || now > usedAt + usePrecision(held.tokenIdleTimeout))
}

/** Milliseconds after which sockets of an app look whether their tokens have expired; undefined: they do not expire. */
export function expiryCheckMs({ tokenLifetime, tokenIdleTimeout }: Expiry): number | undefined {
  const limits = [tokenLifetime, tokenIdleTimeout].filter((seconds) => seconds !== 0)
  return limits.length === 0 ? undefined : Math.min(60_000, Math.max(1_000, Math.min(...limits) * 100))
}
