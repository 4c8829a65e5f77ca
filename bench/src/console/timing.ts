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

/**
 * Runs in the browser: opens a page as its link does, and waits until it shows what is in it and nothing of it is still loading.
 * @returns milliseconds until that is painted
 */
export function openedIn({ path, shows, atLeast = 1 }: ConsolePage): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = performance.now()
    const look = () => {
      if (performance.now() - from > 30_000) return reject(new Error(`${path} never showed ${shows}`))
      const isLoading = document.querySelector('main [aria-label="Loading"], main [aria-busy="true"]') !== null
      // The page before stays in sight while the next one is loaded.
      const isNext = document.querySelector('main h1')?.textContent !== 'Your account'
      const isThere = isNext && document.querySelectorAll(shows).length >= atLeast
      if (isLoading || !isThere) return requestAnimationFrame(look)
      return requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)))
    }
    history.pushState(null, '', `/console${path}`)
    look()
  })
}
