import { createCache } from '../cache.ts'
import type { App } from '../chat/identity.ts'
import type { Database } from '../store/database.ts'
import { lookup } from '../store/lookups.ts'
import { statement } from '../store/statement.ts'

/** Where files came in: only an address that begins so is one of ours. */
export interface FileOrigins {
  /**
   * @returns by key: the scheme, host and port under which the file was uploaded; null for a file from before that was
   * written down. Missing: there is no such file
   */
  of(app: Pick<App, 'appId'>, keys: Iterable<string>): Promise<ReadonlyMap<string, string | null>>
}

interface Row {
  readonly key: string
  readonly origin: string | null
}

const select = lookup<Row>(
  statement(`
  select key, origin
  from media_files
  where app_id = $1
  and key = any($2::text[])`),
  ({ key }) => [key],
)

/** Files whose origin is kept. It never changes. */
const maxFiles = 50_000

export function createFileOrigins(database: Pick<Database, 'query'>): FileOrigins {
  const kept = createCache<string, { readonly origin: string | null }>({ max: maxFiles })
  return {
    async of({ appId }, keys) {
      const found = new Map<string, string | null>()
      const missing: string[] = []
      for (const key of new Set(keys)) {
        const known = kept.get(`${appId} ${key}`)
        if (known === undefined) missing.push(key)
        else found.set(key, known.origin)
      }
      if (missing.length === 0) return found
      for (const { key, origin } of await database.query<Row>(select, [appId, missing])) {
        kept.set(`${appId} ${key}`, { origin })
        found.set(key, origin)
      }
      return found
    },
  }
}
