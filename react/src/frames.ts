import type { View } from '@parley/client'

/** Milliseconds after which changes are drawn where no frame comes, as in a tab that nobody looks at. */
const longestWait = 250

const waiting = new Set<() => void>()
let stop: (() => void) | undefined

/**
 * Subscribes to a view for a component: however much changes, it is drawn once in a frame. React renders each change of a store by
 * itself and at once, which a burst of messages makes so many times that it gives up.
 */
export function subscriber(view: View<unknown>): (changed: () => void) => () => void {
  return (changed) => {
    const end = view.subscribe(() => {
      waiting.add(changed)
      stop ??= atNextFrame(draw)
    })
    return () => {
      end()
      waiting.delete(changed)
    }
  }
}

function draw(): void {
  stop?.()
  stop = undefined
  const changed = [...waiting]
  waiting.clear()
  for (const notify of changed) notify()
}

function atNextFrame(work: () => void): () => void {
  const frame = typeof requestAnimationFrame === 'function' ? requestAnimationFrame(work) : undefined
  const timer = setTimeout(work, frame === undefined ? 16 : longestWait)
  return () => {
    if (frame !== undefined) cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
