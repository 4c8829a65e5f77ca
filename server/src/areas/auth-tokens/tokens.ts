import { randomBytes } from 'node:crypto'
import { ApiError, type BodyOf, badRequest, limits, type updateAuthToken } from '@parley/contract'
import type { Context } from '../../context.ts'
import type { Events } from '../../events/index.ts'
import type { PageRequest } from '../../paging.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'

/** A token as answers show it. */
export interface AuthToken {
  uid: string
  authToken: string
  createdAt: number
  platform?: string
  userAgent?: string
  appInfo?: Record<string, unknown>
}

/** Where a token is used, as far as the front end tells. */
export type TokenUse = BodyOf<typeof updateAuthToken>

interface TokenRow {
  readonly uid: string
  readonly sealed: Buffer
  readonly platform: string | null
  readonly userAgent: string | null
  readonly appInfo: Record<string, unknown> | null
  readonly createdAt: number
}

const columns = `uid, sealed, platform, user_agent as "userAgent", app_info as "appInfo", created_at as "createdAt"`

const insert = statement(`
  insert into auth_tokens (app_id, digest, sealed, uid, platform, user_agent, app_info, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  returning ${columns}`)

const dropOldest = statement(`
  delete from auth_tokens
  where app_id = $1
  and digest = any(array(
    select digest
    from auth_tokens
    where app_id = $1
    and uid = $2
    order by ordinal desc
    offset $3
  ))
  returning digest`)

/**
 * Issues a token. The caller holds the lock of the user's row (`lockUser`), so that tokens made at the same time are
 * counted one after the other: the oldest beyond 100 drop out.
 */
export async function issueToken(
  { secrets, events }: Pick<Context, 'secrets' | 'events'>,
  tx: Transaction,
  appId: number,
  uid: string,
  use: TokenUse = {},
): Promise<AuthToken> {
  const createdAt = Math.floor(Date.now() / 1000)
  const authToken = `${uid}_${createdAt}${randomBytes(15).toString('hex')}`
  const [row] = await tx.query<TokenRow>(insert, [
    appId,
    secrets.digest(authToken),
    secrets.seal(authToken),
    uid,
    use.platform ?? null,
    use.userAgent ?? null,
    use.appInfo === undefined ? null : JSON.stringify(use.appInfo),
    createdAt,
  ])
  const dropped = await tx.query<{ digest: Buffer }>(dropOldest, [appId, uid, limits.authTokensPerUser])
  tx.afterCommit(() => endSessions(events, appId, uid, dropped))
  return show(secrets, row as TokenRow)
}

/** @throws 400 when `appInfo` is too large */
export function checkUse({ appInfo }: TokenUse): void {
  if (appInfo === undefined || Buffer.byteLength(JSON.stringify(appInfo)) <= limits.metadataBytes) return
  throw badRequest([{ path: 'body/appInfo', message: `must be at most ${limits.metadataBytes} bytes of JSON` }])
}

const selectPage = statement(`
  select ${columns}
  from auth_tokens
  where app_id = $1
  and uid = $2
  order by ordinal desc
  limit $3
  offset $4`)

const count = statement(`
  select count(*) as total
  from auth_tokens
  where app_id = $1
  and uid = $2`)

/** A page of a user's tokens, newest first, and the total. */
export async function selectTokens(
  { database, secrets }: Pick<Context, 'database' | 'secrets'>,
  appId: number,
  uid: string,
  page: PageRequest,
): Promise<{ tokens: AuthToken[]; total: number }> {
  const [rows, counted] = await Promise.all([
    database.query<TokenRow>(selectPage, [appId, uid, page.perPage, page.offset]),
    database.query<{ total: number }>(count, [appId, uid]),
  ])
  return { tokens: rows.map((row) => show(secrets, row)), total: counted[0]?.total ?? 0 }
}

const select = statement(`
  select ${columns}
  from auth_tokens
  where app_id = $1
  and digest = $2`)

/** @throws 404 `ERR_AUTH_TOKEN_NOT_FOUND`, 403 `ERR_AUTHTOKEN_NOT_ACCESSIBLE` */
export async function readToken(
  on: Queryable,
  secrets: Secrets,
  appId: number,
  uid: string,
  authToken: string,
): Promise<AuthToken> {
  const [row] = await on.query<TokenRow>(select, [appId, secrets.digest(authToken)])
  if (row === undefined) throw unknownToken(uid)
  if (row.uid !== uid) throw new ApiError('ERR_AUTHTOKEN_NOT_ACCESSIBLE', `The auth token does not belong to ${uid}.`)
  return show(secrets, row)
}

const update = statement(`
  update auth_tokens
  set platform = coalesce($3, platform),
    user_agent = coalesce($4, user_agent),
    app_info = coalesce($5, app_info)
  where app_id = $1
  and digest = $2
  returning ${columns}`)

/** Records where a token is used; what is left out stays as it is. @throws as `readToken` */
export async function recordUse(
  { database, secrets }: Pick<Context, 'database' | 'secrets'>,
  appId: number,
  uid: string,
  authToken: string,
  use: TokenUse,
): Promise<AuthToken> {
  await readToken(database, secrets, appId, uid, authToken)
  const [row] = await database.query<TokenRow>(update, [
    appId,
    secrets.digest(authToken),
    use.platform ?? null,
    use.userAgent ?? null,
    use.appInfo === undefined ? null : JSON.stringify(use.appInfo),
  ])
  if (row === undefined) throw unknownToken(uid)
  return show(secrets, row)
}

const remove = statement(`
  delete from auth_tokens
  where app_id = $1
  and digest = $2
  returning digest`)

/** Drops one token; from the answer on it opens nothing. @throws as `readToken` */
export async function removeToken(
  { database, secrets, events }: Pick<Context, 'database' | 'secrets' | 'events'>,
  appId: number,
  uid: string,
  authToken: string,
): Promise<void> {
  await readToken(database, secrets, appId, uid, authToken)
  const removed = await database.query<{ digest: Buffer }>(remove, [appId, secrets.digest(authToken)])
  if (removed.length === 0) throw unknownToken(uid)
  endSessions(events, appId, uid, removed)
}

const removeAll = statement(`
  delete from auth_tokens
  where app_id = $1
  and uid = $2
  returning digest`)

/** Drops all tokens of a user. */
export async function removeTokens(
  { database, events }: Pick<Context, 'database' | 'events'>,
  appId: number,
  uid: string,
): Promise<void> {
  endSessions(events, appId, uid, await database.query<{ digest: Buffer }>(removeAll, [appId, uid]))
}

/** Sockets that were opened with tokens which are gone must close. */
function endSessions(events: Events, appId: number, uid: string, gone: ReadonlyArray<{ digest: Buffer }>): void {
  if (gone.length === 0) return
  events.publish(appId, {
    control: 'sessions_ended',
    uid,
    tokens: gone.map(({ digest }) => digest.toString('base64')),
  })
}

function unknownToken(uid: string): ApiError {
  return new ApiError('ERR_AUTH_TOKEN_NOT_FOUND', `${uid} has no such auth token.`)
}

function show(secrets: Secrets, row: TokenRow): AuthToken {
  return {
    uid: row.uid,
    authToken: secrets.unseal(row.sealed),
    createdAt: row.createdAt,
    ...(row.platform !== null && { platform: row.platform }),
    ...(row.userAgent !== null && { userAgent: row.userAgent }),
    ...(row.appInfo !== null && { appInfo: row.appInfo }),
  }
}
