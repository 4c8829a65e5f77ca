import { sql } from 'kysely'
import { notClearedSql } from '../../../chat/sight/participation.ts'
import { appKey } from '../../../store/app-key.ts'
import { allOf, type Fragment } from '../../../store/statement.ts'
import type { Nearby } from '../list/reading.ts'
import {
  type Cut,
  countsByConversation,
  countsOf,
  isVisible,
  messagesOf,
  nextOfApp,
  type Source,
  statesOf,
  type ViewerSource,
} from '../list/sources.ts'
import type { Found, Sought } from './find.ts'

/**
 * Those of some messages that belong to a list: whole rows of `messages` that meet the conditions on `m` (and on the
 * viewer's state `s`). The counterpart of `messagesOf`, which reads conversations from their ends. The offsets keep it
 * looks by key for each of the messages, whatever the planner believes of an app whose rows are younger than its
 * statistics: it would go through all that was found for each conversation, or read them in the order of the list.
 * @param ids a subquery of message ids
 */
function messagesAmong(ids: Fragment, source: Source, conditions: readonly Fragment[], cut: Cut | undefined): Fragment {
  const state = stateOfEach(source)
  return sql`
    select m.*
    from (${ids}) h
    cross join lateral (
      select m.*
      from messages m
      where m.app_id = ${appKey(source.appId)}
      and m.id = h.id
      offset 0
    ) m
    ${state}
    where ${allOf([...belongs(source), ...conditions])}
    ${cut === undefined ? sql`` : sql`order by ${cut.order} limit ${cut.limit}`}`
}

/** The viewer's state `s` of the conversation of a message `m`, where the list has a viewer. */
function stateOfEach(source: Source): Fragment {
  if (source.of === 'viewer') {
    return sql`
    cross join lateral (
      select s.*
      from ${statesOf(source)}
      where s.conversation = m.conversation
      and ${isVisible(source)}
      offset 0
    ) s`
  }
  if (source.of !== 'thread' || source.viewer === undefined) return sql``
  return sql`
    cross join lateral (
      select s.*
      from conversation_states s
      where s.app_id = m.app_id
      and s.uid = ${source.viewer}
      and s.conversation = m.conversation
      offset 0
    ) s`
}

function belongs(source: Source): Fragment[] {
  switch (source.of) {
    case 'app':
      return []
    case 'conversations':
      return [sql`m.conversation = any(${source.conversations}::bigint[])`]
    case 'user':
      return [sql`(m.sender = ${source.uid} or m.kind = 1 and m.receiver = ${source.uid})`]
    case 'thread':
      return [sql`m.parent_id = ${source.parentId}`, ...(source.viewer === undefined ? [] : [notClearedSql])]
    case 'viewer':
      return [notClearedSql]
  }
}

/** All of some messages that belong to a list, in no order. @param ids a subquery of message ids */
export function foundAmong(ids: Fragment, source: Source, conditions: readonly Fragment[]): Fragment {
  return messagesAmong(ids, source, conditions, undefined)
}

/** Those of some messages that a search is for, and that belong to its list. @param messages whole rows of `messages` */
export function hitsAmong(
  messages: Fragment,
  source: Source,
  { isOne }: Sought,
  conditions: readonly Fragment[],
): Fragment {
  return sql`
    select m.*
    from (${messages}) m
    ${stateOfEach(source)}
    where ${allOf([...belongs(source), ...conditions, isOne])}`
}

/**
 * The messages of a viewer with very many conversations, read from the end of the app's history: going through what others
 * say is less than going to the end of each of theirs. The offset keeps it a look by key for each message.
 */
function messagesByTime(source: ViewerSource, conditions: readonly Fragment[], cut: Cut): Fragment {
  return sql`
    select m.*
    from messages m
    ${stateOfEach(source)}
    where m.app_id = ${appKey(source.appId)}
    and ${allOf([notClearedSql, ...conditions])}
    order by ${cut.order}
    limit ${cut.limit}`
}

/** How a list reads what it shows. */
export interface Selection {
  /** Whole rows of `messages` that meet the conditions on `m`. */
  rows(conditions: readonly Fragment[], cut: Cut): Fragment
  /** Rows `kind, first, second, count`, one for each conversation. */
  counts(conditions: readonly Fragment[]): Fragment
}

/** Reads all messages of a source. */
export function selectAll(source: Source): Selection {
  return {
    rows: (conditions, cut) => messagesOf(source, conditions, cut),
    counts: (conditions) => countsOf(source, conditions),
  }
}

/** Reads those messages of a source that a search has found. */
export function selectFound(source: Source, found: Found): Selection {
  if (found.are === 'few') {
    const ids = sql`select unnest(${found.ids}::bigint[]) as id`
    return {
      rows: (conditions, cut) => messagesAmong(ids, source, conditions, cut),
      counts: (conditions) => countsByConversation(source.appId, foundAmong(ids, source, conditions)),
    }
  }
  return {
    rows: (conditions, cut) =>
      source.of === 'viewer' && found.scope.of === 'viewer'
        ? messagesByTime(source, [...conditions, found.isOne], cut)
        : messagesOf(source, [...conditions, found.isOne], cut),
    counts: (conditions) => countsByConversation(source.appId, foundAmong(found.allIds, source, conditions)),
  }
}

/** In so many conversations it is looked nearby one by one, else among what the app says next. */
const maxNearbyPlaces = 30

/**
 * The messages of a search that lie among the next of its scope. What is frequent fills a page with them, and the index,
 * which first gathers all that it knows, would be the long way; what is rare does not show among the first few, and the
 * index is asked.
 * @param after where they begin, if not at an end of the history, and what an index has in this order
 */
export function nearbyHits(source: Source, sought: Sought, after: readonly Fragment[], order: Fragment): Nearby[] {
  return [
    { ...hitsAmongNext(source, sought, after, { order, limit: 300 }), least: 3 },
    { ...hitsAmongNext(source, sought, after, { order, limit: 3000 }), least: Number.POSITIVE_INFINITY },
  ]
}

function hitsAmongNext(source: Source, sought: Sought, after: readonly Fragment[], cut: Cut): Omit<Nearby, 'least'> {
  const { scope } = sought
  const next =
    source.of === 'thread'
      ? messagesOf({ ...source, viewer: undefined }, after, cut)
      : scope.of === 'conversations' && scope.keys.length <= maxNearbyPlaces
        ? messagesOf({ of: 'conversations', appId: source.appId, conversations: scope.keys }, after, cut)
        : nextOfApp(source.appId, after, cut)
  return {
    next,
    most: cut.limit,
    rows: (conditions, page) => sql`
    ${hitsAmong(next, source, sought, conditions)}
    order by ${page.order}
    limit ${page.limit}`,
  }
}
