import { createCache } from '../../cache.ts'
import type { Queryable } from '../../store/database.ts'
import { type GroupRow, readGroups, showGroupOrDeleted } from '../groups/rows.ts'
import { type JsonText, toJson } from '../json.ts'
import { readCurrentUser, showUserOrDeleted, type UserRow } from '../users/rows.ts'

/**
 * Users and groups as messages show them, kept in memory for the answers to sends and for lists of conversations. The
 * statement that finds them tells the revision of each, so a copy is used only while it is current.
 */
export interface EntityCache {
  user(appId: number, uid: string, revision: number): KnownEntity<UserRow> | Promise<KnownEntity<UserRow>>
  group(appId: number, guid: string, revision: number): KnownEntity<GroupRow> | Promise<KnownEntity<GroupRow>>
  /** A user as they were when they were last read, which may be now: only a statement that tells their revision says whether they still are. */
  lastRead(appId: number, uid: string): KnownEntity<UserRow> | Promise<KnownEntity<UserRow>>
}

/** A user or a group as messages show them, and the same written out. */
export interface KnownEntity<Row> {
  readonly revision: number
  /** Undefined for who has been removed meanwhile. */
  readonly row: Row | undefined
  readonly entity: object
  readonly text: JsonText
}

/** Nearly always all of them are known. */
export function whenAllKnown<Value extends object>(
  values: ReadonlyArray<Value | Promise<Value>>,
): readonly Value[] | Promise<Value[]> {
  const isKnown = (value: Value | Promise<Value>): value is Value => !(value instanceof Promise)
  return values.every(isKnown) ? values : Promise.all(values)
}

/**
 * The acting user as they are by now; undefined where they are gone, or may do something else than those they were taken for.
 * @param taken as remembered
 * @param revision what a statement tells of them; undefined: that there is no such user
 */
export async function recallActor(
  entities: EntityCache,
  appId: number,
  taken: KnownEntity<UserRow>,
  revision: number | undefined,
): Promise<KnownEntity<UserRow> | undefined> {
  if (revision === taken.revision) return taken
  if (revision === undefined || taken.row === undefined) return undefined
  const now = await entities.user(appId, taken.row.uid, revision)
  const isSame = now.row?.role === taken.row.role && now.row.deactivatedAt === taken.row.deactivatedAt
  return isSame ? now : undefined
}

export function createEntityCache(database: Queryable): EntityCache {
  const users = keepEntities(
    (appId, uid) => readCurrentUser(database, appId, uid),
    (uid, row) => showUserOrDeleted(uid, row),
  )
  const groups = keepEntities(
    async (appId, guid) => ({ row: (await readGroups(database, appId, [guid])).get(guid) }),
    (guid, row) => showGroupOrDeleted(guid, row),
  )
  return { user: users.current, group: groups.current, lastRead: users.last }
}

const maxKept = 10_000

/** What nobody has. */
const noRevision = 0

function keepEntities<Row>(
  read: (appId: number, id: string) => Promise<{ readonly row: Row | undefined; readonly revision?: number }>,
  show: (id: string, row: Row | undefined) => object,
) {
  type Known = KnownEntity<Row>
  const kept = createCache<string, Known>({ max: maxKept })

  const learn = async (key: string, appId: number, id: string, told: number): Promise<Known> => {
    // What is read now is as new as the revision that was told, or newer; then the next comparison fails and it is read again.
    const { row, revision = told } = await read(appId, id)
    const entity = show(id, row)
    const known = { revision, row, entity, text: toJson(entity) }
    if (row !== undefined || told !== noRevision) kept.set(key, known)
    return known
  }
  return {
    current(appId: number, id: string, revision: number): Known | Promise<Known> {
      const key = `${appId} ${id}`
      const known = kept.get(key)
      return known?.revision === revision ? known : learn(key, appId, id, revision)
    },
    last(appId: number, id: string): Known | Promise<Known> {
      const key = `${appId} ${id}`
      return kept.get(key) ?? learn(key, appId, id, noRevision)
    },
  }
}
