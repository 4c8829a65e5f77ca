import type { PageMeta } from '@parley/contract'

/** A page of a page list, as rows to skip and to take. */
export interface PageRequest {
  readonly page: number
  readonly perPage: number
  readonly offset: number
}

export const defaultPerPage = 100

/** Reads `page` and `perPage` of a query (validated, maybe absent). */
export function readPage(query: { page?: number; perPage?: number }): PageRequest {
  const page = query.page ?? 1
  const perPage = query.perPage ?? defaultPerPage
  return { page, perPage, offset: (page - 1) * perPage }
}

/** `meta` of a page list. @param total rows of the whole list; @param count rows on this page */
export function pageMeta({ page, perPage }: PageRequest, total: number, count: number): PageMeta {
  return {
    pagination: {
      total,
      count,
      per_page: perPage,
      current_page: page,
      total_pages: Math.max(1, Math.ceil(total / perPage)),
    },
  }
}

/** `cursor` of a list by name: up to where a client that syncs by `updatedAt` has seen what changed. */
export function syncCursor(
  rows: ReadonlyArray<{ createdAt: number; updatedAt: number | null }>,
): { updatedAt: number; affix: 'prepend' } | undefined {
  if (rows.length === 0) return undefined
  return { updatedAt: Math.max(...rows.map((row) => row.updatedAt ?? row.createdAt)), affix: 'prepend' }
}
