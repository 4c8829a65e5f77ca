import { retryAfterOf } from '../errors.ts'
import type { Signal } from '../platform.ts'
import { pause } from '../transport.ts'
import { type Backoff, backoffOf } from './closes.ts'
import { createStop } from './here.ts'
import { isOutOfSight, mayPass } from './port.ts'

/** Again and again while nobody answers or the service cannot, until the client is closed. */
export type Persist = <T>(work: (signal: Signal) => Promise<T>) => Promise<T>

/** The same where nobody waits for the outcome; undefined where asking again is of no use. */
export type Insist = <T>(work: (signal: Signal) => Promise<T>) => Promise<T | undefined>

/** Requests that are repeated until they are answered. */
export interface Retries {
  readonly persist: Persist
  readonly insist: Insist
  start(): void
  /** Ends all that is under way. */
  stop(): void
}

export function createRetries(backoff: Backoff, onError: (error: unknown) => void): Retries {
  let closing = createStop()

  const persist: Persist = async (work) => {
    const { signal } = closing
    for (let tries = 0; ; tries++) {
      try {
        return await work(signal)
      } catch (error) {
        if (signal.aborted || !mayPass(error)) throw error
        await pause(Math.max(backoffOf(tries, backoff), retryAfterOf(error)), signal)
      }
    }
  }
  const insist: Insist = async (work) => {
    const { signal } = closing
    try {
      return await persist(work)
    } catch (error) {
      // What the user may not see any more is no failure: the view says so.
      if (!signal.aborted && !isOutOfSight(error)) onError(error)
      return undefined
    }
  }

  return {
    persist,
    insist,
    start() {
      closing = createStop()
    },
    stop: () => closing.abort(),
  }
}
