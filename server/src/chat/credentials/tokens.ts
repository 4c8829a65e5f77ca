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
import { isJwt, type Jwts, signedPartOf, sourceOf } from './jwts.ts'

/** Auth tokens as requests and sockets ask for them. */
export interface Tokens {
  /**
   * Whose token this is, of those who come with it: that is a use of it. @returns undefined for an unknown token; `over` for one
   *   that opens nothing and is known to be no guess: it has expired, or its issuer did sign it
   * @throws 503 `ERR_MISSION_FAILED` where the keys of the app's issuer cannot be read
   */
  find(app: App, token: string): Promise<TokenOwner | 'over' | undefined>
  /** The same of a token that somebody else names: its user is not there, so it stays unused and they are not active. */
  findNamed(app: App, token: string): Promise<TokenOwner | 'over' | undefined>
  /** The digests of those in use that still open something. */
  findValid(appId: number, used: readonly TokenOwner[]): Promise<ReadonlySet<string>>
  /** Writes down what is still to be written. */
  stop(): Promise<void>
}

/** Whose a token is. */
export interface TokenOwner {
  readonly uid: string
  /** Stands for the token (base64). */
  readonly digest: string
  /** Of a token that the app's own issuer has signed. */
  readonly jwt?: JwtLogin
}

/** What holds of such a token beyond its signature. */
export interface JwtLogin {
  /** Epoch seconds. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** Who the app had sign its tokens. */
  readonly source: string
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

interface UserRow {
  readonly uid: string
  /** Epoch seconds. */
  readonly createdAt: number
  readonly tokensAfter: number | null
}

const selectUsers = lookup<UserRow>(
  statement(`
  select uid, created_at as "createdAt", tokens_after as "tokensAfter"
  from users
  where app_id = $1
  and uid = any($2::text[])
  and deactivated_at is null`),
  ({ uid }) => [uid],
)

const selectEnded = lookup<{ digest: Buffer }>(
  statement(`
  select digest
  from ended_jwts
  where app_id = $1
  and digest = any($2::bytea[])`),
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

/** A token that opens something. */
interface Found {
  readonly owner: TokenOwner
  /** Notes that it is used, where its uses are kept. */
  readonly noteUse?: () => void
}

export interface TokensOptions {
  readonly database: Database
  readonly jwts: Jwts
  readonly secrets: Secrets
  readonly settings: AppSettingsStore
  readonly log: Log
  /** Called for each request, and each socket that logs in, with a token that opens something. */
  readonly onUse: (appId: number, uid: string) => void
}

export function createTokens({ database, jwts, secrets, settings, log, onUse }: TokensOptions): Tokens {
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

  const noteIfDue = (appId: number, row: Row, held: AppSettings) => {
    if (isUseToBeNoted(row, held, Math.floor(Date.now() / 1000))) note(appId, row.digest)
  }

  /** Those of some JWTs that have not been ended: by their users, by the app, or by what the app has set. */
  const findGoing = async (appId: number, logins: ReadonlyArray<TokenOwner & { jwt: JwtLogin }>, held: AppSettings) => {
    const now = Date.now() / 1000
    const source = sourceOf(held)
    const uids = [...new Set(logins.map(({ uid }) => uid))]
    const digests = [...new Set(logins.map(({ digest }) => digest))]
    const [users, ended] = await Promise.all([
      database.query<UserRow>(selectUsers, [appId, uids]),
      database.query<{ digest: Buffer }>(selectEnded, [appId, digests.map((digest) => Buffer.from(digest, 'base64'))]),
    ])
    const userOf = new Map(users.map((user) => [user.uid, user]))
    const gone = new Set(ended.map(({ digest }) => digest.toString('base64')))
    return logins.filter(({ uid, digest, jwt }) => {
      const user = userOf.get(uid)
      if (user === undefined || gone.has(digest) || jwt.expiresAt <= now || jwt.source !== source) return false
      // A token of the second in which its user was logged out everywhere may be older than that.
      return jwt.issuedAt >= user.createdAt && (user.tokensAfter === null || jwt.issuedAt >= user.tokensAfter + 1)
    })
  }

  const lookUpJwt = async ({ appId }: App, token: string): Promise<Found | 'over' | undefined> => {
    const held = await settings.of(appId)
    const source = sourceOf(held)
    const claims = source === undefined ? undefined : await jwts.read(appId, token, held)
    if (source === undefined || claims === undefined) return undefined
    if (claims === 'over') return 'over'
    const { uid, issuedAt, expiresAt } = claims
    const digest = secrets.digest(`jwt ${signedPartOf(token)}`).toString('base64')
    const login = { uid, digest, jwt: { issuedAt, expiresAt, source } }
    const going = await findGoing(appId, [login], held)
    return going.length === 0 ? 'over' : { owner: login }
  }

  const lookUp = async (app: App, token: string): Promise<Found | 'over' | undefined> => {
    if (isJwt(token)) return lookUpJwt(app, token)
    const { appId } = app
    const [[row], held] = await Promise.all([
      database.query<Row>(select, [appId, [secrets.digest(token)]]),
      settings.of(appId),
    ])
    if (row === undefined) return undefined
    if (isExpired(row, held, Math.floor(Date.now() / 1000))) return 'over'
    const owner = { uid: row.uid, digest: row.digest.toString('base64') }
    return { owner, noteUse: () => noteIfDue(appId, row, held) }
  }

  return {
    async find(app, token) {
      const found = await lookUp(app, token)
      if (found === undefined || found === 'over') return found
      found.noteUse?.()
      onUse(app.appId, found.owner.uid)
      return found.owner
    },
    async findNamed(app, token) {
      const found = await lookUp(app, token)
      return found === undefined || found === 'over' ? found : found.owner
    },
    async findValid(appId, used) {
      const signed = used.filter((owner): owner is TokenOwner & { jwt: JwtLogin } => owner.jwt !== undefined)
      const own = used.flatMap(({ digest, jwt }) => (jwt === undefined ? Buffer.from(digest, 'base64') : []))
      const held = await settings.of(appId)
      const [rows, going] = await Promise.all([
        own.length === 0 ? [] : database.query<Row>(select, [appId, own]),
        signed.length === 0 ? [] : findGoing(appId, signed, held),
      ])
      const now = Math.floor(Date.now() / 1000)
      const valid = rows.filter((row) => !isExpired(row, held, now))
      for (const row of valid) noteIfDue(appId, row, held)
      return new Set([...valid.map(({ digest }) => digest.toString('base64')), ...going.map(({ digest }) => digest)])
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
