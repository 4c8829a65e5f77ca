import { sql } from 'kysely'
import type { Queryable } from '../../../store/database.ts'
import { type Fragment, statement } from '../../../store/statement.ts'
import type { Selection } from '../search/hits.ts'
import { sidesBeyond } from './narrow.ts'
import { behind, beyond, type Paging, readingOrder } from './position.ts'
import { type Cut, messagesIn, nextOfApp, type Source, type ViewerSource } from './sources.ts'

/** What a list reads: the messages of a selection that meet the conditions. */
export interface Reading {
  /** The whole source; absent where a search has made a selection of it. */
  readonly source: Source | undefined
  readonly selection: Selection
  readonly conditions: readonly Fragment[]
  /** Only messages that have changed since they were sent. */
  readonly onlyChanged: boolean
}

/** Who takes part in more conversations than this is first shown what lies near, among so many messages of the app. */
const many = 200
const nearby = 4000

/**
 * Reads a page beyond the cursor, or what lies behind it.
 * @param show makes the query of the rows wanted out of one of whole rows of `messages`
 */
export async function readCut<Row>(
  on: Queryable,
  { source, selection, conditions, onlyChanged }: Reading,
  paging: Paging,
  where: 'beyond' | 'behind',
  limit: number,
  show: (page: Fragment) => Fragment,
): Promise<Row[]> {
  const direction = where === 'beyond' ? paging : turned(paging)
  const from = where === 'beyond' ? beyond(paging) : behind(paging)
  const cut = cutOf(direction, limit, onlyChanged, unchangedFrom(paging, where))
  const run = (page: Fragment) => on.run(show(page) as Fragment<Row>)
  if (source?.of === 'viewer' && (await takesPartInMuch(on, source))) {
    const next = nextOfApp(source.appId, from, { ...cut, limit: nearby })
    const rows = await run(messagesIn(next, source, conditions, cut))
    if (rows.length === limit || !(await isFull(on, next))) return rows
  }
  return run(selection.rows(from === undefined ? conditions : [...conditions, from], cut))
}

/** Whether there may be more messages than these. */
async function isFull(on: Queryable, next: Fragment): Promise<boolean> {
  const [counted] = await on.run(sql<{ count: number }>`select count(*) as count from (${next}) m`)
  return (counted?.count ?? 0) >= nearby
}

function turned(paging: Paging): Paging {
  return { ...paging, affix: paging.affix === 'append' ? 'prepend' : 'append' }
}

function unchangedFrom(paging: Paging, where: 'beyond' | 'behind'): Fragment | undefined {
  return where === 'beyond' ? beyond(paging, 'sent_at') : behind(paging, 'sent_at')
}

function cutOf(direction: Paging, limit: number, onlyChanged: boolean, unchanged: Fragment | undefined): Cut {
  const cut = { order: readingOrder(direction), limit, sides: sidesBeyond(direction) }
  if (direction.by === 'sent_at' || onlyChanged) return cut
  const conditions = unchanged === undefined ? [] : [unchanged]
  return { ...cut, unchanged: { order: readingOrder(direction, 'sent_at'), conditions } }
}

const countSides = statement(`
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
  const [sides] = await on.query<{ count: number }>(countSides, [appId, viewer, many + 1])
  return (sides?.count ?? 0) > many
}
