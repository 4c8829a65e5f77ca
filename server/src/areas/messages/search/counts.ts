import { limits } from '@parley/contract'
import { sql } from 'kysely'
import type { ConversationKind } from '../../../chat/kind.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'
import { countsByConversation, messagesOf, nextOfApp, type Source } from '../list/sources.ts'
import type { Found, Sought } from './find.ts'
import { foundAmong, hitsAmong } from './hits.ts'

/** How many messages of a list one conversation has. */
export interface CountRow {
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
  readonly count: number
}

/** Of each conversation, as far as they were counted. */
export interface Counts {
  readonly rows: readonly CountRow[]
  /** There is more than was counted. */
  readonly isMore: boolean
}

/** So many messages are looked through for each that is counted at most, nearby or among what the index knows. */
const lookedAtNearby = 3
const lookedAtFound = 5

/**
 * Counts the hits of a search in each conversation, up to `limits.countedHits` of them. What nearly every message contains
 * is counted among the newest, since the index would first gather all that it knows; anything else is asked of the index.
 */
export async function countHits(
  on: Queryable,
  source: Source,
  sought: Sought,
  conditions: readonly Fragment[],
): Promise<Counts> {
  const most = limits.countedHits
  const nearby = (count: number) => hitsAmong(nextOf(source, sought, count), source, sought, conditions)
  const sample = Math.ceil((most * lookedAtNearby) / 100)
  const [sampled] = await on.run(sql<{ hits: number }>`select count(*) as hits from (${nearby(sample)}) m`)
  if ((sampled?.hits ?? 0) * lookedAtNearby >= sample) {
    const counts = await readCounts(on, source, nearby(most * lookedAtNearby))
    if (counts.isMore) return counts
  }
  return countFound(on, source, await sought.find(), conditions)
}

/**
 * Of what is found in very many messages, some are looked at first, as they come: they may be far more than the list has of
 * them. Where too few of these belong to the list, the list itself is read: that ends with an answer that is right, or with
 * the time that a search may take.
 */
async function countFound(
  on: Queryable,
  source: Source,
  found: Found,
  conditions: readonly Fragment[],
): Promise<Counts> {
  if (found.are === 'few') {
    return readCounts(on, source, foundAmong(sql`select unnest(${found.ids}::bigint[]) as id`, source, conditions))
  }
  const some = limits.countedHits * lookedAtFound
  const looked = sql`select id from (${found.allIds}) h limit ${some + 1}`
  const counts = await readCounts(on, source, foundAmong(sql`select id from looked`, source, conditions), looked)
  if (counts.isMore || counts.looked <= some) return counts
  return readCounts(on, source, messagesOf(source, [...conditions, found.isOne], undefined))
}

/**
 * @param hits a query of whole rows of `messages`
 * @param looked what `hits` reads by this name: ids of messages, of which it is told how many there were
 */
async function readCounts(
  on: Queryable,
  { appId }: Source,
  hits: Fragment,
  looked: Fragment = sql`select null where false`,
): Promise<Counts & { readonly looked: number }> {
  const most = limits.countedHits
  const counted = sql`select * from hits limit ${most}`
  const rows = await on.run(sql<CountRow & { isMore: boolean; looked: number }>`
    with looked as materialized (${looked}),
    hits as materialized (
      select m.conversation
      from (${hits}) m
      limit ${most + 1}
    )
    select t."isMore", t.looked, n.kind, n.first, n.second, n.count
    from (select (select count(*) from hits) > ${most} as "isMore", (select count(*) from looked) as looked) t
    left join (${countsByConversation(appId, counted)}) n on true
    order by n.kind desc, n.first, n.second`)
  // Where nothing was counted, one row still tells the rest.
  const [{ isMore, looked: seen } = { isMore: false, looked: 0 }] = rows
  return { rows: rows.filter(({ kind }) => kind !== null), isMore, looked: seen }
}

/** Some messages of where it is looked for, from the newest of an app, or of conversations as they come. */
function nextOf(source: Source, { scope }: Sought, count: number): Fragment {
  const next =
    source.of === 'thread'
      ? messagesOf({ ...source, viewer: undefined }, [], undefined)
      : scope.of === 'conversations'
        ? messagesOf({ of: 'conversations', appId: source.appId, conversations: scope.keys }, [], undefined)
        : nextOfApp(source.appId, [], { order: sql`m.sent_at desc, m.id desc`, limit: count })
  return sql`
    select m.*
    from (${next}) m
    limit ${count}`
}
