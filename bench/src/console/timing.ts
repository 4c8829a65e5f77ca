/// <reference lib="dom" />

/** A page of the console, and by what one sees that it shows what is in it. */
export interface ConsolePage {
  readonly name: string
  /** Below `/console`. */
  readonly path: string
  /** Elements that are there once it does. */
  readonly shows: string
  /** How many of them at least; 1 without it. */
  readonly atLeast?: number
}

/** What opening a page took. Milliseconds from when its link was followed. */
export interface Opening {
  /** Until it is painted. */
  readonly took: number
  /** What was asked for meanwhile, in this order. */
  readonly asked: ReadonlyArray<{ readonly what: string; readonly from: number; readonly to: number }>
}

/** Runs in the browser: opens a page as its link does, and waits until it shows what is in it and nothing of it is still loading. */
export function openedIn({ path, shows, atLeast = 1 }: ConsolePage): Promise<Opening> {
  return new Promise((resolve, reject) => {
    performance.clearResourceTimings()
    const from = performance.now()
    const opening = () => {
      const took = performance.now() - from
      const asked = performance.getEntriesByType('resource').map(({ name, startTime, duration }) => ({
        what: name.replace(location.origin, ''),
        from: startTime - from,
        to: startTime + duration - from,
      }))
      return { took, asked }
    }
    const look = () => {
      if (performance.now() - from > 30_000) return reject(new Error(`${path} never showed ${shows}`))
      const isLoading = document.querySelector('main [aria-label="Loading"], main [aria-busy="true"]') !== null
      // The page before stays in sight while the next one is loaded.
      const isNext = document.querySelector('main h1')?.textContent !== 'Your account'
      const isThere = isNext && document.querySelectorAll(shows).length >= atLeast
      if (isLoading || !isThere) return requestAnimationFrame(look)
      return requestAnimationFrame(() => setTimeout(() => resolve(opening())))
    }
    history.pushState(null, '', `/console${path}`)
    look()
  })
}
