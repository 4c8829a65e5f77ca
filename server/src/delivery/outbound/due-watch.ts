import { setTimeout as delay } from 'node:timers/promises'

/** Hears of what becomes due while it is waited for. */
export interface DueWatch {
  /** Whether there is anybody to hear it from. */
  readonly isNotified: boolean
  /** Whether something has become due since it was said that all before is known. */
  readonly isNew: boolean
  /** What has become due so far is known. */
  reset(): void
  /**
   * Waits for so long, or until something becomes due, where that matters.
   * @param until ends it, too
   */
  pause(ms: number, isWoken: boolean, until: Promise<void> | undefined): Promise<void>
  end(): void
}

/** @param onDue calls with what becomes due, and returns what ends that; undefined where nobody says so */
export function createDueWatch(onDue: ((look: () => void) => () => void) | undefined): DueWatch {
  let isNew = false
  let waiting: AbortController | undefined
  const endListening = onDue?.(() => {
    isNew = true
    waiting?.abort()
  })
  return {
    isNotified: onDue !== undefined,
    get isNew() {
      return isNew
    },
    reset() {
      isNew = false
    },
    async pause(ms, isWoken, until) {
      const pause = new AbortController()
      waiting = isWoken ? pause : undefined
      const looking = delay(ms, undefined, { signal: pause.signal }).catch(() => {})
      await (until === undefined ? looking : Promise.race([until, looking]))
      waiting = undefined
      pause.abort()
    },
    end: () => endListening?.(),
  }
}
