import { randomBytes } from 'node:crypto'
import { type BodyOf, badRequest, limits, type updateAuthToken } from '@parley/contract'
import { sourceOf } from '../../chat/credentials/jwts.ts'
import { isExpired, type JwtLogin, type TokenOwner, validityOf } from '../../chat/credentials/tokens.ts'
import { forgetDevicesOf, forgetDevicesOfUsers, jwtDeviceDigest } from '../../chat/notifications/push-tokens.ts'
import { digestOf } from '../../chat/users/erased.ts'
import type { Context } from '../../context.ts'
import type { Events } from '../../events/index.ts'
import type { PageRequest } from '../../paging.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { type Statement, statement } from '../../store/statement.ts'
import { tokenOfAnother, unknownToken } from './errors.ts'

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
  insert into auth_tokens (app_id, digest, sealed, uid, platform, user_agent, app_info, created_at, used_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  returning ${columns}`)

/** Of tokens between the times of `validityOf`, as the third and the fourth value. */
export const isValid = `created_at > $3
  and (used_at is null or used_at > $4)`

/** Those that have expired go first. */
const dropOldest = statement(`
  delete from auth_tokens
  where app_id = $1
  and digest = any(array(
    select digest
    from auth_tokens
    where app_id = $1
    and uid = $2
    order by (${isValid}) desc, ordinal desc
    offset $5
  ))
  returning digest`)

/**
 * Issues a token. The caller holds the lock of the user's row (`lockUser`), so that tokens made at the same time are
 * counted one after the other: of those beyond 100 the expired drop out, then the oldest.
 */
export async function issueToken(
  { secrets, events, audit, settings }: Pick<Context, 'secrets' | 'events' | 'audit' | 'settings'>,
  tx: Transaction,
  appId: number,
  uid: string,
  use: TokenUse = {},
): Promise<AuthToken> {
  const createdAt = nowSeconds()
  const held = await settings.of(appId)
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
    held.tokenIdleTimeout === 0 ? null : createdAt,
  ])
  const { createdAfter, usedAfter } = validityOf(held, createdAt)
  const dropped = await tx.query<{ digest: Buffer }>(dropOldest, [
    ...[appId, uid, createdAfter, usedAfter, limits.authTokensPerUser],
  ])
  await forgetDevices(tx, appId, dropped)
  const details = dropped.length === 0 ? undefined : { dropped: dropped.length }
  await audit.record(tx, appId, { action: 'token_created', type: 'user', target: uid, details })
  tx.afterCommit(() => endSessions(events, appId, uid, dropped))
  return show(secrets, row as TokenRow)
}

const insertOnce = statement(`
  insert into auth_tokens (app_id, digest, sealed, uid, platform, user_agent, app_info, created_at, used_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict do nothing
  returning uid`)

const selectOwner = statement('select uid from auth_tokens where app_id = $1 and digest = $2')

/**
 * Gives a user a token that they had elsewhere, so that they stay logged in. The caller holds the user's row.
 * @returns `known` where it is there, `ofAnother` where it is that of somebody else
 */
export async function importToken(
  { secrets, audit, settings }: Pick<Context, 'secrets' | 'audit' | 'settings'>,
  tx: Transaction,
  appId: number,
  { uid, authToken, platform, userAgent, appInfo }: Omit<AuthToken, 'createdAt'>,
  createdAt: number,
): Promise<'known' | 'ofAnother' | undefined> {
  const digest = secrets.digest(authToken)
  const inserted = await tx.query(insertOnce, [
    ...[appId, digest, secrets.seal(authToken), uid, platform ?? null, userAgent ?? null],
    ...[appInfo === undefined ? null : JSON.stringify(appInfo), createdAt],
    (await settings.of(appId)).tokenIdleTimeout === 0 ? null : nowSeconds(),
  ])
  if (inserted.length === 0) {
    const [owner] = await tx.query<{ uid: string }>(selectOwner, [appId, digest])
    return owner?.uid === uid ? 'known' : 'ofAnother'
  }
  await audit.record(tx, appId, { action: 'token_created', type: 'user', target: uid, details: { imported: 1 } })
  return undefined
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
  and ${isValid}
  order by ordinal desc
  limit $5
  offset $6`)

const count = statement(`
  select count(*) as total
  from auth_tokens
  where app_id = $1
  and uid = $2
  and ${isValid}`)

/** A page of a user's tokens that have not expired, newest first, and their total. */
export async function selectTokens(
  { database, secrets, settings }: Pick<Context, 'database' | 'secrets' | 'settings'>,
  appId: number,
  uid: string,
  page: PageRequest,
): Promise<{ tokens: AuthToken[]; total: number }> {
  const { createdAfter, usedAfter } = validityOf(await settings.of(appId), nowSeconds())
  const [rows, counted] = await Promise.all([
    database.query<TokenRow>(selectPage, [appId, uid, createdAfter, usedAfter, page.perPage, page.offset]),
    database.query<{ total: number }>(count, [appId, uid, createdAfter, usedAfter]),
  ])
  return { tokens: rows.map((row) => show(secrets, row)), total: counted[0]?.total ?? 0 }
}

const select = statement(`
  select ${columns}, used_at as "usedAt"
  from auth_tokens
  where app_id = $1
  and digest = $2`)

/** A token that may have expired. @throws 404 `ERR_AUTH_TOKEN_NOT_FOUND`, 403 `ERR_AUTHTOKEN_NOT_ACCESSIBLE` */
async function findToken(on: Queryable, secrets: Secrets, appId: number, uid: string, authToken: string) {
  const [row] = await on.query<TokenRow & { usedAt: number | null }>(select, [appId, secrets.digest(authToken)])
  if (row === undefined) throw unknownToken(uid)
  if (row.uid !== uid) throw tokenOfAnother(uid)
  return row
}

/** A token that opens something. @throws 404 `ERR_AUTH_TOKEN_NOT_FOUND`, also when it has expired, 403 `ERR_AUTHTOKEN_NOT_ACCESSIBLE` */
export async function readToken(
  { database, secrets, settings }: Pick<Context, 'database' | 'secrets' | 'settings'>,
  appId: number,
  uid: string,
  authToken: string,
): Promise<AuthToken> {
  const row = await findToken(database, secrets, appId, uid, authToken)
  if (isExpired(row, await settings.of(appId), nowSeconds())) throw unknownToken(uid)
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
  context: Pick<Context, 'database' | 'secrets' | 'settings'>,
  appId: number,
  uid: string,
  authToken: string,
  use: TokenUse,
): Promise<AuthToken> {
  const { database, secrets } = context
  await readToken(context, appId, uid, authToken)
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

/** Deletes the token that a user is logged in with; from the answer on it opens nothing. One that has expired can be deleted, too. @throws as `findToken` */
export async function removeOwnToken(
  { database, secrets, events }: Pick<Context, 'database' | 'secrets' | 'events'>,
  appId: number,
  uid: string,
  authToken: string,
): Promise<void> {
  await findToken(database, secrets, appId, uid, authToken)
  await database.transaction(async (tx) => {
    const removed = await dropTokens(tx, appId, remove, secrets.digest(authToken))
    if (removed.length === 0) throw unknownToken(uid)
    tx.afterCommit(() => endSessions(events, appId, uid, removed))
  })
}

/** Deletes a token of a user for the app; from the answer on it opens nothing. One that has expired can be deleted, too. @throws as `findToken` */
export async function removeToken(context: Context, appId: number, uid: string, authToken: string): Promise<void> {
  const { database, secrets, events, audit } = context
  await database.transaction(async (tx) => {
    await findToken(tx, secrets, appId, uid, authToken)
    const removed = await dropTokens(tx, appId, remove, secrets.digest(authToken))
    if (removed.length === 0) throw unknownToken(uid)
    await audit.record(tx, appId, { action: 'token_deleted', type: 'user', target: uid, details: { count: 1 } })
    tx.afterCommit(() => endSessions(events, appId, uid, removed))
  })
}

const removeAll = statement(`
  delete from auth_tokens
  where app_id = $1
  and uid = $2
  returning digest`)

const endJwts = statement(`
  update users
  set tokens_after = $3
  where app_id = $1
  and uid = $2`)

/** A restore ends again what the app's own issuer had signed until then. */
const noteLogOut = statement(`
  insert into ledger (kind, app_id, digest, at)
  values ('logged_out', $1, $2, $3)`)

/** Logs a user out everywhere for the app: all their tokens are deleted, and what its own issuer signed until now opens nothing. */
export async function removeTokens(
  {
    database,
    events,
    audit,
    settings,
    secrets,
  }: Pick<Context, 'database' | 'events' | 'audit' | 'settings' | 'secrets'>,
  appId: number,
  uid: string,
): Promise<void> {
  const hasIssuer = sourceOf(await settings.of(appId)) !== undefined
  await database.transaction(async (tx) => {
    const now = nowSeconds()
    await tx.query(endJwts, [appId, uid, now])
    if (hasIssuer) await tx.query(noteLogOut, [appId, digestOf(secrets, appId, 'uid', uid), now * 1000])
    const removed = await dropTokens(tx, appId, removeAll, uid)
    await forgetDevicesOfUsers(tx, appId, [uid])
    const details = { count: removed.length }
    if (removed.length > 0 || hasIssuer)
      await audit.record(tx, appId, { action: 'token_deleted', type: 'user', target: uid, details })
    tx.afterCommit(() => {
      if (removed.length > 0) endSessions(events, appId, uid, removed, hasIssuer)
      // Where nothing was left, whoever asks again did not hear that it was done, nor did the sockets.
      else events.publish(appId, { control: 'sessions_ended', uid })
    })
  })
}

const noteEnd = statement(`
  insert into ended_jwts (app_id, digest, uid, expires_at)
  values ($1, $2, $3, $4)
  on conflict (app_id, digest) do nothing`)

const forgetEnded = statement(`
  delete from ended_jwts
  where app_id = $1
  and expires_at < $2`)

/** Ends a token that the app's own issuer has signed, before it does so by itself, and forgets the device that it was used on. */
export async function endJwt(
  { database, ageClock, secrets, events }: Pick<Context, 'database' | 'ageClock' | 'secrets' | 'events'>,
  appId: number,
  owner: TokenOwner & { jwt: JwtLogin },
  device: string | undefined,
): Promise<void> {
  const { uid, digest: text, jwt } = owner
  const digest = Buffer.from(text, 'base64')
  // Where the clock jumps ahead and back, what was ended must not open anything again.
  const now = Math.floor((await ageClock.now()) / 1000)
  await database.transaction(async (tx) => {
    await tx.query(forgetEnded, [appId, now])
    await tx.query(noteEnd, [appId, digest, uid, Math.ceil(jwt.expiresAt)])
    if (device !== undefined) await forgetDevicesOf(tx, appId, [jwtDeviceDigest(secrets, uid, device)])
    tx.afterCommit(() => endSessions(events, appId, uid, [{ digest }]))
  })
}

interface Dropped {
  readonly digest: Buffer
}

/** Removes tokens with the devices that are notified by them. */
export async function dropTokens(
  tx: Transaction,
  appId: number,
  removal: Statement,
  which: unknown,
): Promise<Dropped[]> {
  const dropped = await tx.query<Dropped>(removal, [appId, which])
  await forgetDevices(tx, appId, dropped)
  return dropped
}

async function forgetDevices(tx: Transaction, appId: number, dropped: readonly Dropped[]): Promise<void> {
  await forgetDevicesOf(
    tx,
    appId,
    dropped.map(({ digest }) => digest),
  )
}

/** Sockets that were opened with tokens which are gone must close. */
export function endSessions(
  events: Events,
  appId: number,
  uid: string,
  gone: ReadonlyArray<{ digest: Buffer }>,
  jwts = false,
): void {
  if (gone.length === 0) return
  events.publish(appId, {
    control: 'sessions_ended',
    uid,
    tokens: gone.map(({ digest }) => digest.toString('base64')),
    ...(jwts && { jwts }),
  })
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
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
