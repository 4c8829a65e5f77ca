import { LRUCache } from 'lru-cache'
import { readGroups, showGroupOrDeleted } from '../../../chat/groups/rows.ts'
import { readUsers, showUserOrDeleted } from '../../../chat/users/rows.ts'
import type { Queryable } from '../../../store/database.ts'

/**
 * Users and groups as messages show them, kept in memory for the answers to sends. The batch statement tells the
 * revision of each, so a copy is used only while it is current.
 */
export interface EntityCache {
  user(appId: number, uid: string, revision: number): object | Promise<object>
  group(appId: number, guid: string, revision: number): object | Promise<object>
}

interface Kept {
  readonly revision: number
  readonly entity: object
}

export function createEntityCache(database: Queryable): EntityCache {
  const kept = new LRUCache<string, Kept>({ max: 20_000 })

  const recall = (key: string, revision: number, read: () => Promise<object>): object | Promise<object> => {
    const known = kept.get(key)
    return known?.revision === revision ? known.entity : learn(key, revision, read)
  }
  const learn = async (key: string, revision: number, read: () => Promise<object>): Promise<object> => {
    // What is read now is as new as that revision, or newer; then the next comparison fails and it is read again.
    const entity = await read()
    kept.set(key, { revision, entity })
    return entity
  }
  return {
    user: (appId, uid, revision) =>
      recall(`u ${appId} ${uid}`, revision, async () => {
        return showUserOrDeleted(uid, (await readUsers(database, appId, [uid])).get(uid))
      }),
    group: (appId, guid, revision) =>
      recall(`g ${appId} ${guid}`, revision, async () => {
        return showGroupOrDeleted(guid, (await readGroups(database, appId, [guid])).get(guid))
      }),
  }
}
