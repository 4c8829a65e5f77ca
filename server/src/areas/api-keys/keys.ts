import { randomBytes } from 'node:crypto'
import { ApiError, appLimitReached, hasReached, limits } from '@parley/contract'
import { sql } from 'kysely'
import { lockApp } from '../../chat/apps.ts'
import { changesOf } from '../../chat/audit/changes.ts'
import { type KeyScope, keysTopic } from '../../chat/credentials/keys.ts'
import { keyFingerprint } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { PageRequest } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'

export interface ApiKey {
  apiKey: string
  name: string
  scope: KeyScope
  createdAt: number
}

interface KeyRow {
  sealed: Buffer
  name: string
  scope: KeyScope
  createdAt: number
}

export type Store = Pick<Context, 'database' | 'secrets' | 'invalidation' | 'keys' | 'settings' | 'audit'>

const selectCount = statement(`
  select count(*) as count
  from api_keys
  where app_id = $1`)

const insert = statement(`
  insert into api_keys (app_id, digest, sealed, name, scope, created_at, origin, predecessors)
  select $1, $2, $3, $4, $5, $6, $7, $8
  where not exists (select from deleted_api_keys where app_id = $1 and digest = $2)
  on conflict (app_id, digest) do nothing
  returning digest`)

const selectDeleted = statement(`
  select deleted_at as "deletedAt"
  from deleted_api_keys
  where app_id = $1
  and digest = $2`)

const select = statement(`
  select sealed, name, scope, created_at as "createdAt"
  from api_keys
  where app_id = $1
  and digest = $2`)

const lock = statement(`
  select sealed, name, scope, created_at as "createdAt"
  from api_keys
  where app_id = $1
  and digest = $2
  for update`)

const update = statement(`
  update api_keys
  set name = coalesce($3, name),
    scope = coalesce($4, scope)
  where app_id = $1
  and digest = $2
  returning sealed, name, scope, created_at as "createdAt"`)

/** What was deleted is noted in the same statement: no start with an older environment makes it again. */
const remove = statement(`
  with removed as (
    delete from api_keys
    where app_id = $1
    and digest = $2
    returning app_id, digest, sealed, name, scope, created_at
  ),
  noted as (
  insert into deleted_api_keys (app_id, digest, deleted_at)
  select app_id, digest, $3
  from removed
  on conflict (app_id, digest) do update
  set deleted_at = excluded.deleted_at
  )
  select sealed, name, scope, created_at as "createdAt"
  from removed`)

/** Creates a key. @throws 400 when the app has as many as it may have (setting `maxApiKeys`) */
export async function insertKey(store: Store, appId: number, name: string, scope: KeyScope): Promise<ApiKey> {
  const apiKey = randomBytes(limits.apiKeyLength / 2).toString('hex')
  const createdAt = Math.floor(Date.now() / 1000)
  const { maxApiKeys } = await store.settings.of(appId)
  await store.database.transaction(async (tx) => {
    await lockApp(tx, appId)
    if (hasReached(maxApiKeys, await countKeys(tx, appId))) throw appLimitReached(maxApiKeys, 'API keys')
    await storeKey(store, tx, appId, { apiKey, name, scope }, createdAt)
  })
  return { apiKey, name, scope, createdAt }
}

/**
 * Makes sure that an app has a given key, as configured for the deployment, unless that was deleted before.
 * @returns when and what was deleted; undefined where the key is there
 */
export async function ensureKey(
  keys: Pick<Context, 'database' | 'secrets' | 'audit'>,
  appId: number,
  key: NewKey,
): Promise<DeletedKey | undefined> {
  return keys.database.transaction(async (tx) => {
    await storeKey(keys, tx, appId, key, Math.floor(Date.now() / 1000))
    const digest = keys.secrets.digest(key.apiKey)
    const [deleted] = await tx.query<{ deletedAt: number }>(selectDeleted, [appId, digest])
    return deleted && { ...deleted, fingerprint: keyFingerprint(digest) }
  })
}

/** A key that was deleted and stays so. */
export interface DeletedKey {
  readonly fingerprint: string
  /** Epoch seconds. */
  readonly deletedAt: number
}

type NewKey = Pick<ApiKey, 'apiKey' | 'name' | 'scope'>

export async function countKeys(on: Queryable, appId: number): Promise<number> {
  const [row] = await on.query<{ count: number }>(selectCount, [appId])
  return row?.count ?? 0
}

/** The keys whose place a key takes (their digests): the first of them, and those that are known. */
export interface Predecessors {
  readonly origin: Buffer
  readonly predecessors: readonly Buffer[]
}

export async function storeKey(
  { secrets, audit }: Pick<Context, 'secrets' | 'audit'>,
  tx: Transaction,
  appId: number,
  { apiKey, name, scope }: NewKey,
  createdAt: number,
  before?: Predecessors,
): Promise<boolean> {
  const digest = secrets.digest(apiKey)
  const { origin = null, predecessors = null } = before ?? {}
  const values = [appId, digest, secrets.seal(apiKey), name, scope, createdAt, origin, predecessors]
  const inserted = await tx.query(insert, values)
  if (inserted.length === 0) return false
  const details = changesOf(undefined, { name, scope })
  await audit.record(tx, appId, { action: 'apikey_created', type: 'apikey', target: keyFingerprint(digest), details })
  return true
}

/**
 * Gives an app a key that it had elsewhere. Under the lock of the app.
 * @returns `known` where it has it, the error where it has as many as it may have
 */
export async function importKey(
  store: Pick<Context, 'secrets' | 'audit' | 'settings' | 'invalidation' | 'keys'>,
  tx: Transaction,
  appId: number,
  key: NewKey,
  createdAt: number,
): Promise<ApiError | 'known' | undefined> {
  const apiKey = key.apiKey.toLowerCase()
  const [known] = await tx.query(select, [appId, store.secrets.digest(apiKey)])
  if (known !== undefined) return 'known'
  const { maxApiKeys } = await store.settings.of(appId)
  if (hasReached(maxApiKeys, await countKeys(tx, appId))) return appLimitReached(maxApiKeys, 'API keys')
  if (!(await storeKey(store, tx, appId, { ...key, apiKey }, createdAt))) return keyWasDeleted()
  await store.invalidation.announce(tx, keysTopic, String(appId))
  tx.afterCommit(() => store.keys.forget(appId))
  return undefined
}

/** A page of an app's keys, newest first, and how many there are. */
export async function selectKeys(
  { database, secrets }: Store,
  appId: number,
  filter: { scope?: KeyScope; searchKey?: string },
  page: PageRequest,
): Promise<{ keys: ApiKey[]; total: number }> {
  const conditions: Fragment[] = [sql`app_id = ${appKey(appId)}`]
  if (filter.scope !== undefined) conditions.push(sql`scope = ${filter.scope}`)
  if (filter.searchKey !== undefined) conditions.push(sql`strpos(lower(name), lower(${filter.searchKey})) > 0`)
  const rows = await database.run<KeyRow>(sql`
    select sealed, name, scope, created_at as "createdAt"
    from api_keys
    where ${allOf(conditions)}
    order by ordinal desc`)
  const keys = rows.slice(page.offset, page.offset + page.perPage).map((row) => show(secrets, row))
  return { keys, total: rows.length }
}

/** @throws 404 `ERR_APIKEY_NOT_FOUND` */
export async function readKey({ database, secrets }: Store, appId: number, apiKey: string): Promise<ApiKey> {
  const [row] = await database.query<KeyRow>(select, [appId, secrets.digest(apiKey.toLowerCase())])
  if (row === undefined) throw unknownKey()
  return show(secrets, row)
}

/** @throws 404 `ERR_APIKEY_NOT_FOUND` */
export async function changeKey(
  store: Store,
  appId: number,
  apiKey: string,
  change: { name?: string; scope?: KeyScope },
): Promise<ApiKey> {
  const digest = store.secrets.digest(apiKey.toLowerCase())
  const row = await store.database.transaction(async (tx) => {
    const [before] = await tx.query<KeyRow>(lock, [appId, digest])
    const [changed] = await tx.query<KeyRow>(update, [appId, digest, change.name ?? null, change.scope ?? null])
    if (changed === undefined) throw unknownKey()
    const target = keyFingerprint(digest)
    const details = changesOf(before && recorded(before), recorded(changed))
    await store.audit.record(tx, appId, { action: 'apikey_updated', type: 'apikey', target, details })
    await store.invalidation.announce(tx, keysTopic, String(appId))
    tx.afterCommit(() => store.keys.forget(appId))
    return changed
  })
  return show(store.secrets, row)
}

/** Removes a key; from the answer on it opens nothing. @throws 404 `ERR_APIKEY_NOT_FOUND` */
export async function removeKey(store: Store, appId: number, apiKey: string): Promise<void> {
  const digest = store.secrets.digest(apiKey.toLowerCase())
  await store.database.transaction(async (tx) => {
    if (!(await dropKey(store, tx, appId, digest))) throw unknownKey()
  })
}

/** @returns false where there is no such key */
export async function dropKey(
  { audit, invalidation, keys }: Pick<Store, 'audit' | 'invalidation' | 'keys'>,
  tx: Transaction,
  appId: number,
  digest: Buffer,
): Promise<boolean> {
  const [removed] = await tx.query<KeyRow>(remove, [appId, digest, Math.floor(Date.now() / 1000)])
  if (removed === undefined) return false
  const details = changesOf(recorded(removed), undefined)
  await audit.record(tx, appId, { action: 'apikey_deleted', type: 'apikey', target: keyFingerprint(digest), details })
  await invalidation.announce(tx, keysTopic, String(appId))
  tx.afterCommit(() => keys.forget(appId))
  return true
}

/** What the audit log has of a key. */
const recorded = ({ name, scope }: KeyRow) => ({ name, scope })

function show(secrets: Secrets, row: KeyRow): ApiKey {
  return { apiKey: secrets.unseal(row.sealed), name: row.name, scope: row.scope, createdAt: row.createdAt }
}

function keyWasDeleted(): ApiError {
  return new ApiError('ERR_BAD_REQUEST', 'This API key was deleted here, and stays deleted.')
}

/** 404. The text does not repeat the key: it would end up in logs. */
function unknownKey(): ApiError {
  return new ApiError('ERR_APIKEY_NOT_FOUND')
}
