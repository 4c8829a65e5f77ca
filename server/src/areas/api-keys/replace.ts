import { randomBytes } from 'node:crypto'
import { appLimitReached, hasReached, limits } from '@parley/contract'
import { lockApp } from '../../chat/apps.ts'
import { type KeyScope, keysTopic } from '../../chat/credentials/keys.ts'
import { keyFingerprint } from '../../chat/identity.ts'
import type { Log } from '../../log.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { type ApiKey, countKeys, dropKey, type Predecessors, type Store, storeKey } from './keys.ts'

/** A key as those see it who have the database. */
export interface HeldKey extends ApiKey {
  readonly digest: Buffer
  readonly fingerprint: string
  /** Epoch seconds since when another one is there to take its place. */
  readonly replacedAt: number | null
  /** Epoch seconds from which on it opens nothing; null: until somebody ends it. */
  readonly endsAt: number | null
}

const selectHeld = statement(`
  select digest, sealed, name, scope, created_at as "createdAt", replaced_at as "replacedAt", ends_at as "endsAt"
  from api_keys
  where app_id = $1
  order by ordinal`)

/** All keys of an app, the oldest first. */
export async function selectHeldKeys(
  { database, secrets }: Pick<Store, 'database' | 'secrets'>,
  appId: number,
): Promise<HeldKey[]> {
  const rows = await database.query<Omit<HeldKey, 'apiKey' | 'fingerprint'> & { sealed: Buffer }>(selectHeld, [appId])
  return rows.map(({ sealed, ...row }) => ({
    ...row,
    apiKey: secrets.unseal(sealed),
    fingerprint: keyFingerprint(row.digest),
  }))
}

const markReplaced = statement(`
  update api_keys
  set replaced_at = $3,
    ends_at = $4
  where app_id = $1
  and digest = $2
  and replaced_at is null
  returning coalesce(origin, digest) as origin, array_append(predecessors, digest) as predecessors`)

/**
 * Makes a key of the same name and scope that is to take the place of another. That one goes on opening until it ends. Users whom
 * one of them created count as created by both.
 * @param endsAt epoch seconds; null: it is ended by `endReplacedKeys`
 * @returns undefined where it was replaced or deleted meanwhile
 * @throws 400 when the app has as many keys as it may have (setting `maxApiKeys`)
 */
export async function replaceKey(
  store: Store,
  appId: number,
  { digest, name, scope }: Pick<HeldKey, 'digest' | 'name' | 'scope'>,
  endsAt: number | null,
): Promise<ApiKey | undefined> {
  const apiKey = randomBytes(limits.apiKeyLength / 2).toString('hex')
  const createdAt = Math.floor(Date.now() / 1000)
  const { maxApiKeys } = await store.settings.of(appId)
  return store.database.transaction(async (tx) => {
    await lockApp(tx, appId)
    const [replaced] = await tx.query<Predecessors>(markReplaced, [appId, digest, createdAt, endsAt])
    if (replaced === undefined) return undefined
    if (hasReached(maxApiKeys, await countKeys(tx, appId))) throw appLimitReached(maxApiKeys, 'API keys')
    await storeKey(store, tx, appId, { apiKey, name, scope }, createdAt, replaced)
    const details = { replaced: true, ...(endsAt !== null && { endsAt }) }
    await store.audit.record(tx, appId, {
      action: 'apikey_updated',
      type: 'apikey',
      target: keyFingerprint(digest),
      details,
    })
    await announceChange(store, tx, appId)
    return { apiKey, name, scope, createdAt }
  })
}

const selectReplaced = statement(`
  select digest
  from api_keys
  where app_id = $1
  and scope = $2
  and replaced_at is not null`)

/** Ends all keys of a scope that others were made to take the place of. @returns what stands for them */
export function endReplacedKeys(store: Store, appId: number, scope: KeyScope): Promise<string[]> {
  return store.database.transaction(async (tx) => {
    const replaced = await tx.query<{ digest: Buffer }>(selectReplaced, [appId, scope])
    for (const { digest } of replaced) await dropKey(store, tx, appId, digest)
    return replaced.map(({ digest }) => keyFingerprint(digest))
  })
}

const selectEnded = statement(`
  select app_id as "appId", digest
  from api_keys
  where ends_at <= $1
  limit 100`)

/** Removes the keys whose time is over; they open nothing any more in any case. @param now epoch seconds */
export async function removeEndedKeys(
  store: Pick<Store, 'audit' | 'invalidation' | 'keys'> & { readonly database: Database },
  now: number,
): Promise<void> {
  for (const { appId, digest } of await store.database.query<{ appId: number; digest: Buffer }>(selectEnded, [now])) {
    await store.database.transaction((tx) => dropKey(store, tx, appId, digest))
  }
}

async function announceChange(
  { invalidation, keys }: Pick<Store, 'invalidation' | 'keys'>,
  tx: Transaction,
  appId: number,
): Promise<void> {
  await invalidation.announce(tx, keysTopic, String(appId))
  tx.afterCommit(() => keys.forget(appId))
}

const removeEveryMs = 60_000

/** Removes keys whose time is over, now and then. @returns ends that */
export function removeKeysInTime(
  store: Parameters<typeof removeEndedKeys>[0] & { readonly ageClock: AgeClock; readonly log: Log },
): () => void {
  const remove = async () => {
    try {
      await removeEndedKeys(store, Math.floor((await store.ageClock.now()) / 1000))
    } catch (err) {
      if (!isConnectionFailure(err)) store.log.warn({ err }, 'could not remove API keys that have expired')
    }
  }
  const timer = setInterval(() => void remove(), removeEveryMs).unref()
  return () => clearInterval(timer)
}
