import type { View } from '@parley/client'
import { flushSync } from 'react-dom'

/** Milliseconds after which changes are drawn where no frame comes, as in a tab that nobody looks at. */
const longestWait = 250

const waiting = new Set<() => void>()
let stop: (() => void) | undefined

/**
 * Subscribes to a view for a component: however much changes, it is drawn once in a frame. React renders each change of a store by
 * itself and at once, which a burst of messages makes so many times that it gives up.
 * @param restMs for which it is not drawn again
 */
export function subscriber(view: View<unknown>, restMs = 0): (changed: () => void) => () => void {
  return (changed) => {
    let drawnAt = Number.NEGATIVE_INFINITY
    let timer: ReturnType<typeof setTimeout> | undefined
    const drawSoon = () => {
      timer = undefined
      drawnAt = performance.now()
      drawAtFrame(changed)
    }
    const end = view.subscribe(() => {
      if (timer !== undefined) return
      const left = drawnAt + restMs - performance.now()
      if (left <= 0) drawSoon()
      else timer = setTimeout(drawSoon, left)
    })
    return () => {
      end()
      clearTimeout(timer)
      waiting.delete(changed)
    }
  }
}

/** Calls what changes components at the next frame, in which all of them are drawn together. */
export function drawAtFrame(change: () => void): void {
  waiting.add(change)
  stop ??= atNextFrame(draw)
}

function draw(): void {
  stop?.()
  stop = undefined
  const changes = [...waiting]
  waiting.clear()
  flushSync(() => {
    for (const change of changes) change()
  })
}

function atNextFrame(work: () => void): () => void {
  const frame = typeof requestAnimationFrame === 'function' ? requestAnimationFrame(work) : undefined
  const timer = setTimeout(work, frame === undefined ? 16 : longestWait)
  return () => {
    if (frame !== undefined) cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
