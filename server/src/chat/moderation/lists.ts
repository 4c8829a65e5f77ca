import { isDeepStrictEqual } from 'node:util'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { builtInLists } from './engine/built-in-lists.ts'
import type { ListCategory, ListRevision } from './model.ts'
import { unquote } from './terms.ts'

/** What a list says: the content of a revision, but for its terms. */
export interface ListText {
  readonly name: string
  readonly description: string | null
  readonly category: ListCategory
  /** Its terms came from a file, and have their quotes still. */
  readonly isCsv: boolean
  /** Of a list that holds the address of an engine: how to log in there. */
  readonly username: string | null
  /** Sealed. */
  readonly password: Buffer | null
}

/** One revision of a list, as it is kept. */
export interface ListRow extends ListText {
  readonly id: string
  /** Counts from 1. */
  readonly revision: number
  readonly predefined: boolean
  /** It is the current one. */
  readonly active: boolean
  /** The terms as they are answered, as the JSON text of a list: there may be very many, and mostly they are passed on. */
  readonly terms: string
  readonly count: number
  /** Epoch seconds. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Columns of `ListRow`, of revisions `v` and their lists `r`. */
export const listColumns = `r.id, v.revision, r.predefined, v.revision = r.revision and not r.removed as active,
  v.name, v.description, v.category, v.is_csv as "isCsv", v.terms::text as terms, v.count, v.username,
  v.password_sealed as password, v.created_at as "createdAt", v.updated_at as "updatedAt"`

const selectCurrent = statement(`
  select ${listColumns}
  from moderation_lists r
  join moderation_list_revisions v on v.app_id = r.app_id and v.list_id = r.id and v.revision = r.revision
  where r.app_id = $1
  and r.id = any($2::text[])
  and not r.removed`)

const selectRevision = statement(`
  select ${listColumns}
  from moderation_lists r
  join moderation_list_revisions v on v.app_id = r.app_id and v.list_id = r.id and v.revision = $3
  where r.app_id = $1
  and r.id = $2`)

/** Lists by id, as they are now; unknown ones are missing. */
export function readCurrentLists(on: Queryable, appId: number, ids: readonly string[]): Promise<ListRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : on.query<ListRow>(selectCurrent, [appId, ids])
}

/** One revision of a list, also of one that was changed or deleted since. */
export async function readListRevision(
  on: Queryable,
  appId: number,
  id: string,
  revision: number,
): Promise<ListRow | undefined> {
  const [row] = await on.query<ListRow>(selectRevision, [appId, id, revision])
  return row
}

/** What a list holds, as the engine takes it. */
export function termsOf({ terms, isCsv }: Pick<ListRow, 'terms' | 'isCsv'>): string[] {
  const kept = JSON.parse(terms) as string[]
  return isCsv ? kept.map(unquote) : kept
}

/**
 * A revision as the engine takes it. A list that came with the service is the same object for all apps, so that it is compiled
 * once.
 */
export function listRevisionOf(row: ListRow): ListRevision {
  const { id, revision, category } = row
  const terms = termsOf(row)
  const shipped = row.predefined && revision === 1 ? builtInLists().find(({ listId }) => listId === id) : undefined
  return shipped !== undefined && isDeepStrictEqual(shipped.terms, terms)
    ? shipped
    : { listId: id, revision, category, terms }
}
