import { createCache } from '../../cache.ts'
import type { Queryable } from '../../store/database.ts'
import { type GroupRow, readGroups, showGroupOrDeleted } from '../groups/rows.ts'
import { type JsonText, toJson } from '../json.ts'
import { type RevisedUser, readCurrentUser, showUserOrDeleted, type UserRow, userOf } from '../users/rows.ts'

/**
 * Users and groups as messages show them, kept in memory for the answers to sends and for lists. The statement that finds them
 * tells the revision of each, so a copy is used only while it is current.
 */
export interface EntityCache {
  /** @param revised their row with it spares a statement where another one is remembered, or none */
  user(appId: number, uid: string, revised: RevisedUser): KnownEntity<UserRow> | Promise<KnownEntity<UserRow>>
  group(appId: number, guid: string, revision: number): KnownEntity<GroupRow> | Promise<KnownEntity<GroupRow>>
  /** A user as they were when they were last read: only a statement that tells their revision says whether they still are. */
  lastRead(appId: number, uid: string): KnownEntity<UserRow> | undefined
  /** The revision of `lastRead`; 0, which nobody has, where they are not remembered. */
  revisionOf(appId: number, uid: string): number
  /** Whether so many users are asked for who are not remembered that statements do better to bring all of them along. */
  readonly missesMany: boolean
}

/** A user or a group as messages show them, and the same written out. */
export interface KnownEntity<Row> {
  readonly revision: number
  /** Undefined if they have been removed meanwhile. */
  readonly row: Row | undefined
  /** Made anew each time: few need it. */
  readonly entity: object
  readonly text: JsonText
}

class Known<Row> implements KnownEntity<Row> {
  readonly revision: number
  readonly row: Row | undefined
  readonly text: JsonText

  constructor(revision: number, row: Row | undefined, text: JsonText) {
    this.revision = revision
    this.row = row
    this.text = text
  }

  get entity(): object {
    return JSON.parse(this.text)
  }
}

/** Nearly always all of them are known. */
export function whenAllKnown<Value extends object>(
  values: ReadonlyArray<Value | Promise<Value>>,
): readonly Value[] | Promise<Value[]> {
  const isKnown = (value: Value | Promise<Value>): value is Value => !(value instanceof Promise)
  return values.every(isKnown) ? values : Promise.all(values)
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
  return {
    user: (appId, uid, { revision, row }) =>
      users.current(appId, uid, revision, row === undefined ? undefined : () => userOf(JSON.parse(row))),
    group: groups.current,
    lastRead: users.last,
    revisionOf: (appId, uid) => users.last(appId, uid)?.revision ?? noRevision,
    get missesMany() {
      return users.shareOfMisses() > muchMissed
    },
  }
}

const maxKept = 10_000

/** What nobody has. */
const noRevision = 0

/** To bring a user along takes so much less than to ask for them apart. */
const muchMissed = 0.1
/** How many of those that were asked for last tell how many are missed. */
const lastAsked = 256

function keepEntities<Row>(
  read: (appId: number, id: string) => Promise<{ readonly row: Row | undefined; readonly revision?: number }>,
  show: (id: string, row: Row | undefined) => object,
) {
  const kept = createCache<string, Known<Row>>({ max: maxKept })
  let missed = 0

  const keep = (key: string, id: string, revision: number, row: Row | undefined): Known<Row> => {
    const known = new Known(revision, row, toJson(show(id, row)))
    kept.set(key, known)
    return known
  }
  const learn = async (key: string, appId: number, id: string, revised: number): Promise<Known<Row>> => {
    // What is read now is as new as the revision that was told, or newer; then the next comparison fails and it is read again.
    const { row, revision = revised } = await read(appId, id)
    return keep(key, id, revision, row)
  }
  return {
    /** @param readAlong reads what came with the revision, where it came */
    current(appId: number, id: string, revision: number, readAlong?: () => Row): Known<Row> | Promise<Known<Row>> {
      const key = `${appId} ${id}`
      const known = kept.get(key)
      const isKnown = known?.revision === revision
      missed += ((isKnown ? 0 : 1) - missed) / lastAsked
      if (isKnown) return known
      return readAlong === undefined ? learn(key, appId, id, revision) : keep(key, id, revision, readAlong())
    },
    last: (appId: number, id: string): Known<Row> | undefined => kept.get(`${appId} ${id}`),
    shareOfMisses: () => missed,
  }
}
