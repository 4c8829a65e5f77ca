/** Work on the same thing that is done one after the other. */
export interface Turns {
  /** Whether something is done or waits. */
  has(key: string): boolean
  /** Begins once what came before it is done, or has failed. */
  take<T>(key: string, work: () => Promise<T>): Promise<T>
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  return {
    has: (key) => last.has(key),
    take(key, work) {
      const own = Promise.resolve(last.get(key)).then(work, work)
      last.set(key, own)
      const done = () => {
        if (last.get(key) === own) last.delete(key)
      }
      own.then(done, done)
      return own
    },
  }
}
