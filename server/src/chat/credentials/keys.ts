import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { createMemory } from '../../store/memory.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import type { App } from '../identity.ts'

export type KeyScope = 'fullAccess' | 'authOnly'

export interface Credential {
  readonly scope: KeyScope
  readonly digest: Buffer
  /** The digest of the first of the keys that this one took the place of; its own, where there is none. */
  readonly origin: Buffer
  /** The digests of those, as far as they are known, and its own. */
  readonly line: readonly Buffer[]
  /** Epoch seconds from which on it opens nothing; null: there is no such time. */
  readonly endsAt: number | null
}

/** API keys as every request asks for them; so they are kept in memory, and dropped when changed. */
export interface KeyRing {
  /** @returns undefined for a key that this app does not have */
  find(app: App, key: string): Promise<Credential | undefined>
  /** Forgets what is known of one app's keys, in this process; other processes hear of it by `keysTopic`. */
  forget(appId: number): void
}

/** Announced with the app's surrogate key when one of its API keys was made, changed or deleted. */
export const keysTopic = 'api-keys'

const select = statement(`
  select scope, coalesce(origin, digest) as origin, array_append(predecessors, digest) as line, ends_at as "endsAt"
  from api_keys
  where app_id = $1
  and digest = $2`)

const maxKnown = 10_000
/** A key that was deleted opens nothing after that, whatever an announcement came to. */
const knownForMs = 60_000

export function createKeyRing(database: Database, secrets: Secrets, invalidation: Invalidation): KeyRing {
  const known = createMemory<string, Credential | undefined>({
    max: maxKnown,
    ttlMs: knownForMs,
    // Keys unknown a moment ago are asked for again, so that a new key works at once everywhere.
    keeps: (credential) => credential !== undefined,
    async read(name) {
      const end = name.indexOf(':')
      const digest = secrets.digest(name.slice(end + 1))
      const [row] = await database.query<Omit<Credential, 'digest'>>(select, [Number(name.slice(0, end)), digest])
      return row && { ...row, digest }
    },
  })
  const forget = (appId: number) => known.forgetWhere((name) => name.startsWith(`${appId}:`))
  invalidation.onChange(keysTopic, (appId) => (appId === undefined ? known.forgetAll() : forget(Number(appId))))

  return {
    async find(app, key) {
      const credential = await known.recall(`${app.appId}:${key.toLowerCase()}`)
      const hasEnded = credential !== undefined && credential.endsAt !== null && credential.endsAt * 1000 <= Date.now()
      return hasEnded ? undefined : credential
    },
    forget,
  }
}
