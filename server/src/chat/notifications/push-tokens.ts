import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'

/** A registered device, as stored. */
export interface PushTokenRow {
  readonly uid: string
  readonly sealed: Buffer
  /** What stands for the login that it was registered with. */
  readonly authDigest: Buffer
  /** Its auth token; null where that is gone, or was one of the app's own issuer. */
  readonly authSealed: Buffer | null
  readonly platform: string
  readonly type: 'chat' | 'voip'
  readonly providerId: string
  readonly createdAt: number
  readonly updatedAt: number
}

const columns = `d.uid, d.sealed, d.auth_digest as "authDigest", a.sealed as "authSealed", d.platform, d.type, n.id as "providerId",
  d.created_at as "createdAt", d.updated_at as "updatedAt"`
const joins = `
  join notification_providers n on n.app_id = d.app_id and n.key = d.provider
  left join auth_tokens a on a.app_id = d.app_id and a.digest = d.auth_digest`

/** Which devices: those of a user, of one auth token of theirs, or one of them. */
export interface WhichTokens {
  readonly uid: string
  readonly authDigest?: Buffer
  readonly digest?: Buffer
}

const which = `d.app_id = $1
  and d.uid = $2
  and ($3::bytea is null or d.auth_digest = $3)
  and ($4::bytea is null or d.digest = $4)`

const select = statement(`
  select ${columns}
  from push_tokens d${joins}
  where ${which}
  order by d.created_at, d.digest`)

const remove = statement(`
  with d as (
    delete from push_tokens d
    where ${which}
    returning d.*
  )
  select ${columns}
  from d${joins}
  order by d.created_at, d.digest`)

const valuesOf = (appId: number, { uid, authDigest, digest }: WhichTokens) => [
  ...[appId, uid],
  ...[authDigest ?? null, digest ?? null],
]

export function readPushTokens(on: Queryable, appId: number, wanted: WhichTokens): Promise<PushTokenRow[]> {
  return on.query<PushTokenRow>(select, valuesOf(appId, wanted))
}

/** @returns those that are gone now */
export function removePushTokens(on: Queryable, appId: number, unwanted: WhichTokens): Promise<PushTokenRow[]> {
  return on.query<PushTokenRow>(remove, valuesOf(appId, unwanted))
}

const forgetLogins = statement(`
  delete from push_tokens
  where app_id = $1
  and auth_digest = any($2::bytea[])`)

const forgetUsers = statement(`
  delete from push_tokens
  where app_id = $1
  and uid = any($2::text[])`)

/** Devices whose auth tokens were taken back get nothing any more. In the transaction that removes those. */
export async function forgetDevicesOf(tx: Transaction, appId: number, authDigests: readonly Buffer[]): Promise<void> {
  if (authDigests.length > 0) await tx.query(forgetLogins, [appId, authDigests])
}

/** The same, of users whose every auth token was taken back. */
export async function forgetDevicesOfUsers(tx: Transaction, appId: number, uids: readonly string[]): Promise<void> {
  if (uids.length > 0) await tx.query(forgetUsers, [appId, uids])
}

const keepLogin = statement(`
  select uid
  from auth_tokens
  where app_id = $1
  and digest = $2
  for key share`)

const replace = statement(`
  delete from push_tokens
  where app_id = $1
  and auth_digest = $2
  and type = $3
  and (provider, digest) <> ($4::bigint, $5::bytea)`)

const write = statement(`
  insert into push_tokens (app_id, provider, digest, sealed, uid, auth_digest, platform, type, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
  on conflict (app_id, provider, digest) do update
  set sealed = excluded.sealed,
    uid = excluded.uid,
    auth_digest = excluded.auth_digest,
    platform = excluded.platform,
    type = excluded.type,
    created_at = case when push_tokens.uid = excluded.uid then push_tokens.created_at else excluded.created_at end,
    updated_at = excluded.updated_at`)

const dropOldest = statement(`
  delete from push_tokens
  where app_id = $1
  and (provider, digest) in (
    select provider, digest
    from push_tokens
    where app_id = $1
    and uid = $2
    order by updated_at desc
    offset $3
  )`)

/**
 * What stands for the login of a device whose user has tokens of the app's own issuer: these change by the hour, the device
 * does not. Devices that do not say which they are are one login.
 */
export function jwtDeviceDigest(secrets: Secrets, uid: string, device: string | undefined): Buffer {
  return secrets.digest(`jwt device ${JSON.stringify([uid, device ?? null])}`)
}

export interface NewPushToken {
  readonly uid: string
  /** Whether the login is one that is kept, or may have several devices. */
  readonly loginKind: 'kept' | 'device' | 'unnamed'
  readonly authDigest: Buffer
  readonly provider: number
  readonly digest: Buffer
  readonly sealed: Buffer
  readonly platform: string
  readonly type: 'chat' | 'voip'
  /** Epoch milliseconds. */
  readonly at: number
}

/**
 * Registers a device. It leaves whoever had it before, and takes the place of the one that its auth token had; beyond
 * `most` the longest unseen ones of its user go.
 * @returns false when the auth token has been taken back meanwhile
 */
export async function writePushToken(
  tx: Transaction,
  appId: number,
  token: NewPushToken,
  most: number,
): Promise<boolean> {
  const { uid, loginKind, authDigest, provider, digest, sealed, platform, type, at } = token
  if (loginKind === 'kept') {
    // Whoever takes the auth token back waits for this, and then finds the device.
    const kept = await tx.query(keepLogin, [appId, authDigest])
    if (kept.length === 0) return false
  }
  if (loginKind !== 'unnamed') await tx.query(replace, [appId, authDigest, type, provider, digest])
  await tx.query(write, [appId, provider, digest, sealed, uid, authDigest, platform, type, at])
  await tx.query(dropOldest, [appId, uid, most])
  return true
}
