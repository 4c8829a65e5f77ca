import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'

/** So many rows stand in the tail at most, and so many are left in it when it is cut: more than a screen has. */
const most = { rows: 60, left: 40 }
/** Rows that come while somebody looks further up: more are not drawn until they come down. */
const mostUnseen = 100

export interface TailParts<Row> {
  /** What the rows are of. */
  readonly list: unknown
  readonly rows: readonly Row[]
  readonly isAtEnd: boolean
  readonly hasNewer: boolean
  /** Rows came before the first one: then none move from the tail to the head, which takes what it gets for prepended. */
  readonly isPrepended: boolean
  readonly scroller: RefObject<HTMLElement | null>
}

/** Rows in two parts: those that only stand where they are seen, and the newest, which stand as text does. */
export interface Tail<Row> {
  /** The same array as long as the same rows are in it. */
  readonly head: readonly Row[]
  readonly tail: readonly Row[]
  /** How many rows after the tail are not drawn. */
  readonly hidden: number
  /** The element of the tail. */
  readonly tailRef: RefObject<HTMLDivElement | null>
  /** Whether the end is followed: said at once by whoever scrolls, since React may draw the next message before `isAtEnd`. */
  readonly isFollowing: RefObject<boolean>
  /** Where the list was when it was last looked at, or followed to its end. */
  readonly lastOffset: RefObject<number>
  /** Goes to the end where it is followed; for whoever knows that something has grown. */
  readonly follow: () => void
  /** Puts all rows into the head. */
  readonly reveal: () => void
}

interface Kept<Row> {
  readonly list: unknown
  readonly head: readonly Row[]
}

/**
 * What comes while one is at the end goes into a tail below the virtualised rows: the browser puts it in its place, so it is measured by
 * nobody, and drawn once. The end is followed whenever the tail grows. A long tail gives rows that are far above to the head.
 */
export function useTail<Row extends { readonly key: string }>(parts: TailParts<Row>): Tail<Row> {
  const { list, rows, isAtEnd, hasNewer, isPrepended, scroller } = parts
  const tailRef = useRef<HTMLDivElement>(null)
  const kept = useRef<Kept<Row>>({ list: undefined, head: [] })
  const [revealed, setRevealed] = useState(0)
  const known = useRef(revealed)

  const isKnown = kept.current.list === list && known.current === revealed && !hasNewer
  let from = isKnown ? placeAfter(kept.current.head.at(-1)?.key, rows) : rows.length
  if (isAtEnd && !isPrepended && rows.length - from > most.rows) from = rows.length - most.left
  const until = isAtEnd ? rows.length : Math.min(rows.length, from + mostUnseen)
  const head = isSameStart(kept.current.head, rows, from) ? kept.current.head : rows.slice(0, from)
  useLayoutEffect(() => {
    kept.current = { list, head }
    known.current = revealed
  }, [list, head, revealed])
  const tail = useMemo(() => rows.slice(from, until), [rows, from, until])

  const lastOffset = useRef(0)
  const isFollowing = useRef(isAtEnd)
  useLayoutEffect(() => {
    isFollowing.current = isAtEnd
  }, [isAtEnd])
  const follow = useCallback(() => {
    const element = scroller.current
    if (!isFollowing.current || element === null) return
    element.scrollTop = element.scrollHeight
    lastOffset.current = element.scrollTop
  }, [scroller])
  const isShown = rows.length > 0
  useEffect(() => {
    const [element, outer] = [tailRef.current, scroller.current]
    if (!isShown || element === null || outer === null) return
    const observer = new ResizeObserver(follow)
    observer.observe(element)
    observer.observe(outer)
    return () => observer.disconnect()
  }, [isShown, scroller, follow])

  const reveal = useCallback(() => setRevealed((count) => count + 1), [])
  return { head, tail, hidden: rows.length - until, tailRef, isFollowing, lastOffset, follow, reveal }
}

/** Where the row after that of a key is; at the end where that row is not among the last. */
function placeAfter(key: string | undefined, rows: ReadonlyArray<{ readonly key: string }>): number {
  if (key === undefined) return rows.length
  for (let at = rows.length - 1; at >= 0; at--) if (rows[at]?.key === key) return at + 1
  return rows.length
}

function isSameStart<Row>(before: readonly Row[], rows: readonly Row[], count: number): boolean {
  if (before.length !== count) return false
  for (let at = 0; at < count; at++) if (before[at] !== rows[at]) return false
  return true
}
