import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type Demand, watchDemand } from '../../metrics.ts'

/**
 * Holds attempts back while this process has its hands full: what is to be delivered is kept and can wait, who sends a
 * message cannot. Where there is room, or next to nobody to give way to, nothing is held back.
 */
export interface Pace {
  /** @returns undefined where another attempt may begin at once, which is nearly always; else resolves when it may */
  turn(): Promise<void> | undefined
}

/** How much of its time a process may be at work before attempts give way. */
const busyShare = 0.75
/** Attempts a second that go through all the same where nothing else is said, so that nobody waits for ever. */
const usualLeastPerSecond = 250
const windowMs = 50
/** While clients ask, so many attempts begin before it is their turn again: all at once would hold the loop for long. */
const togetherWhenAsked = 8

/** @param leastPerSecond attempts that go through however busy the process is */
export function createPace(demand: Readonly<Demand>, leastPerSecond = usualLeastPerSecond): Pace {
  const isAsked = watchDemand(demand)
  let windowEnds = 0
  let left = Number.POSITIVE_INFINITY
  let last = performance.eventLoopUtilization()
  let together = 0
  let nextTurn: Promise<void> | undefined

  /** Resolves in the next turn of the event loop, for all who wait for it. */
  const untilNextTurn = () => {
    nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        nextTurn = undefined
        together = 0
        resolve()
      })
    })
    return nextTurn
  }
  const open = (now: number) => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, last)
    last = current
    // Counted from the end of the window before, so that a late look gives no less.
    const elapsed = Math.min(now - windowEnds + windowMs, 1000)
    left =
      utilization < busyShare || !isAsked(now) ? Number.POSITIVE_INFINITY : Math.ceil((leastPerSecond * elapsed) / 1000)
    windowEnds = now + windowMs
  }
  /** @returns what is to be waited for first; undefined: a turn was taken */
  const take = (): Promise<void> | undefined => {
    const now = performance.now()
    if (now >= windowEnds) open(now)
    if (left <= 0) return delay(windowEnds - now)
    if (together >= togetherWhenAsked && isAsked(now)) return untilNextTurn()
    left--
    if (together++ === 0) void untilNextTurn()
    return undefined
  }
  const takeAfter = async (first: Promise<void>) => {
    for (let waiting: Promise<void> | undefined = first; waiting !== undefined; waiting = take()) await waiting
  }
  return {
    turn() {
      const waiting = take()
      return waiting && takeAfter(waiting)
    },
  }
}
