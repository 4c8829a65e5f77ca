import type { Log } from '../log.ts'
import { isConnectionFailure } from '../store/connection.ts'
import type { Connection } from './connection.ts'
import { closeOverTime } from './upkeep.ts'

/** Clients that may lack something of which it is not known whether it was stored. */
export interface LateResync {
  /** These may lack something from now on. */
  add(connections: Iterable<Connection>): void
  /** Has them connect again, once the database answers. Those who have connected since then have asked for what is new. */
  run(): void
}

export interface LateResyncParts {
  readonly log: Log
  /** Milliseconds over which they are closed. */
  readonly drainMs: number
  /** What else was missed is read first. */
  resync(): Promise<void>
}

export function createLateResync({ log, drainMs, resync }: LateResyncParts): LateResync {
  /** Undefined where nobody lacks anything. */
  let lacking: Set<Connection> | undefined
  let isRunning = false

  const run = async () => {
    if (lacking === undefined || isRunning) return
    isRunning = true
    try {
      await resync()
      const these = [...lacking]
      lacking = undefined
      await closeOverTime(these, 'tryAgain', drainMs)
    } finally {
      isRunning = false
    }
  }
  const onFailure = (error: Error) => {
    if (isConnectionFailure(error)) return
    log.warn({ err: error }, 'could not yet disconnect clients that may have missed events')
  }

  return {
    add(connections) {
      lacking = new Set([...(lacking ?? []), ...connections])
    },
    run: () => void run().catch(onFailure),
  }
}
