import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { Database } from './database.ts'

/** Watches whether the database answers, so that requests need not find out one by one. */
export interface DatabaseMonitor {
  readonly available: boolean
  stop(): void
}

const intervalMs = 300
const usualPatienceMs = 1500
const tickMs = 50

/**
 * Pings the database three times a second. When it stops answering, everything that waits for it is cut off, and what comes
 * is refused (503) instead of waiting with it, until it answers again.
 */
export function monitorDatabase(
  database: Database,
  log: { warn(text: string): void; info(text: string): void },
  patienceMs = usualPatienceMs,
): DatabaseMonitor {
  let available = true
  let stopped = false
  let timer: NodeJS.Timeout

  const probe = async () => {
    const waiting = new AbortController()
    const answered = await Promise.race([
      database.ping().then(
        () => true,
        () => false,
      ),
      patience(patienceMs, waiting.signal),
    ])
    waiting.abort()
    if (stopped) return
    if (answered !== available) {
      available = answered
      if (answered) log.info('the database is available again')
      else log.warn('the database is unavailable; requests are refused until it is back')
    }
    if (answered) database.resume()
    else database.suspend()
    timer = setTimeout(probe, intervalMs).unref()
  }
  timer = setTimeout(probe, intervalMs).unref()

  return {
    get available() {
      return available
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/**
 * Resolves when the patience is over. It goes by short waits, and what has arrived is taken in after each: a process that gets
 * too little of the machine to hear an answer, as during a start under load, has not waited all that time.
 */
async function patience(patienceMs: number, signal: AbortSignal): Promise<false> {
  for (let waitedMs = 0; waitedMs < patienceMs && !signal.aborted; waitedMs += tickMs) {
    await delay(Math.min(tickMs, patienceMs - waitedMs), undefined, { ref: false, signal }).catch(() => {})
    await setImmediate()
    await setImmediate()
  }
  return false
}
