import { type RefObject, useCallback, useEffect, useRef } from 'react'

/** Milliseconds after which rows that do not move any more can be pointed at. */
const restMs = 120

/**
 * A pane over rows that move past the pointer: none of them is told that the pointer came and went, and nobody clicks on a row that
 * has just come under it.
 * @returns the element of the pane, which lets the pointer through by its style, and what is to be called whenever rows move
 */
export function useShield(scroller: RefObject<HTMLElement | null>) {
  const shieldRef = useRef<HTMLDivElement>(null)
  const movedAt = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const lower = useCallback(() => {
    const left = movedAt.current + restMs - performance.now()
    timer.current = left > 0 ? setTimeout(lower, left) : undefined
    if (left <= 0) shieldRef.current?.style.removeProperty('pointer-events')
  }, [])
  const raise = useCallback(() => {
    movedAt.current = performance.now()
    // Whoever selects text goes on with that.
    if (timer.current !== undefined || scroller.current?.matches(':active')) return
    shieldRef.current?.style.setProperty('pointer-events', 'auto')
    timer.current = setTimeout(lower, restMs)
  }, [scroller, lower])
  useEffect(() => () => clearTimeout(timer.current), [])
  return { shieldRef, raise }
}
