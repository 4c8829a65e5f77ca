/** Wakes whoever delivers to an endpoint in this process when something is due for it; others find it by looking now and then. */
export interface Wakes {
  wake(endpoint: number): void
  /** @returns ends it */
  listen(endpoint: number, listener: () => void): () => void
}

export function createWakes(): Wakes {
  // One process delivers to an endpoint at a time, but a new round may begin as the one before ends.
  const listeners = new Map<number, Set<() => void>>()
  return {
    wake(endpoint) {
      for (const listener of listeners.get(endpoint) ?? []) listener()
    },
    listen(endpoint, listener) {
      const known = listeners.get(endpoint) ?? new Set()
      listeners.set(endpoint, known.add(listener))
      return () => {
        known.delete(listener)
        if (known.size === 0 && listeners.get(endpoint) === known) listeners.delete(endpoint)
      }
    },
  }
}
