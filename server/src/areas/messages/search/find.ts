import { sql } from 'kysely'
import { notHeldSql } from '../../../chat/sight/participation.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'
import { isVisible, type Source, statesOf } from '../list/sources.ts'
import { searchedText } from './fold.ts'
import { conversationKeyOf, type GramQuery, gramQuery } from './grams.ts'

/** The messages whose text contains something: by id where they are few; else how to tell, and how to find all. */
export type Found =
  | { readonly are: 'few'; readonly ids: readonly number[] }
  | { readonly are: 'many'; readonly isOne: Fragment; readonly allIds: Fragment; readonly scope: Scope }

/** A search for messages, ready to look. */
export interface Sought {
  /** Condition on `m`: whether it is one. */
  readonly isOne: Fragment
  readonly scope: Scope
  /** Asks the index, where not enough hits were found nearby. */
  find(): Promise<Found>
}

/** Where it is looked for: in the whole app, in some conversations, or in all of a viewer who has more than a few. */
export type Scope =
  | { readonly of: 'app' }
  | { readonly of: 'conversations'; readonly keys: readonly number[] }
  | { readonly of: 'viewer'; readonly source: Extract<Source, { of: 'viewer' }> }

/** From here on, reading a history from its end until a page is full costs less than reading everything that is found. */
const few = 5000
/** Conversations in which the index is asked one by one. */
const maxConversations = 500
/** What is found in the whole app, and then seen not to be the viewer's, is looked at up to here. */
const maxStrange = 20_000

/**
 * Seeks the messages of an app whose text contains another, wherever in it and in whatever script. Who may see them is for
 * the list to tell.
 * @param text folded, not empty
 */
export async function seekMessages(on: Queryable, source: Source, text: string): Promise<Sought> {
  const { appId } = source
  const scope = await scopeOf(on, source)
  // Before the index is asked: what is not in it now will be there by then, or is found here.
  const unindexed = await findUnindexed(on, appId, scope, text)
  const search: Search = { query: gramQuery(appId, text), text, scope }
  const isOne = sql`(
      coalesce((
        select strpos(e.body, ${text}) > 0
        from search_entries e
        where e.app_id = m.app_id
        and e.message_id = m.id
      ), false)
      or m.id = any(${unindexed}::bigint[])
    )`
  const allIds = sql`
      select e.id
      from (${entries(search)}) e
      where e.id <> all(${unindexed}::bigint[])
      union all
      select unnest(${unindexed}::bigint[])`
  const find = async (): Promise<Found> => {
    const indexed = await findIndexed(on, search)
    if (indexed === undefined) return { are: 'many', scope, isOne, allIds }
    return { are: 'few', ids: [...new Set([...indexed, ...unindexed])] }
  }
  let finding: Promise<Found> | undefined
  return {
    isOne,
    scope,
    find() {
      finding ??= find()
      return finding
    },
  }
}

interface Search {
  readonly query: GramQuery
  readonly text: string
  readonly scope: Scope
}

/** The ids of what the index knows; undefined when there are many. */
async function findIndexed(on: Queryable, search: Search): Promise<number[] | undefined> {
  if (looksEverywhere(search)) {
    const [row] = await on.run(sql<{ seen: number; ids: number[] }>`
      with seen as materialized (
        select message_id, conversation, body
        from search_entries
        where grams @@ ${search.query.text}::tsquery
        limit ${maxStrange + 1}
      )
      select (select count(*) from seen) as seen, array(${inScope(search, sql`seen`)}) as ids`)
    return row === undefined || row.seen > maxStrange ? undefined : row.ids
  }
  const rows = await on.run(sql<{ id: number }>`${entries(search)} limit ${few + 1}`)
  return rows.length > few ? undefined : rows.map(({ id }) => id)
}

/**
 * Beginnings of grams are gathered from the whole app each time that they are asked for: too dear to be asked for in many
 * conversations one by one.
 */
function looksEverywhere({ scope, query }: Search): boolean {
  return scope.of === 'viewer' || (scope.of === 'conversations' && scope.keys.length > 1 && query.isBeginning)
}

/**
 * Ids of messages in the index that contain the text. The app is part of every gram, and no condition of its own, so that
 * the index of grams is the only one that can be used.
 */
function entries(search: Search): Fragment {
  const { query, text, scope } = search
  if (looksEverywhere(search)) {
    return inScope(search, sql`(select * from search_entries where grams @@ ${query.text}::tsquery offset 0)`)
  }
  if (scope.of !== 'conversations') {
    return sql`
      select message_id as id
      from search_entries
      where grams @@ ${query.text}::tsquery
      and strpos(body, ${text}) > 0`
  }
  return sql`
    select e.message_id as id
    from unnest(${scope.keys.map((key) => `${query.text} & ${conversationKeyOf(key)}`)}::text[]) as c(query)
    cross join lateral (
      select message_id
      from search_entries
      where grams @@ c.query::tsquery
      and strpos(body, ${text}) > 0
      offset 0
    ) e`
}

/** So said, the viewer's conversations are gathered once and hashed, not joined row by row. */
function inScope({ scope, text }: Search, rows: Fragment): Fragment {
  const isHis =
    scope.of === 'viewer'
      ? sql`and (e.conversation in (
          select s.conversation
          from ${statesOf(scope.source)}
          where ${isVisible(scope.source)}
        )) is true`
      : sql``
  const isThere = scope.of === 'conversations' ? sql`and e.conversation = any(${scope.keys}::bigint[])` : sql``
  return sql`
    select e.message_id as id
    from ${rows} e
    where strpos(e.body, ${text}) > 0
    ${isHis}
    ${isThere}`
}

const pieceLength = 2000

/** The messages that the writer has not come to yet, nearly always a few moments' worth, are looked through one by one. */
async function findUnindexed(on: Queryable, appId: number, scope: Scope, text: string): Promise<number[]> {
  const isThere = scope.of === 'conversations' ? sql`m.conversation = any(${scope.keys}::bigint[])` : sql`true`
  const found: number[] = []
  for (let after = 0; ; ) {
    const piece = await on.run(sql<{ id: number; data: Record<string, unknown> }>`
      select m.id, m.data
      from messages m
      where m.app_id = ${appKey(appId)}
      and m.id > greatest(${after}::bigint, (select indexed_id from search_progress))
      and (${isThere}) is true
      and m.deleted_at is null
      and m.category <> 'action'
      and ${notHeldSql}
      order by m.id
      limit ${pieceLength}`)
    for (const { id, data } of piece) if (searchedText(data).includes(text)) found.push(id)
    const last = piece.at(-1)
    if (last === undefined || piece.length < pieceLength) return found
    after = last.id
  }
}

async function scopeOf(on: Queryable, source: Source): Promise<Scope> {
  switch (source.of) {
    case 'app':
    case 'user':
      return { of: 'app' }
    case 'conversations':
      return { of: 'conversations', keys: source.conversations }
    case 'thread':
      return { of: 'conversations', keys: [source.conversation] }
    case 'viewer': {
      const states = await on.run(sql<{ conversation: number }>`
        select s.conversation
        from ${statesOf(source)}
        where ${isVisible(source)}
        limit ${maxConversations + 1}`)
      return states.length > maxConversations
        ? { of: 'viewer', source }
        : { of: 'conversations', keys: states.map(({ conversation }) => conversation) }
    }
  }
}
