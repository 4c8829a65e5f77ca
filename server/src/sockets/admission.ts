import { performance } from 'node:perf_hooks'
import { tooManyLogins } from './errors.ts'

/**
 * Lets sockets in at a pace that leaves the process to those who are in already. After a restart thousands of clients come back
 * at once, and each asks for what it has missed as soon as it is in; so it is their way in that is paced, not what they ask. It is
 * paced before the socket is opened: until then a client costs a line in the queue.
 */
export interface Admission {
  /**
   * Resolves when it is the caller's turn, at once where few come.
   * @param isStillThere whoever has gone takes nobody's turn
   * @throws 503 when more wait than can be let in in time
   */
  enter(isStillThere?: () => boolean): Promise<void>
  /** Refuses all who wait, and all who come. */
  close(): void
}

/** How much of the time the event loop has worked lately, from 0 to 1: since it was last asked. */
export type Load = () => number

/** So many may come at once, before others have to wait. */
const burst = 5
/** Few at a time and often, so that requests of others pass in between. */
const turnMs = 20
/** What those who were let in bring shows in the load a moment later. */
const lookMs = 100
const load = { low: 0.4, high: 0.55, full: 0.85 }
/** A turn that comes so late says that the process has no time at all. */
const lateMs = 20
/** The share of its pace that is kept even then, so that nobody waits for ever. */
const leastShare = 1 / 4
/**
 * A process that has just started takes several times as long for all it does. So many milliseconds from the first who comes, sockets
 * are let in one by one at the least pace, and more slowly still where the process was busy for so much of the last moment.
 */
export const youth = { lastsMs: 2_500, busy: 0.5, slowed: 1 / 3 }
/** Most clients give up on a login that takes ten seconds. */
export const longestWaitMs = 8_000

/**
 * @param usual a second while the process is busy: half of it to begin with, since a process that has just started is slow, a quarter
 *   while it has no time at all, and ten times as many while it has time. The pace rises slowly and falls fast
 * @param longestMs after which one that waits is refused
 * @param youthMs from the first who comes, in which the process is taken for one that has just started
 */
export function createAdmission(
  usual: number,
  loadOf: Load = ownLoad(),
  longestMs = longestWaitMs,
  youthMs = 0,
): Admission {
  const waiting: Array<{
    readonly since: number
    readonly enter: () => void
    readonly refuse: (error: Error) => void
    readonly isStillThere: () => boolean
  }> = []
  const least = usual * leastShare
  const pace = { least, young: Math.max(burst, least), first: usual / 2, most: usual * 10 }
  let perSecond = pace.first
  let whileYoung = pace.young
  /** Those who need not wait. */
  let allowance = youthMs > 0 ? 1 : burst
  let youngUntil = youthMs > 0 ? Number.POSITIVE_INFINITY : 0
  let countedAt = performance.now()
  let lookedAt = countedAt
  let turnedAt = countedAt
  let turning: NodeJS.Timeout | undefined
  let isClosed = false

  const refill = (at: number, most = Number.POSITIVE_INFINITY) => {
    const isYoung = at < youngUntil
    const rate = Math.min(isYoung ? whileYoung : perSecond, most)
    const atOnce = isYoung ? Math.max(1, (rate * turnMs) / 1000) : Math.max(burst, (rate * turnMs) / 500)
    allowance = Math.min(atOnce, allowance + ((at - countedAt) / 1000) * rate)
    countedAt = at
  }

  const adjust = (at: number) => {
    lookedAt = at
    const busy = loadOf()
    if (at < youngUntil) whileYoung = busy > youth.busy ? pace.young * youth.slowed : pace.young
    else if (busy > load.full) perSecond = Math.max(pace.least, perSecond * 0.7)
    else if (busy > load.high && perSecond > usual) perSecond = Math.max(usual, perSecond * 0.7)
    else if (busy < load.low || perSecond < usual) perSecond = Math.min(pace.most, perSecond * 1.08)
  }

  const takeTurn = () => {
    const at = performance.now()
    const isLate = at - turnedAt > turnMs + lateMs
    turnedAt = at
    if (at - lookedAt >= lookMs) adjust(at)
    refill(at, isLate ? pace.least : undefined)
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
      if (isClosed) throw tooManyLogins()
      const at = performance.now()
      if (youngUntil === Number.POSITIVE_INFINITY) youngUntil = at + youthMs
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
        lookedAt = turnedAt = at
        turning = setInterval(takeTurn, turnMs).unref()
      })
    },
    close() {
      isClosed = true
      for (const { refuse } of waiting.splice(0)) refuse(tooManyLogins())
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
