import { LRUCache } from 'lru-cache'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import type { App } from '../identity.ts'

export type KeyScope = 'fullAccess' | 'authOnly'

export interface Credential {
  readonly scope: KeyScope
  readonly digest: Buffer
}

/** API keys as the HTTP kernel asks for them: by every request, so kept in memory and dropped when changed. */
export interface KeyRing {
  /** @returns undefined for a key that this app does not have */
  find(app: App, key: string): Promise<Credential | undefined>
  /** Forgets what is known of one app's keys, in this process; other processes are told by `keysTopic`. */
  forget(appId: number): void
}

/** Announced with the app's surrogate key when one of its API keys was made, changed or deleted. */
export const keysTopic = 'api-keys'

const select = statement(`
  select scope
  from api_keys
  where app_id = $1
  and digest = $2`)

/** Keys unknown a moment ago are asked for again, so that a new key works at once everywhere. */
const maxKnown = 10_000

export function createKeyRing(database: Database, secrets: Secrets, invalidation: Invalidation): KeyRing {
  const known = new LRUCache<string, Credential>({ max: maxKnown })
  const forget = (appId: number) => {
    for (const cached of known.keys()) if (cached.startsWith(`${appId}:`)) known.delete(cached)
  }
  invalidation.onChange(keysTopic, (appId) => (appId === undefined ? known.clear() : forget(Number(appId))))

  return {
    async find(app, key) {
      const cacheKey = `${app.appId}:${key.toLowerCase()}`
      const cached = known.get(cacheKey)
      if (cached !== undefined) return cached
      const digest = secrets.digest(key.toLowerCase())
      const [row] = await database.query<{ scope: KeyScope }>(select, [app.appId, digest])
      if (row === undefined) return undefined
      const credential = { scope: row.scope, digest }
      known.set(cacheKey, credential)
      return credential
    },
    forget,
  }
}
