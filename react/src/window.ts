import { type RefObject, useCallback, useEffect, useLayoutEffect, useReducer, useRef } from 'react'
import { drawAtFrame } from './frames.ts'

/** Screens beyond what is seen that are drawn: so much at once, so much in the end, a few rows in a frame, and not more than that. */
const beyond = { least: 0.3, enough: 1, most: 1.5 }
const rowsInFrame = 5
/** What comes while the end is followed: so many rows in a frame, or this part of what waits, so that thirty are there in a tenth of a second. */
const newInFrame = { rows: 4, part: 1 / 6 }
/** Where more wait than that, nobody could read them: the list begins anew with the last ones. */
const mostWaiting = 100
/** Rows that are drawn at first, and at most. */
const firstRows = 30
const mostRows = 150
/** Pixels of a row while none has been measured. */
const guessedHeight = 60

export interface WindowParts<Row> {
  /** What the rows are of: those of another list begin anew, at their end. */
  readonly list: unknown
  readonly rows: readonly Row[]
  readonly scroller: RefObject<HTMLElement | null>
}

/** The rows that are drawn, and what keeps them in their place. */
export interface RowWindow {
  readonly from: number
  readonly until: number
  /** An element with three children: the room of the rows above, the rows that are drawn, the room of those below. */
  readonly contentRef: RefObject<HTMLDivElement | null>
  /** Whether the end is followed: said at once by whoever scrolls, since React may draw the next message before it knows. */
  readonly isFollowing: RefObject<boolean>
  /** Where the list was when it was last looked at, or followed to its end. */
  readonly lastOffset: RefObject<number>
  /** Draws what is near, and no more what is far: for whoever has scrolled. */
  readonly cover: () => void
  /** Draws a row, too. */
  readonly show: (at: number) => void
  /** Goes to the end, and follows it. */
  readonly toEnd: () => void
}

interface Range {
  readonly from: number
  readonly until: number
}

interface Drawn<Row> extends Range {
  readonly list: unknown
  readonly rows: readonly Row[]
}

/**
 * Of many rows, those near what is seen are drawn, in the flow of the page; what is above and below them is room, of about the size of the
 * rows that are not drawn. No row is measured by itself: when rows come above what is seen, or go there, the room above gives way by as much
 * as the first row in sight would have moved. So a list is drawn once for each change, and scrolled by nobody but its reader until that room
 * is used up. Rows come and go a few in each frame, so that none takes long. While the end is followed, rows leave above as they come below.
 */
export function useWindow<Row extends { readonly key: string }>(parts: WindowParts<Row>): RowWindow {
  const { list, rows, scroller } = parts
  const contentRef = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  const lastOffset = useRef(0)
  const drawn = useRef<Drawn<Row>>({ list: undefined, rows: [], from: 0, until: 0 })
  /** What is to be drawn of the rows in `drawn`. */
  const wanted = useRef<Range>({ from: 0, until: 0 })
  const room = useRef({ above: 0, below: 0, rowHeight: guessedHeight })
  /** Rows that are to leave above, and their height. */
  const leaving = useRef({ rows: 0, height: 0 })
  /** Where rows are to stand that have nothing in common with those that are drawn. */
  const jump = useRef<number>(undefined)
  /** A row in sight, and where it is in the content. */
  const anchor = useRef<{ readonly element: Element; readonly top: number }>(undefined)
  /** Rows may go while one of them has the focus. */
  const hasFocus = useRef(false)
  /** More is to be drawn in the next frame. */
  const isCovering = useRef(false)
  const [, redraw] = useReducer((count: number) => count + 1, 0)

  // A reference is read here for what is drawn now, and written once it is.
  const shift = drawn.current.list === list ? shiftOf(drawn.current, rows) : undefined
  const { from, until } = rangeOf(wanted.current, shift, rows.length, isFollowing.current)

  const partsOf = useCallback(() => {
    const [box, content] = [scroller.current, contentRef.current]
    const [above, shown, below] = content?.children ?? []
    if (box === null || content === null || !shown) return undefined
    return { box, content, above: above as HTMLElement, shown: shown as HTMLElement, below: below as HTMLElement }
  }, [scroller])

  const makeRoom = useCallback(() => {
    const elements = partsOf()
    if (elements === undefined) return
    elements.above.style.blockSize = `${room.current.above}px`
    elements.below.style.blockSize = `${room.current.below}px`
  }, [partsOf])

  /** Puts the row in sight where it was, or further down by what is scrolled to make room. */
  const keepPlace = useCallback(
    (scrolledBy: number) => {
      const elements = partsOf()
      if (elements === undefined) return
      const { above, rowHeight } = room.current
      const { from } = drawn.current
      const known = anchor.current
      const moved = known?.element.isConnected ? topIn(elements.content, known.element) - known.top - scrolledBy : 0
      const left = above - moved
      const isSpent = from === 0 ? left !== 0 : left < rowHeight
      const by = scrolledBy + (isSpent ? Math.round(from * rowHeight - left) : 0)
      room.current.above = from === 0 ? 0 : left + by - scrolledBy
      makeRoom()
      if (by !== 0) elements.box.scrollTop += by
      lastOffset.current += by
      if (known !== undefined) anchor.current = { ...known, top: known.top + by }
    },
    [partsOf, makeRoom],
  )

  const follow = useCallback(() => {
    const box = scroller.current
    if (!isFollowing.current || box === null) return
    box.scrollTop = box.scrollHeight
    lastOffset.current = box.scrollTop
  }, [scroller])

  useLayoutEffect(() => {
    const before = drawn.current
    drawn.current = { list, rows, from, until }
    wanted.current = { from, until }
    if (before.list !== list) isFollowing.current = true
    // Rows that go take the focus along.
    if (hasFocus.current && document.activeElement === document.body) scroller.current?.focus({ preventScroll: true })
    hasFocus.current = false
    const { rowHeight } = room.current
    // Where the end is followed, what is not drawn yet comes with the next frames.
    room.current.below = isFollowing.current ? 0 : (rows.length - until) * rowHeight
    if (isFollowing.current && until < rows.length) drawAtFrame(redraw)
    else if (isCovering.current) drawAtFrame(coverAgain)
    if (shift === undefined || jump.current !== undefined) {
      room.current.above = jump.current ?? from * rowHeight
      jump.current = anchor.current = undefined
      leaving.current = { rows: 0, height: 0 }
      makeRoom()
      follow()
      // Whether they fill the screen is not known yet.
      drawAtFrame(coverAgain)
      return
    }
    const isSame = shift === 0 && from === before.from && rows[from] === before.rows[from]
    if (isSame && until === before.until && rows.length === before.rows.length) return
    const gone = from - before.from - shift
    const height = gone === leaving.current.rows ? leaving.current.height : gone * rowHeight
    leaving.current = { rows: 0, height: 0 }
    room.current.above += height + shift * rowHeight
    makeRoom()
    if (!isSame && !isFollowing.current) keepPlace(shift * rowHeight)
  })

  /** What may leave above, once it is measured. */
  const leave = useCallback((over: number, shown: HTMLElement) => {
    const { from, until } = drawn.current
    let count = 0
    const { children } = shown
    const held = until - from < mostRows ? document.activeElement : null
    while (count < children.length - firstRows) {
      const next = children[count + 1] as HTMLElement
      if (next.offsetTop - shown.offsetTop > over || children[count]?.contains(held)) break
      count++
    }
    const [first, kept] = [children[0], children[count]]
    leaving.current = { rows: count, height: first && kept ? topIn(first, kept) : 0 }
    return count
  }, [])

  /** @returns whether something else is to be drawn */
  const plan = useCallback((): boolean => {
    const elements = partsOf()
    if (elements === undefined) return false
    const { box, content, shown } = elements
    const { rows, from, until } = drawn.current
    const { rowHeight, above } = room.current
    const { scrollTop, clientHeight: screen } = box
    const over = scrollTop - shown.offsetTop
    const under = shown.offsetHeight - over - screen
    hasFocus.current = shown.contains(document.activeElement)
    const isAbove = over < -screen && from > 0
    if (isAbove || (under < -screen && until < rows.length)) {
      // Somebody has taken hold of the scroll bar.
      const at = isAbove ? Math.floor((scrollTop / above) * from) : until + Math.floor(-under / rowHeight)
      const first = Math.max(0, Math.min(at, rows.length) - firstRows / 2)
      wanted.current = { from: first, until: Math.min(rows.length, first + firstRows) }
      jump.current = Math.max(0, scrollTop - (at - first) * rowHeight)
      return true
    }
    anchor.current = anchorIn(content, shown, over)
    const missing = (gap: number, left: number) => {
      const rowsFor = (screens: number) => Math.max(0, Math.ceil((screens * screen - gap) / rowHeight))
      return Math.min(left, Math.max(rowsFor(beyond.least), Math.min(rowsInFrame, rowsFor(beyond.enough))))
    }
    const [up, down] = [missing(over, from), missing(under, rows.length - until)]
    const gone = up > 0 ? 0 : leave(over - beyond.most * screen, shown)
    const spare = down > 0 ? 0 : rowsBelow(shown, over + (1 + beyond.most) * screen)
    wanted.current = { from: from - up + gone, until: until + down - spare }
    isCovering.current = up + down > 0
    return up + down + gone + spare > 0
  }, [partsOf, leave])

  const cover = useCallback(() => {
    const elements = partsOf()
    if (elements === undefined) return
    const { box, shown } = elements
    // Where the end is followed, rows come and go by themselves.
    const isDone = drawn.current.from === 0 || box.scrollTop - shown.offsetTop > beyond.least * box.clientHeight
    if (isFollowing.current && isDone) return
    if (plan()) drawAtFrame(redraw)
  }, [partsOf, plan])
  const coverAgain = useCallback(() => {
    isCovering.current = false
    if (plan()) redraw()
  }, [plan])

  const settle = useCallback(() => {
    const elements = partsOf()
    if (elements === undefined) return
    const { box, shown } = elements
    const { from, until } = drawn.current
    if (until > from) room.current.rowHeight = Math.max(1, Math.round(shown.offsetHeight / (until - from)))
    if (!isFollowing.current) {
      keepPlace(0)
      return
    }
    follow()
    hasFocus.current = shown.contains(document.activeElement)
    wanted.current = {
      from: from + leave(box.scrollTop - shown.offsetTop - beyond.most * box.clientHeight, shown),
      until,
    }
  }, [partsOf, keepPlace, follow, leave])

  const isShown = rows.length > 0
  useEffect(() => {
    const [content, box] = [contentRef.current, scroller.current]
    if (!isShown || content === null || box === null) return
    const observer = new ResizeObserver(settle)
    observer.observe(content)
    observer.observe(box)
    return () => observer.disconnect()
  }, [isShown, scroller, settle])

  const show = useCallback((at: number) => {
    const { rows } = drawn.current
    const { from, until } = wanted.current
    if (at >= from && at < until) return
    const isNear = at > from - firstRows && at < until + firstRows
    const [first, last] = isNear
      ? [Math.min(from, at), Math.max(until, at + 1)]
      : [at - firstRows / 2, at + firstRows / 2]
    wanted.current = { from: Math.max(0, first), until: Math.min(rows.length, last) }
    if (!isNear) jump.current = wanted.current.from * room.current.rowHeight
    redraw()
  }, [])

  const toEnd = useCallback(() => {
    const { rows, until } = drawn.current
    isFollowing.current = true
    if (until === rows.length) {
      follow()
      return
    }
    wanted.current = { from: Math.max(0, rows.length - firstRows), until: rows.length }
    jump.current = wanted.current.from * room.current.rowHeight
    redraw()
  }, [follow])

  return { from, until, contentRef, isFollowing, lastOffset, cover, show, toEnd }
}

/** @param shift how far rows that are drawn have moved in the list; undefined where none of them is left */
function rangeOf(wanted: Range, shift: number | undefined, count: number, isFollowing: boolean): Range {
  if (shift === undefined) return { from: Math.max(0, count - firstRows), until: count }
  const reached = Math.min(count, wanted.until + shift)
  const waiting = count - reached
  if (isFollowing && waiting > mostWaiting) return { from: count - firstRows, until: count }
  const coming = Math.min(waiting, Math.max(newInFrame.rows, Math.ceil(waiting * newInFrame.part)))
  const until = isFollowing ? reached + coming : reached
  const from = Math.max(0, Math.min(until, wanted.from + shift))
  return { from: isFollowing ? Math.max(from, until - mostRows) : from, until }
}

/** By how many places rows have moved: by the first one of those drawn that is still there. */
function shiftOf<Row extends { readonly key: string }>(drawn: Drawn<Row>, rows: readonly Row[]): number | undefined {
  const more = rows.length - drawn.rows.length
  for (let at = drawn.from; at < drawn.until; at++) {
    const key = drawn.rows[at]?.key
    if (rows[at]?.key === key) return 0
    if (rows[at + more]?.key === key) return more
    const found = rows.findIndex((row) => row.key === key)
    if (found !== -1) return found - at
  }
  return undefined
}

/** How many of the last rows that are drawn begin below a place. */
function rowsBelow({ children, offsetTop }: HTMLElement, place: number): number {
  let count = 0
  const isBelow = () => (children[children.length - 1 - count] as HTMLElement).offsetTop - offsetTop > place
  while (count < children.length - firstRows && isBelow()) count++
  return count
}

/** Where an element is within another, in pixels. */
function topIn(outer: Element, inner: Element): number {
  return inner.getBoundingClientRect().top - outer.getBoundingClientRect().top
}

/** The first row that is in sight. */
function anchorIn(content: Element, shown: HTMLElement, over: number) {
  const { children } = shown
  let [low, high] = [0, children.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    const { offsetTop, offsetHeight } = children[middle] as HTMLElement
    if (offsetTop - shown.offsetTop + offsetHeight <= over) low = middle + 1
    else high = middle
  }
  const element = children[low]
  return element && { element, top: topIn(content, element) }
}
