import { Group, Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useRef } from 'react'
import { type Column, shownOf } from './columns.ts'
import { type Rows, useNextPage } from './lists.ts'
import { Empty, isShown, Loading, Problem, staleness } from './states.tsx'

const rowHeight = 44
/**
 * A list as a table, of which only the rows in sight are drawn. Such rows cannot be those of a table element, so they have roles; the
 * link of a row is in its first cell, a click elsewhere in it is a convenience.
 */
export function Table<Row>(props: {
  readonly label: string
  readonly list: Rows<Row>
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  readonly onOpen?: (row: Row) => void
  /** What is said where there is none. */
  readonly empty: ReactNode
  readonly height?: string
}) {
  const { label, list, idOf, onOpen, empty, height = 'max(16rem, calc(100dvh - 15rem))' } = props
  const columns = shownOf(props.columns)
  const { rows, total, query } = list
  const place = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    getItemKey: (index) => idOf(rows[index] as Row),
  })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useNextPage(list, last)
  const { isFetchNextPageError, fetchNextPage } = query

  if (query.isError && (rows.length === 0 || !isShown(query)))
    return <Problem error={query.error} onRetry={() => void query.refetch()} />
  if (query.isPending) return <Loading />
  if (rows.length === 0) return <Empty>{empty}</Empty>
  const template = columns
    .map(({ width = '1fr' }) => (width.endsWith('fr') ? `minmax(8rem, ${width})` : width))
    .join(' ')
  const widths = columns.map(({ width = '1fr' }) => (width.endsWith('fr') ? '8rem' : width))
  // As wide as its columns, whatever stands in them: all rows are alike.
  const minWidth = `calc(${widths.join(' + ')} + ${0.75 * (columns.length + 1)}rem)`
  const style = { gridTemplateColumns: template, minWidth }
  return (
    <div>
      {staleness(query)}
      <div
        role="table"
        aria-label={label}
        aria-rowcount={total ?? -1}
        aria-busy={query.isPlaceholderData}
        className="rows"
        style={{ height }}
        ref={place}
        tabIndex={0}
      >
        <div role="rowgroup">
          <div role="row" className="row row-head" style={style}>
            {columns.map((column) => (
              <div role="columnheader" className="cell" key={column.label}>
                {column.label}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {shown.map(({ index, key, start }) => {
            const row = rows[index] as Row
            return (
              <div
                role="row"
                aria-rowindex={index + 2}
                key={key}
                className={onOpen === undefined ? 'row' : 'row row-link'}
                style={{
                  ...style,
                  position: 'absolute',
                  top: 0,
                  left: 0,
                  height: rowHeight,
                  transform: `translateY(${start}px)`,
                }}
                onClick={(event) => {
                  if (onOpen !== undefined && (event.target as Element).closest('a, button, input, label') === null)
                    onOpen(row)
                }}
              >
                {columns.map((column) => (
                  <div role="cell" className="cell" key={column.label}>
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            )
          })}
        </div>
      </div>
      {isFetchNextPageError && <Problem error={query.error} onRetry={() => void fetchNextPage()} />}
      <Group justify="space-between" mt={6}>
        <Text size="xs" c="dimmed" aria-live="polite">
          {total === undefined ? `${rows.length}${query.hasNextPage ? ' so far' : ''}` : `${rows.length} of ${total}`}
        </Text>
        {query.isFetchingNextPage && (
          <Text size="xs" c="dimmed">
            Loading more
          </Text>
        )}
      </Group>
    </div>
  )
}
