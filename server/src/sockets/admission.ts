import { performance } from 'node:perf_hooks'
import { tooManyLogins } from './errors.ts'

/**
 * Lets logins in at a pace that leaves the process to those who are in already. After a restart thousands of clients come back
 * at once, and each asks for what it has missed as soon as it is in; so it is their way in that is paced, not what they ask.
 */
export interface Admission {
  /**
   * Resolves when it is the caller's turn, at once where few come.
   * @param isStillThere whoever has gone takes nobody's turn
   * @throws 503 when more wait than can be let in in time
   */
  enter(isStillThere?: () => boolean): Promise<void>
}

/** How much of the time the event loop has worked lately, from 0 to 1: since it was last asked. */
export type Load = () => number

/** So many may come at once, before others have to wait. */
const burst = 20
const turnMs = 50
const load = { low: 0.5, high: 0.7 }
/** Most clients give up on a login that takes ten seconds. */
export const longestWaitMs = 8_000

/**
 * @param least logins a second, however busy the process is; twice as many to begin with, and ten times as many while it has
 *   time. What they bring shows in the load a moment later, so the pace rises slowly and falls fast
 * @param longestMs after which one that waits is refused
 */
export function createAdmission(least: number, loadOf: Load = ownLoad(), longestMs = longestWaitMs): Admission {
  const waiting: Array<{
    readonly since: number
    readonly enter: () => void
    readonly refuse: (error: Error) => void
    readonly isStillThere: () => boolean
  }> = []
  const pace = { first: least * 2, most: least * 10 }
  let perSecond = pace.first
  /** Logins that need not wait. */
  let allowance = burst
  let countedAt = performance.now()
  let turning: NodeJS.Timeout | undefined

  const refill = (at: number) => {
    allowance = Math.min(Math.max(burst, (perSecond * turnMs) / 500), allowance + ((at - countedAt) / 1000) * perSecond)
    countedAt = at
  }

  const takeTurn = () => {
    const at = performance.now()
    const busy = loadOf()
    if (busy > load.high) perSecond = Math.max(least, perSecond * 0.8)
    else if (busy < load.low) perSecond = Math.min(pace.most, perSecond * 1.05)
    refill(at)
    while (waiting[0] !== undefined && at - waiting[0].since > longestMs) waiting.shift()?.refuse(tooManyLogins())
    for (let first = waiting[0]; first !== undefined && allowance >= 1; first = waiting[0]) {
      waiting.shift()
      if (first.isStillThere()) allowance -= 1
      first.enter()
    }
    if (waiting.length > 0) return
    clearInterval(turning)
    turning = undefined
    perSecond = pace.first
  }

  return {
    async enter(isStillThere = () => true) {
      const at = performance.now()
      refill(at)
      if (turning === undefined && allowance >= 1) {
        allowance -= 1
        return
      }
      if (waiting.length >= (longestMs / 1000) * pace.most) throw tooManyLogins()
      await new Promise<void>((enter, refuse) => {
        waiting.push({ since: at, enter, refuse, isStillThere })
        if (turning !== undefined) return
        // What was before says nothing of now.
        loadOf()
        turning = setInterval(takeTurn, turnMs).unref()
      })
    },
  }
}

function ownLoad(): Load {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}
