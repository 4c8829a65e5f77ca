import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query'

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
type Place = Readonly<Record<string, unknown>>

/** Rows of a list, page after page. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  /** How many there are in all, where the service says so. */
  readonly total: number | undefined
  readonly query: UseInfiniteQueryResult<InfiniteData<Page<Row>>>
}

/**
 * A list of the service, read further as it is scrolled.
 * @param key what tells it from other lists
 * @param ask asks for one page; `place` goes into its input
 */
export function useRows<Row>(
  key: readonly unknown[],
  ask: (place: Place) => Promise<Page<Row>>,
  options: { readonly isBackwards?: boolean; readonly enabled?: boolean; readonly refetchInterval?: number } = {},
): Rows<Row> {
  const { isBackwards = false, ...others } = options
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam }): Promise<Page<Row>> => await ask(pageParam),
    initialPageParam: {} as Place,
    getNextPageParam: (page: Page<Row>) => placeAfter(page, isBackwards),
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
