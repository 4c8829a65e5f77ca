import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query'
import { useEffect } from 'react'

/** A page of a list of the service. */
export interface Page<Row> {
  readonly data: readonly Row[]
  readonly meta?: object
}

interface Meta {
  readonly pagination?: { readonly total?: number; readonly current_page?: number; readonly total_pages?: number }
  readonly previous?: object
  readonly next?: object
  readonly cursor?: unknown
  readonly more?: boolean
}

/** What to ask for, besides, to get a page: where it begins. */
export type Place = Readonly<Record<string, unknown>>

/** A list as a question: what tells it from others, and what asks for one page of it; `place` goes into its input. */
export type Question<Row> = readonly [key: readonly unknown[], ask: (place: Place) => Promise<Page<Row>>]

/** Rows of a list, page after page. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  /** How many there are in all, where the service says so. */
  readonly total: number | undefined
  readonly query: UseInfiniteQueryResult<InfiniteData<Page<Row>>>
}

/** Its pages, as the cache of answers has them. */
export function pagesOf<Row>([key, ask]: Question<Row>, isBackwards = false) {
  return {
    queryKey: key,
    queryFn: async ({ pageParam }: { readonly pageParam: unknown }): Promise<Page<Row>> =>
      await ask(pageParam as Place),
    initialPageParam: {} as Place,
    getNextPageParam: (page: Page<Row>) => placeAfter(page, isBackwards),
  }
}

/** A list of the service, read further as it is scrolled. */
export function useRows<Row>(
  key: readonly unknown[],
  ask: (place: Place) => Promise<Page<Row>>,
  options: { readonly isBackwards?: boolean; readonly enabled?: boolean; readonly refetchInterval?: number } = {},
): Rows<Row> {
  const { isBackwards, ...others } = options
  const query = useInfiniteQuery({
    ...pagesOf([key, ask], isBackwards),
    placeholderData: keepPreviousData,
    ...others,
  })
  const pages = query.data?.pages ?? []
  return {
    rows: pages.flatMap((page) => page.data),
    total: (pages[0]?.meta as Meta | undefined)?.pagination?.total,
    query,
  }
}

/** Rows from the end at which the next page is asked for. */
const nearEnd = 12

/** Asks for the next page of a list before its end is reached. @param at the row that is in view, from 0 */
export function useNextPage({ rows, query }: Pick<Rows<unknown>, 'rows' | 'query'>, at: number): void {
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query
  // While the list is read again, asking for more would end that.
  const mayGoOn = hasNextPage && !isFetching && !isFetchNextPageError
  useEffect(() => {
    if (mayGoOn && at >= rows.length - nearEnd) void fetchNextPage()
  }, [mayGoOn, fetchNextPage, at, rows.length])
}

/** Where the page after this one begins; undefined where there is none. */
function placeAfter<Row>({ data, meta }: Page<Row>, isBackwards: boolean): Place | undefined {
  const { pagination, previous, next, cursor, more } = (meta ?? {}) as Meta
  if (data.length === 0) return undefined
  const { current_page: page, total_pages: pages } = pagination ?? {}
  if (page !== undefined && pages !== undefined) return page < pages ? { page: page + 1 } : undefined
  if (more === true) return { after: cursor }
  const following = isBackwards ? previous : next
  return following as Place | undefined
}
