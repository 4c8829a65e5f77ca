import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import { readPasses } from './passes.ts'
import { step } from './step.ts'

/** Removes messages that are older than apps and groups keep them, as one of however many processes there are. */
export interface Retention {
  /** Lets the step under way end. */
  stop(): Promise<void>
}

type Store = Pick<Context, 'config' | 'database' | 'tables' | 'log'>

type Timed = Store & Pick<Context, 'ageClock'>

interface Which {
  /** Only this app. */
  readonly only?: number
  readonly signal?: AbortSignal
}

const lookEveryMs = 600_000

export function startRetention(context: Timed): Retention {
  const stopping = new AbortController()
  const run = async () => {
    while (!stopping.signal.aborted) {
      // Not all processes at once.
      const wait = lookEveryMs * (0.7 + Math.random() * 0.6)
      await delay(wait, undefined, { ref: false, signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      try {
        await retainInTime(context, { signal: stopping.signal })
      } catch (err) {
        if (!isConnectionFailure(err)) context.log.error({ err }, 'old messages could not be removed')
      }
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** As `retain`, by the clock of removals. */
export async function retainInTime(context: Timed, which: Which = {}) {
  return retain(context, Math.floor((await context.ageClock.now()) / 1000), which)
}

/**
 * Removes what is to be removed by now, in steps with a rest as long as each took, so that nobody waits for more than one.
 * @param now epoch seconds
 * @returns how many messages were removed and stripped
 */
export async function retain(
  { config, database, tables, log }: Store,
  now: number,
  { only, signal }: Which = {},
): Promise<{ removed: number; stripped: number }> {
  const passes = await readPasses(database, config, only)
  const all = { removed: 0, stripped: 0 }
  for (const pass of passes) {
    const done = { removed: 0, stripped: 0 }
    try {
      for (;;) {
        if (signal?.aborted === true) return all
        const began = performance.now()
        const did = await step({ config, database, tables }, pass, now)
        if (did === undefined) break
        done.removed += did.removed
        done.stripped += did.stripped
        if (did.isOver) break
        await delay(performance.now() - began)
      }
    } catch (err) {
      if (isConnectionFailure(err)) throw err
      // Where it fails each time, those behind it are not to wait for that.
      log.error({ err, appId: pass.appId, place: pass.place }, 'old messages could not be removed')
    }
    all.removed += done.removed
    all.stripped += done.stripped
    if (done.removed + done.stripped > 0) log.info({ appId: pass.appId, ...done }, 'old messages were removed')
  }
  return all
}
