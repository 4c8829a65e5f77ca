import type { BusEvent } from './types.ts'

/** `isRemote`: it happened in another process. */
export type BusListener = (appId: number, event: BusEvent, isRemote: boolean) => void

/** Publishes what happened, here and in other processes, after commit. Listeners must not throw and must not wait. */
export interface Bus {
  publish(appId: number, event: BusEvent): void
  /** Passes on what another process published. */
  receive(appId: number, event: BusEvent): void
  /**
   * @param cares whether what is only made for listeners is worth making for this one now; whatever is published reaches
   * it all the same
   * @returns stops listening
   */
  subscribe(listener: BusListener, cares?: () => boolean): () => void
  /** Does anybody care? Where nobody does, what is only made for listeners need not be made. */
  readonly isHeard: boolean
}

export function createBus(): Bus {
  const listeners = new Map<BusListener, () => boolean>()
  return {
    publish(appId, event) {
      for (const listener of listeners.keys()) listener(appId, event, false)
    },
    receive(appId, event) {
      for (const listener of listeners.keys()) listener(appId, event, true)
    },
    subscribe(listener, cares = () => true) {
      listeners.set(listener, cares)
      return () => void listeners.delete(listener)
    },
    get isHeard() {
      for (const cares of listeners.values()) if (cares()) return true
      return false
    },
  }
}
