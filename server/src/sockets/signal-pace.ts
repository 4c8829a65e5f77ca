import { createCache } from '../cache.ts'
import type { Signal } from '../events/types.ts'

/**
 * Bounds what members of a group signal, since each signal goes to every member. Counted are those that clients of this process send,
 * and those that other processes publish: each process would let as many pass, and a socket would get them all.
 */
export interface SignalPace {
  /** Counts one. @returns whether it may be sent to the sockets of this process */
  mayPass(appId: number, guid: string, signal: Signal['signal']): boolean
}

/** Signals of one type in one group, of all its members together. */
export const signalsPerSecond = 20
/** Groups of which it is known how much was signalled. */
const maxGroups = 20_000

export function createSignalPace(): SignalPace {
  const paces = createCache<string, { count: number; since: number }>({ max: maxGroups })
  return {
    mayPass(appId, guid, signal) {
      const key = `${appId} ${guid} ${signal}`
      const now = performance.now()
      let pace = paces.get(key)
      if (pace === undefined || now - pace.since >= 1000) {
        pace = { count: 0, since: now }
        paces.set(key, pace)
      }
      return ++pace.count <= signalsPerSecond
    },
  }
}
