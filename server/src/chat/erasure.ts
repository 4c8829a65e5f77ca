import { sql } from 'kysely'
import { appKey } from '../store/app-key.ts'
import type { Transaction } from '../store/database.ts'
import type { Fragment } from '../store/statement.ts'

/** A user who is removed for good, and what is found of them under locks before anything is removed. */
export interface ErasedUser {
  readonly appId: number
  readonly uid: string
  /** What stands for them where something about them stays: drawn at random, and nobody's uid. */
  readonly stub: string
  /** Epoch seconds. */
  readonly now: number
  /** Keys of their one-to-one conversations, and whom each is with. */
  readonly pairs: readonly number[]
  readonly others: readonly string[]
  /** Keys and guids of the groups in which they left anything. */
  readonly groups: readonly number[]
  readonly guids: readonly string[]
  /** Guids of the groups that count them as a member. */
  readonly counted: readonly string[]
}

/** A group that is deleted, with all that was said in it. */
export interface ErasedGroup {
  readonly appId: number
  readonly guid: string
  /** Key of its conversation. */
  readonly conversation: number
}

/** Messages that are removed for good. */
export interface ErasedMessages {
  readonly appId: number
  readonly ids: readonly number[]
}

/** A uid that somebody new is given, after it was removed for good. */
export interface ReusedUid {
  readonly appId: number
  readonly uid: string
  /** What stands in place of the uid for its former holder, from now on. */
  readonly former: string
}

type Erase<Erased> = (erased: Erased) => Fragment

interface Erasures {
  readonly ofUser: ReadonlyArray<Erase<ErasedUser>>
  readonly ofGroup: ReadonlyArray<Erase<ErasedGroup>>
  readonly ofMessages: ReadonlyArray<Erase<ErasedMessages>>
  /** How what a user left who was removed for good is kept apart from somebody new with their uid. */
  readonly ofReuse: ReadonlyArray<Erase<ReusedUid>>
}

/** The columns by which rows hang on something else. */
export interface Naming {
  readonly uids?: readonly string[]
  readonly guid?: string
  readonly conversation?: string
  readonly message?: string
  /** Names a message, of which the position is enough: rows may stay when only that does. What becomes of them is declared. */
  readonly position?: string
}

/** A table, and what becomes of its rows when a user, a group or a message is removed for good. */
export interface ErasableTable extends Erasures {
  readonly name: string
  /** Rows go with what they name; `parley doctor` looks for those that stayed behind. */
  readonly naming: Naming
  /** Why nothing becomes of its rows, where nothing does. */
  readonly untouched?: string
}

/**
 * Declares a table whose rows go with what they name.
 * @param own what becomes of them instead, where that is not all
 */
export function erasable(name: string, naming: Naming, own: Partial<Erasures> = {}): ErasableTable {
  return { name, naming, ...removals(name, naming), ...own }
}

/** Declares a table in which nothing is of a user, a group or a message, or of which something else takes care. */
export function untouched(name: string, why: string): ErasableTable {
  return { name, naming: {}, untouched: why, ofUser: [], ofGroup: [], ofMessages: [], ofReuse: [] }
}

/** Ids of the messages in the one-to-one conversations of a user, as a subquery. */
export const messagesInPairs = ({ appId, pairs }: ErasedUser): Fragment =>
  sql`(select id from messages where app_id = ${appKey(appId)} and conversation = any(${pairs}::bigint[]) and ${everyMessage})`

/** Ids of the messages of a group, as a subquery. */
export const messagesInGroup = ({ appId, conversation }: ErasedGroup): Fragment =>
  sql`(select id from messages where app_id = ${appKey(appId)} and conversation = ${conversation} and ${everyMessage})`

/** Of messages, any: said so that those which are there are found by one index, and the positions of removed ones by another. */
export const everyMessage = sql`(not purged or purged)`

/** What hangs on a conversation goes with that; what hangs on a message only, with its message. */
function removals(table: string, { uids = [], guid, conversation, message }: Naming): Erasures {
  const remove = (appId: number, column: string, which: Fragment) =>
    sql`delete from ${sql.table(table)} where app_id = ${appKey(appId)} and ${sql.ref(column)} ${which}`
  const ofUser = uids.map(
    (column): Erase<ErasedUser> =>
      ({ appId, uid }) =>
        remove(appId, column, sql`= ${uid}`),
  )
  if (conversation !== undefined) {
    return {
      ofUser: [({ appId, pairs }) => remove(appId, conversation, sql`= any(${pairs}::bigint[])`), ...ofUser],
      ofGroup: [(group) => remove(group.appId, conversation, sql`= ${group.conversation}`)],
      ofMessages: ofMessages(),
      ofReuse: [],
    }
  }
  if (message !== undefined) {
    return {
      ofUser: [(user) => remove(user.appId, message, sql`in ${messagesInPairs(user)}`), ...ofUser],
      ofGroup: [(group) => remove(group.appId, message, sql`in ${messagesInGroup(group)}`)],
      ofMessages: ofMessages(),
      ofReuse: [],
    }
  }
  const ofGroup = guid === undefined ? [] : [(group: ErasedGroup) => remove(group.appId, guid, sql`= ${group.guid}`)]
  return { ofUser, ofGroup, ofMessages: [], ofReuse: [] }

  function ofMessages(): Erasures['ofMessages'] {
    return message === undefined ? [] : [({ appId, ids }) => remove(appId, message, sql`= any(${ids}::bigint[])`)]
  }
}

/** Rows that were removed and changed, by table. */
export type Tally = ReadonlyMap<string, { readonly removed: number; readonly changed: number }>

/**
 * Erases a user, a group or messages from all tables, or keeps a former user apart in them, one after the other.
 * @returns what was done in which table
 */
export async function erase<Of extends keyof Erasures>(
  tx: Transaction,
  tables: readonly ErasableTable[],
  of: Of,
  erased: Parameters<Erasures[Of][number]>[0],
): Promise<Tally> {
  const tally = new Map<string, { removed: number; changed: number }>()
  for (const table of tables) {
    const done = { removed: 0, changed: 0 }
    for (const statement of table[of] as ReadonlyArray<Erase<typeof erased>>) {
      const { command, rows } = await tx.affect(statement(erased))
      if (command === 'DELETE') done.removed += rows
      if (command === 'UPDATE') done.changed += rows
    }
    tally.set(table.name, done)
  }
  return tally
}
