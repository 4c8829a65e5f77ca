import type { AppSettings } from '@parley/contract'
import type { Database, Queryable, Transaction } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import { appQuotaReached, dayQuotaReached } from './errors.ts'

/** How much may be uploaded, in bytes; 0: without a limit. */
export interface Quotas {
  /** By one user on one day (UTC). */
  readonly perDay: number
  /** All files of the app together. */
  readonly perApp: number
}

const megabyte = 1024 * 1024

/** What is set for an app. */
export function quotasOf({ uploadMegabytesPerDay, mediaMegabytes }: AppSettings): Quotas {
  return { perDay: uploadMegabytesPerDay * megabyte, perApp: mediaMegabytes * megabyte }
}

/** Whom an upload counts for; without a uid it is the app's own. */
export interface Uploader {
  readonly appId: number
  readonly uid: string | undefined
  readonly quotas: Quotas
}

const secondsOfDay = 86_400

const countForDay = statement(`
  insert into upload_days as d (app_id, uid, day, bytes)
  select $1, $2, $3, $4::bigint
  where $5::bigint = 0 or $4::bigint <= $5::bigint
  on conflict (app_id, uid, day) do update
  set bytes = d.bytes + excluded.bytes
  where $5::bigint = 0 or d.bytes + excluded.bytes <= $5::bigint
  returning bytes`)

const countForApp = statement(`
  insert into media_usage as a (app_id, bytes)
  select $1, $2::bigint
  where $3::bigint = 0 or $2::bigint <= $3::bigint
  on conflict (app_id) do update
  set bytes = a.bytes + excluded.bytes
  where $3::bigint = 0 or a.bytes + excluded.bytes <= $3::bigint
  returning bytes`)

const select = statement(`
  select
    (select bytes from upload_days where app_id = $1 and uid = $2 and day = $3) as "ofDay",
    (select bytes from media_usage where app_id = $1) as "ofApp"`)

const giveBackDay = statement(`
  update upload_days
  set bytes = greatest(0, bytes - $4)
  where app_id = $1
  and uid = $2
  and day = $3`)

const giveBackApp = statement(`
  update media_usage
  set bytes = greatest(0, bytes - $2)
  where app_id = $1`)

const forgetDays = statement(`
  delete from upload_days
  where day < $1`)

/** The day that uploads of now count for. @param now epoch milliseconds */
export function uploadDay(now = Date.now()): number {
  return Math.floor(now / 1000 / secondsOfDay)
}

/** Bytes that may still be uploaded. @throws where a quota leaves less than `least` */
export async function bytesLeft(on: Queryable, { appId, uid, quotas }: Uploader, least: number): Promise<number> {
  const perDay = uid === undefined ? 0 : quotas.perDay
  if (perDay === 0 && quotas.perApp === 0) return Number.POSITIVE_INFINITY
  const values = [appId, uid ?? null, uploadDay()]
  const [row] = await on.query<{ ofDay: number | null; ofApp: number | null }>(select, values)
  const left = (quota: number, used = 0) => (quota === 0 ? Number.POSITIVE_INFINITY : quota - used)
  const leftOfDay = left(perDay, row?.ofDay ?? 0)
  if (uid !== undefined && leftOfDay < least) throw dayReached(uid, perDay)
  const leftOfApp = left(quotas.perApp, row?.ofApp ?? 0)
  if (leftOfApp < least) throw appQuotaReached(quotas.perApp)
  return Math.min(leftOfDay, leftOfApp)
}

/** Counts bytes before they are written, so that uploads at the same time cannot pass a quota together. @throws where one would be passed */
export async function countBytes(tx: Transaction, uploader: Uploader, day: number, bytes: number): Promise<void> {
  const { appId, uid, quotas } = uploader
  if (uid !== undefined) {
    const [counted] = await tx.query(countForDay, [appId, uid, day, bytes, quotas.perDay])
    if (counted === undefined) throw dayReached(uid, quotas.perDay)
  }
  const [counted] = await tx.query(countForApp, [appId, bytes, quotas.perApp])
  if (counted === undefined) throw appQuotaReached(quotas.perApp)
}

/** Gives back bytes that were counted and not written. */
export async function giveBackBytes(tx: Transaction, uploader: Uploader, day: number, bytes: number): Promise<void> {
  const { appId, uid } = uploader
  if (bytes === 0) return
  if (uid !== undefined) await tx.query(giveBackDay, [appId, uid, day, bytes])
  await tx.query(giveBackApp, [appId, bytes])
}

/** Removes what is counted for days that are over. @param now epoch milliseconds */
export async function forgetPastDays(database: Database, now: number): Promise<void> {
  await database.query(forgetDays, [uploadDay(now)])
}

function dayReached(uid: string, bytes: number) {
  return dayQuotaReached(uid, bytes, secondsOfDay - (Math.floor(Date.now() / 1000) % secondsOfDay))
}
