import { sql } from 'kysely'
import type { Queryable } from '../../../store/database.ts'
import { type Fragment, statement } from '../../../store/statement.ts'
import { isVisible, type Source, sidesOf } from '../list/sources.ts'
import { searchedText } from './fold.ts'
import { vectorQuery } from './grams.ts'

/** The messages whose text contains something: by id where they are few; else how to tell, and how to find all. */
export type Found =
  | { readonly are: 'few'; readonly ids: readonly number[] }
  | { readonly are: 'many'; readonly isOne: Fragment; readonly allIds: Fragment }

/** From here on, reading a history from its end until a page is full costs less than reading everything that is found. */
const few = 5000
/** A viewer with more conversations is shown what he may see of what is found in all. */
const maxConversations = 50

/**
 * Finds the messages of an app whose text contains another, wherever in it and in whatever script. Who may see them is for
 * the list to tell; where it reads few conversations, only those are looked through.
 * @param text folded, not empty
 */
export async function findMessages(on: Queryable, source: Source, text: string): Promise<Found> {
  const { appId } = source
  const conversations = await conversationsOf(on, source)
  if (conversations?.length === 0) return { are: 'few', ids: [] }
  // Before the index is asked: what is not in it now will be there by then, or is found here.
  const unindexed = await findUnindexed(on, appId, text, conversations)
  const query = vectorQuery(appId, text, conversations)
  const indexed = await on.query<{ id: number }>(selectEntries, [query, text, few + 1])
  if (indexed.length <= few) return { are: 'few', ids: [...new Set([...indexed.map(({ id }) => id), ...unindexed])] }
  return {
    are: 'many',
    isOne: sql`(
      coalesce((
        select strpos(e.body, ${text}) > 0
        from search_entries e
        where e.app_id = m.app_id
        and e.message_id = m.id
      ), false)
      or m.id = any(${unindexed}::bigint[])
    )`,
    allIds: sql`
      select e.message_id as id
      from search_entries e
      where e.grams @@ ${query}::tsquery
      and strpos(e.body, ${text}) > 0
      union
      select unnest(${unindexed}::bigint[])`,
  }
}

/** The app is part of every gram, and no condition here, so that no other index can be taken for the better one. */
const selectEntries = statement(`
  select message_id as id
  from search_entries
  where grams @@ $1::tsquery
  and strpos(body, $2) > 0
  limit $3`)

const selectUnindexed = statement(`
  select m.id, m.data
  from messages m
  where m.app_id = $1
  and m.id > greatest($2, (select indexed_id from search_progress))
  and ($3::bigint[] is null or m.conversation = any($3))
  and m.deleted_at is null
  and m.category <> 'action'
  order by m.id
  limit $4`)

const pieceLength = 2000

/** The messages that the writer has not come to yet, nearly always a few moments' worth, are looked through one by one. */
async function findUnindexed(
  on: Queryable,
  appId: number,
  text: string,
  conversations: readonly number[] | undefined,
): Promise<number[]> {
  const found: number[] = []
  for (let after = 0; ; ) {
    const values = [appId, after, conversations ?? null, pieceLength]
    const piece = await on.query<{ id: number; data: Record<string, unknown> }>(selectUnindexed, values)
    for (const { id, data } of piece) if (searchedText(data).includes(text)) found.push(id)
    const last = piece.at(-1)
    if (last === undefined || piece.length < pieceLength) return found
    after = last.id
  }
}

/** The conversations that a list reads, where they are few enough to be named in a query. */
async function conversationsOf(on: Queryable, source: Source): Promise<readonly number[] | undefined> {
  if (source.of === 'thread') return [source.conversation]
  if (source.of === 'conversations') return namable(source.conversations)
  if (source.of !== 'viewer') return undefined
  if (source.conversations !== undefined) return namable(source.conversations)
  const sides = await on.run(sql<{ conversation: number }>`
    select s.conversation
    from ${sidesOf(source)}
    where ${isVisible(source)}
    limit ${maxConversations + 1}`)
  return namable(sides.map(({ conversation }) => conversation))
}

function namable(conversations: readonly number[]): readonly number[] | undefined {
  return conversations.length <= maxConversations ? conversations : undefined
}
