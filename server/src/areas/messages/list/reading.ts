import { sql } from 'kysely'
import type { Queryable } from '../../../store/database.ts'
import { type Fragment, statement } from '../../../store/statement.ts'
import type { Sought } from '../search/find.ts'
import { nearbyHits, type Selection } from '../search/hits.ts'
import { statesBeyond } from './narrow.ts'
import { behind, beyond, type Paging, readingOrder } from './position.ts'
import { type Cut, hasChanged, messagesIn, nextOfApp, type Source, type ViewerSource } from './sources.ts'

/** What a list reads: the messages of a selection that meet the conditions. */
export interface Reading {
  readonly source: Source
  /** What is left of the source; asked for when what lies near did not fill the page. */
  select(): Promise<Selection>
  /** What a search looks for; absent in a list without one. */
  readonly sought?: Sought | undefined
  /** Nothing has made a selection of the source. */
  readonly isWhole: boolean
  readonly conditions: readonly Fragment[]
  /** Those of them that an index of the app has in the order in which messages were sent. */
  readonly rare: readonly Fragment[]
  /** Only messages that have changed since they were sent. */
  readonly onlyChanged: boolean
}

/** The part of a list that lies next to the cursor, which often fills a page. */
export interface Nearby {
  /** Whole rows of `messages`, the next in the order of the list, whether they belong to it or not. */
  readonly next: Fragment
  /** As many as there are of them at most. */
  readonly most: number
  /** Where fewer of them than these belong to the list, there is no use in looking further nearby. */
  readonly least: number
  /** Those of them that belong to the list. */
  rows(conditions: readonly Fragment[], cut: Cut): Fragment
}

/** Who takes part in more conversations than this is first shown what lies near, among so many messages of the app. */
const many = 200
const nearbyRows = 4000

/**
 * Reads a page beyond the cursor, or what lies behind it.
 * @param show makes the query of the rows wanted out of one of whole rows of `messages`
 */
export async function readCut<Row>(
  on: Queryable,
  reading: Reading,
  paging: Paging,
  where: 'beyond' | 'behind',
  limit: number,
  show: (page: Fragment) => Fragment,
): Promise<Row[]> {
  const { source, conditions, onlyChanged } = reading
  const direction = where === 'beyond' ? paging : turned(paging)
  const from = where === 'beyond' ? beyond(paging) : behind(paging)
  const states = statesBeyond(source, direction)
  const cut = { ...cutOf(direction, limit, onlyChanged, unchangedFrom(paging, where)), states }
  const run = (page: Fragment) => on.run(show(page) as Fragment<Row>)
  for (const nearby of await nearbyOf(on, reading, nextFrom(reading, paging, from), cut)) {
    const rows = await run(nearby.rows(conditions, cut))
    if (rows.length === limit || !(await isFull(on, nearby))) return rows
    if (rows.length < nearby.least) break
  }
  const selection = await reading.select()
  return run(selection.rows(from === undefined ? conditions : [...conditions, from], cut))
}

/**
 * What the next messages meet, whoever takes part: where they begin, and what an index has in the order of the page. Without
 * that they would be sorted out of all that the app has said.
 */
function nextFrom({ onlyChanged, sought, rare }: Reading, { by }: Paging, from: Fragment | undefined): Fragment[] {
  const begin = from === undefined ? [] : [from]
  if (by === 'updated_at') return onlyChanged ? [...begin, hasChanged] : begin
  return sought === undefined ? [...begin, ...rare] : begin
}

async function nearbyOf(
  on: Queryable,
  { source, sought, isWhole }: Reading,
  after: readonly Fragment[],
  cut: Cut,
): Promise<Nearby[]> {
  if (sought !== undefined) return cut.unchanged === undefined ? nearbyHits(source, sought, after, cut.order) : []
  if (!isWhole || source.of !== 'viewer' || !(await takesPartInMuch(on, source))) return []
  const next = nextOfApp(source.appId, after, { ...cut, limit: nearbyRows })
  const rows: Nearby['rows'] = (conditions, page) => messagesIn(next, source, conditions, page)
  return [{ next, most: nearbyRows, least: Number.POSITIVE_INFINITY, rows }]
}

/** Whether there may be more than what was looked at nearby. */
export async function isFull(on: Queryable, { next, most }: Pick<Nearby, 'next' | 'most'>): Promise<boolean> {
  const [counted] = await on.run(sql<{ count: number }>`select count(*) as count from (${next}) m`)
  return (counted?.count ?? 0) >= most
}

function turned(paging: Paging): Paging {
  return { ...paging, affix: paging.affix === 'append' ? 'prepend' : 'append' }
}

function unchangedFrom(paging: Paging, where: 'beyond' | 'behind'): Fragment | undefined {
  return where === 'beyond' ? beyond(paging, 'sent_at') : behind(paging, 'sent_at')
}

function cutOf(direction: Paging, limit: number, onlyChanged: boolean, unchanged: Fragment | undefined): Cut {
  const cut = { order: readingOrder(direction), limit }
  if (direction.by === 'sent_at' || onlyChanged) return cut
  const conditions = unchanged === undefined ? [] : [unchanged]
  return { ...cut, unchanged: { order: readingOrder(direction, 'sent_at'), conditions } }
}

const countConversations = statement(`
  select count(*) as count
  from (
    select
    from conversation_states
    where app_id = $1
    and uid = $2
    limit $3
  ) s`)

/** Whether a viewer's list is of very many conversations, none of which the filters leave out. */
export async function takesPartInMuch(
  on: Queryable,
  { appId, viewer, conversations, narrowed = [] }: ViewerSource,
): Promise<boolean> {
  if (conversations !== undefined || narrowed.length > 0) return false
  const [found] = await on.query<{ count: number }>(countConversations, [appId, viewer, many + 1])
  return (found?.count ?? 0) > many
}
