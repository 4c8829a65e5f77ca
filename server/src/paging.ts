import { badRequest, type CursorMeta, limits, type PageMeta } from '@parley/contract'
import { sql } from 'kysely'
import type { Caller } from './chat/identity.ts'
import type { Queryable } from './store/database.ts'
import type { Fragment } from './store/statement.ts'

/** A page of a page list, as rows to skip and to take. */
export interface PageRequest {
  readonly page: number
  readonly perPage: number
  readonly offset: number
  /** Rows that are counted at most, where the list is a search. */
  readonly maxCounted?: number | undefined
}

const defaultPerPage = 100

interface PageQuery {
  readonly page?: number
  readonly perPage?: number
  readonly searchKey?: string
}

/**
 * Reads `page` and `perPage` of a query (validated, maybe absent), and whether it is a search.
 * @throws 400 for a page so late that only the app may read it, since everything before it must be skipped each time
 */
export function readPage(query: PageQuery, caller: Caller): PageRequest {
  const asked = pageAsked(query)
  const { page, perPage } = asked
  if (page * perPage > limits.listedRows && !(caller.kind === 'app' && caller.scope === 'fullAccess')) {
    const message = `must not be more than ${limits.listedRows} when multiplied by perPage, unless a fullAccess key asks without onBehalfOf`
    throw badRequest([{ path: 'query/page', message }])
  }
  return { ...asked, maxCounted: query.searchKey === undefined ? undefined : limits.countedHits }
}

/** The page that a query asks for, of a list that is short enough to be counted and read up to its end. */
export function pageAsked({ page = 1, perPage = defaultPerPage }: PageQuery): PageRequest {
  return { page, perPage, offset: (page - 1) * perPage }
}

/**
 * Counts the rows of a list, as `total`; in a search only until it is known that there are more than are counted.
 * @param rows what follows `select` in a query of them, from `from` on
 */
export function selectTotal({ maxCounted }: PageRequest, rows: Fragment): Fragment<{ total: number }> {
  return maxCounted === undefined
    ? sql`select count(*) as total ${rows}`
    : sql`select count(*) as total from (select ${rows} limit ${maxCounted + 1}) h`
}

/** The total that each row of a page has; beyond the last page there is no row to tell it, and the list is counted. */
export async function totalOf(
  on: Queryable,
  rows: ReadonlyArray<{ readonly total: number }>,
  page: PageRequest,
  matching: Fragment,
): Promise<number> {
  if (rows[0] !== undefined || page.offset === 0) return rows[0]?.total ?? 0
  const [counted] = await on.run(selectTotal(page, matching))
  return counted?.total ?? 0
}

/** `meta` of a page list. @param counted rows of the whole list; @param count rows on this page */
export function pageMeta({ page, perPage, maxCounted }: PageRequest, counted: number, count: number): PageMeta {
  const isMore = maxCounted !== undefined && counted > maxCounted
  const total = isMore ? maxCounted : counted
  return {
    ...(isMore && { countAtLeast: true }),
    pagination: {
      total,
      count,
      per_page: perPage,
      current_page: page,
      total_pages: Math.max(1, Math.ceil(total / perPage)),
    },
  }
}

/** Where a page of a list by change goes on; one that is asked for by its number is of no other length. */
export function placeOf({ updatedAt, page }: { updatedAt?: number; page?: number }, { perPage }: PageRequest) {
  return { second: page === undefined ? updatedAt : undefined, limit: perPage }
}

/**
 * The rows of a page in a list by change, which includes the second that it goes on from. Where that second holds more than
 * a page, it is read to its end and one row beyond, so that whoever goes on by time alone does not stand still. It may be
 * long: to take a role away changes everybody who had it.
 * @param second the time that the page goes on from, if nothing else names the place
 * @param bound rows of a page at most, where a list has exact cursors to go on from within the second
 * @param readUpTo reads so many rows from there
 */
export async function passSecond<Row>(
  rows: readonly Row[],
  {
    second,
    limit,
    bound = Number.POSITIVE_INFINITY,
  }: { readonly second?: number | undefined; readonly limit: number; readonly bound?: number },
  changeOf: (row: Row) => number,
  readUpTo: (limit: number) => Promise<readonly Row[]>,
): Promise<{ rows: Row[]; isMore: boolean }> {
  const last = rows[limit - 1]
  if (second === undefined || last === undefined || changeOf(last) !== second) {
    return { rows: rows.slice(0, limit), isMore: rows.length > limit }
  }
  for (let most = Math.min(limits.listedRows, bound + 1); ; most = Math.min(most * 4, bound + 1)) {
    const all = await readUpTo(most)
    const beyond = all.findIndex((row) => changeOf(row) !== second)
    if (beyond === -1 && all.length === most && most <= bound) continue
    const page = all.slice(0, Math.min(beyond === -1 ? all.length : beyond + 1, bound))
    return { rows: page, isMore: all.length > page.length }
  }
}

/**
 * `meta` of a cursor list: where the page ends on either side, and where a client goes on in its direction.
 * @param rows from the oldest to the newest
 * @param more does anything lie beyond the page, or behind it?
 * @param pointTo the place of a row, without the direction
 */
export function cursorMeta<Row>(
  { affix, limit }: { readonly affix: CursorMeta['cursor']['affix']; readonly limit: number },
  rows: readonly Row[],
  more: { readonly beyond: boolean; readonly behind: boolean },
  pointTo: (row: Row) => Omit<CursorMeta['cursor'], 'affix'>,
): CursorMeta {
  const oldest = rows[0]
  const newest = rows.at(-1)
  const onward = affix === 'append' ? newest : oldest
  const [hasOlder, hasNewer] = affix === 'append' ? [more.behind, more.beyond] : [more.beyond, more.behind]
  return {
    ...(hasOlder && oldest && { previous: { affix: 'prepend', ...pointTo(oldest) } }),
    current: { limit, count: rows.length },
    ...(hasNewer && newest && { next: { affix: 'append', ...pointTo(newest) } }),
    cursor: { affix, ...(onward && pointTo(onward)) },
    pagination: { count: rows.length, per_page: limit },
  }
}

/** `cursor` of a list by name: up to where a client that syncs by `updatedAt` has seen what changed. */
export function syncCursor(
  rows: ReadonlyArray<{ createdAt: number; updatedAt: number | null }>,
): { updatedAt: number; affix: 'prepend' } | undefined {
  if (rows.length === 0) return undefined
  return { updatedAt: Math.max(...rows.map((row) => row.updatedAt ?? row.createdAt)), affix: 'prepend' }
}
