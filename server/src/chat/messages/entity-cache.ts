import { createCache } from '../../cache.ts'
import type { Queryable } from '../../store/database.ts'
import { type GroupRow, readGroups, showGroupOrDeleted } from '../groups/rows.ts'
import { type JsonText, toJson } from '../json.ts'
import { readUsers, showUserOrDeleted, type UserRow } from '../users/rows.ts'

/**
 * Users and groups as messages show them, kept in memory for the answers to sends and for lists of conversations. The
 * statement that finds them tells the revision of each, so a copy is used only while it is current.
 */
export interface EntityCache {
  user(appId: number, uid: string, revision: number): KnownEntity<UserRow> | Promise<KnownEntity<UserRow>>
  group(appId: number, guid: string, revision: number): KnownEntity<GroupRow> | Promise<KnownEntity<GroupRow>>
}

/** A user or a group as messages show them, and the same written out. */
export interface KnownEntity<Row> {
  readonly revision: number
  /** Undefined for who has been removed meanwhile. */
  readonly row: Row | undefined
  readonly entity: object
  readonly text: JsonText
}

export function createEntityCache(database: Queryable): EntityCache {
  const users = keepEntities(
    async (appId, uid) => (await readUsers(database, appId, [uid])).get(uid),
    (uid, row) => showUserOrDeleted(uid, row),
  )
  const groups = keepEntities(
    async (appId, guid) => (await readGroups(database, appId, [guid])).get(guid),
    (guid, row) => showGroupOrDeleted(guid, row),
  )
  return { user: users, group: groups }
}

const maxKept = 10_000

function keepEntities<Row>(
  read: (appId: number, id: string) => Promise<Row | undefined>,
  show: (id: string, row: Row | undefined) => object,
): (appId: number, id: string, revision: number) => KnownEntity<Row> | Promise<KnownEntity<Row>> {
  const kept = createCache<string, KnownEntity<Row>>({ max: maxKept })

  const learn = async (key: string, appId: number, id: string, revision: number): Promise<KnownEntity<Row>> => {
    // What is read now is as new as that revision, or newer; then the next comparison fails and it is read again.
    const row = await read(appId, id)
    const entity = show(id, row)
    const known = { revision, row, entity, text: toJson(entity) }
    kept.set(key, known)
    return known
  }
  return (appId, id, revision) => {
    const key = `${appId} ${id}`
    const known = kept.get(key)
    return known?.revision === revision ? known : learn(key, appId, id, revision)
  }
}
