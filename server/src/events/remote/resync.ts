import type { Log } from '../../log.ts'
import type { createRemoteMetrics } from './metrics.ts'

/** Makes up for events of other processes that may have been missed, one time after the other. */
export interface Resync {
  /** Something was missed, and not all of it is made up for. */
  readonly isOwed: boolean
  /** @param missed something was; else it only may have been */
  begin(missed: boolean): void
  /** Begins once more, unless that was a moment ago. @param now as `performance.now()` has it */
  again(now: number): void
  finished(): Promise<void>
}

export interface ResyncParts {
  readonly log: Log
  readonly metrics: ReturnType<typeof createRemoteMetrics>
  /** Reads again what follows the events of others. */
  readonly onResync: () => Promise<void>
  /** Clients are to list what is new. */
  readonly onMissed: () => Promise<void>
}

/** While nothing, or not everybody, is heard. */
const everyMs = 5_000

export function createResync({ log, metrics, onResync, onMissed }: ResyncParts): Resync {
  let begunAt = Number.NEGATIVE_INFINITY
  let hasMissed = false
  let running: Promise<void> | undefined

  const run = async () => {
    begunAt = performance.now()
    const missed = hasMissed
    hasMissed = false
    metrics.resyncs.inc({ missed: String(missed) })
    try {
      await onResync()
      if (missed) await onMissed()
    } catch (error) {
      // Tried again with a later beat.
      hasMissed ||= missed
      begunAt = Number.NEGATIVE_INFINITY
      log.warn(
        { cause: (error as Error).message },
        'could not resync yet after events from other processes were missed',
      )
    }
  }
  const begin = (missed: boolean) => {
    hasMissed ||= missed
    running ??= run().finally(() => {
      running = undefined
    })
  }
  return {
    get isOwed() {
      return hasMissed
    },
    begin,
    again(now) {
      if (now - begunAt > everyMs) begin(false)
    },
    finished: async () => running,
  }
}
