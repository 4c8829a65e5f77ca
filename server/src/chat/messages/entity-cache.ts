import { LRUCache } from 'lru-cache'
import type { Queryable } from '../../store/database.ts'
import { readGroups, showGroupOrDeleted } from '../groups/rows.ts'
import { type JsonText, toJson } from '../json.ts'
import { readUsers, showUserOrDeleted } from '../users/rows.ts'

/**
 * Users and groups as messages show them, kept in memory for the answers to sends. The batch statement tells the
 * revision of each, so a copy is used only while it is current.
 */
export interface EntityCache {
  user(appId: number, uid: string, revision: number): KnownEntity | Promise<KnownEntity>
  group(appId: number, guid: string, revision: number): KnownEntity | Promise<KnownEntity>
}

/** A user or a group as messages show them, and the same written out. */
export interface KnownEntity {
  readonly revision: number
  readonly entity: object
  readonly text: JsonText
}

export function createEntityCache(database: Queryable): EntityCache {
  const kept = new LRUCache<string, KnownEntity>({ max: 20_000 })

  const recall = (key: string, revision: number, read: () => Promise<object>): KnownEntity | Promise<KnownEntity> => {
    const known = kept.get(key)
    return known?.revision === revision ? known : learn(key, revision, read)
  }
  const learn = async (key: string, revision: number, read: () => Promise<object>): Promise<KnownEntity> => {
    // What is read now is as new as that revision, or newer; then the next comparison fails and it is read again.
    const entity = await read()
    const known = { revision, entity, text: toJson(entity) }
    kept.set(key, known)
    return known
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
