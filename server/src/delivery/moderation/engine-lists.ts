import { LRUCache } from 'lru-cache'
import { readListRevision, termsOf } from '../../chat/moderation/lists.ts'
import type { Database } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'

/** A revision of a list that holds an engine's address, or prompts. */
export interface EngineList {
  /** The address, or the prompts. */
  readonly terms: readonly string[]
  /** Value of the header `authorization`. */
  readonly authorization: string | undefined
}

/** Revisions of lists, which never change, kept in memory. */
export interface EngineLists {
  /** @returns undefined where there is none */
  of(appId: number, listId: string, revision: number): Promise<EngineList | undefined>
}

export function createEngineLists(database: Database, secrets: Pick<Secrets, 'unseal'>): EngineLists {
  const known = new LRUCache<string, EngineList>({ max: 2_000 })
  return {
    async of(appId, listId, revision) {
      const key = `${appId} ${revision} ${listId}`
      const kept = known.get(key)
      if (kept !== undefined) return kept
      const row = await readListRevision(database, appId, listId, revision)
      if (row === undefined) return undefined
      const { username, password } = row
      const login = username === null ? undefined : `${username}:${password === null ? '' : secrets.unseal(password)}`
      const list = {
        terms: termsOf(row),
        authorization: login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`,
      }
      known.set(key, list)
      return list
    },
  }
}
