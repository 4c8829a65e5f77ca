/** Room for so many at a time; the others wait, and go on in the order in which they came. */
export interface Places {
  /** @returns gives it back; undefined: none became free in time */
  take(waitMs: number): Promise<(() => void) | undefined>
}

export function createPlaces(most: number): Places {
  let taken = 0
  const waiting = new Set<() => void>()
  const give = () => {
    const [next] = waiting
    if (next === undefined) taken--
    else next()
  }
  return {
    async take(waitMs) {
      if (taken < most) {
        taken++
        return give
      }
      return new Promise((resolve) => {
        const enter = () => {
          clearTimeout(timer)
          waiting.delete(enter)
          resolve(give)
        }
        const timer = setTimeout(() => {
          waiting.delete(enter)
          resolve(undefined)
        }, waitMs)
        waiting.add(enter)
      })
    },
  }
}
