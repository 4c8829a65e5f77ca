import type { Log } from '../log.ts'
import { isConnectionFailure } from '../store/connection.ts'
import type { Connection } from './connection.ts'
import { closeOverTime } from './upkeep.ts'

/** Clients that may lack something of which it is not known whether it was stored. */
export interface Doubt {
  /** These may lack something from now on. */
  add(connections: Iterable<Connection>): void
  /** Has them connect again, once the database answers. Those who have connected since then have asked for what is new. */
  settle(): void
}

export interface DoubtParts {
  readonly log: Log
  /** Milliseconds over which they are closed. */
  readonly drainMs: number
  /** What else was missed is read first. */
  resync(): Promise<void>
}

export function createDoubt({ log, drainMs, resync }: DoubtParts): Doubt {
  /** Undefined where nothing is in doubt. */
  let doubtful: Set<Connection> | undefined
  let isSettling = false

  const settle = async () => {
    if (doubtful === undefined || isSettling) return
    isSettling = true
    try {
      await resync()
      const lacking = [...doubtful]
      doubtful = undefined
      await closeOverTime(lacking, 'tryAgain', drainMs)
    } finally {
      isSettling = false
    }
  }
  const onFailure = (error: Error) => {
    if (isConnectionFailure(error)) return
    log.warn({ err: error }, 'could not yet disconnect clients that may have missed events')
  }

  return {
    add(connections) {
      doubtful = new Set([...(doubtful ?? []), ...connections])
    },
    settle: () => void settle().catch(onFailure),
  }
}
