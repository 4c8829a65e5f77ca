import { sql } from 'kysely'
import type { Queryable } from '../store/database.ts'
import type { Fragment } from '../store/statement.ts'
import { untouched } from './erasure.ts'
import { nameKey } from './users/rows.ts'

export const nameTables = [untouched('searched_names', 'triggers take out who is removed')]

/** What is searched: names and ids of users (1) or groups (2). */
type Kind = 1 | 2

/** Fields in which a search looks; all of them by default. */
export interface NameSearch {
  readonly key: string
  readonly inName: boolean
  readonly inId: boolean
}

export const everywhere = { inName: true, inId: true } as const

/** Beyond so many hits it is quicker to look at one name after the other until a page is full. */
const most = 1000
/** Most pieces of a text that are asked for; whoever is found is compared with the whole text anyway. */
const mostGrams = 16

/** The condition that a row has a text in its name or id. @param columns of the name in its normal form, and of the id */
export function hasText({ key, inName, inId }: NameSearch, columns: { name: Fragment; id: Fragment }): Fragment {
  const byName = sql`strpos(${columns.name}, ${nameKey(key)}) > 0`
  const byId = sql`strpos(${columns.id}, ${nameKey(key)}) > 0`
  if (!inId) return byName
  return inName ? sql`(${byName} or ${byId})` : byId
}

/**
 * The ids of all whose name or id may have a text, by an index; a few may not have it, so `hasText` is asked as well.
 * @returns undefined where there are too many to name
 */
export async function findByName(
  on: Queryable,
  appId: number,
  kind: Kind,
  key: string,
): Promise<readonly string[] | undefined> {
  if (key === '') return undefined
  const query = gramQuery(`${appId}:${kind}:`, nameKey(key))
  const rows = await on.run(sql<{ id: string }>`
    select id
    from searched_names
    where grams @@ ${query}::tsquery
    limit ${most + 1}`)
  return rows.length > most ? undefined : rows.map(({ id }) => id)
}

/** The text of a `tsquery`: each piece of three characters, or all pieces that begin with a shorter text. */
function gramQuery(prefix: string, text: string): string {
  const characters = [...text]
  const quote = (gram: string) => `'${prefix}${gram.replace(/['\\]/g, '$&$&')}'`
  if (characters.length < 3) return `${quote(text)}:*`
  const grams = [...new Set(characters.slice(2).map((_, i) => characters.slice(i, i + 3).join('')))]
  const step = Math.max(1, grams.length / mostGrams)
  const asked = Array.from(
    { length: Math.min(grams.length, mostGrams) },
    (_, i) => grams[Math.floor(i * step)] as string,
  )
  return asked.map(quote).join(' & ')
}
