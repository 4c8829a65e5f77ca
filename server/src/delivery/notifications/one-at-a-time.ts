/**
 * Does work of one key once at a time. Whoever asks while it is being done does not wait: it is done once more after that,
 * however many have asked.
 */
export function oneAtATime(work: (key: number) => Promise<void>): (key: number) => Promise<void> {
  const underWay = new Map<number, { isAskedAgain: boolean }>()
  return async (key) => {
    const known = underWay.get(key)
    if (known !== undefined) {
      known.isAskedAgain = true
      return
    }
    const state = { isAskedAgain: true }
    underWay.set(key, state)
    try {
      while (state.isAskedAgain) {
        state.isAskedAgain = false
        await work(key)
      }
    } finally {
      underWay.delete(key)
    }
  }
}
