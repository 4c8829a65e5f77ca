/** Room for a few who may wait for more at a time; all others end as soon as nothing is left. */
export interface Seats {
  /** @returns gives it back; undefined: there is none left */
  take(): (() => void) | undefined
}

export function createSeats(most: number): Seats {
  let taken = 0
  return {
    take() {
      if (taken >= most) return undefined
      taken++
      let isTaken = true
      return () => {
        if (isTaken) taken--
        isTaken = false
      }
    },
  }
}
