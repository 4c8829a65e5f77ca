import type { BusEvent } from './types.ts'

export type BusListener = (appId: number, event: BusEvent) => void

/** Tells what happened within this process, after commit. Listeners must not throw and must not wait. */
export interface Bus {
  publish(appId: number, event: BusEvent): void
  /** @returns stops listening */
  subscribe(listener: BusListener): () => void
  /** Does anybody listen? Where nobody does, what is only made for listeners need not be made. */
  readonly isHeard: boolean
}

export function createBus(): Bus {
  const listeners = new Set<BusListener>()
  return {
    publish(appId, event) {
      for (const listener of listeners) listener(appId, event)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    get isHeard() {
      return listeners.size > 0
    },
  }
}
