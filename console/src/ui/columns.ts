import type { ReactNode } from 'react'

/** A column of a table. */
export interface Column<Row> {
  readonly label: string
  /** Of a long table: a track of CSS Grid, such as `1fr`; 1fr by default. */
  readonly width?: string
  /** Whether it is there: not where nobody would find anything in it, such as what they may not do. It is without it. */
  readonly isShown?: boolean
  readonly cell: (row: Row) => ReactNode
}

export function shownOf<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  return columns.filter(({ isShown = true }) => isShown)
}
