import type { Health } from './lease.ts'

/** Failures one after the other at which an endpoint is left alone for a while. */
export const failuresToPause = 10

/** The longest pause where nothing else is said; an endpoint that is back is found within it. */
const usualMaxPauseMs = 60_000
const firstPauseMs = 5_000

/** Watches how an endpoint does, and says when to leave it alone. Has no effect of its own. */
export interface Breaker {
  readonly health: Health
  /** The endpoint fails: one attempt at a time shows whether it is back. */
  readonly isProbing: boolean
  succeeded(): void
  failed(): void
  /** How long to leave it alone now; 0: not at all. */
  readonly pauseMs: number
}

/**
 * @param health from earlier
 * @param firstDelayMs between a first attempt and the next one: no first pause is longer
 * @param mostFailures one after the other, at which it is left alone
 */
export function createBreaker(
  health: Health,
  firstDelayMs: number,
  maxPauseMs = usualMaxPauseMs,
  mostFailures = failuresToPause,
): Breaker {
  let { failures, failingSince } = health
  /** Since the beginning of this round: a round begins by probing, so the first failure ends it. */
  let failedNow = false
  return {
    get health() {
      return { failures, failingSince }
    },
    get isProbing() {
      return failures >= mostFailures
    },
    succeeded() {
      failures = 0
      failingSince = null
    },
    failed() {
      failures++
      failingSince ??= Date.now()
      failedNow = true
    },
    get pauseMs() {
      if (!failedNow || failures < mostFailures) return 0
      const doublings = Math.min(20, failures - mostFailures)
      return Math.min(maxPauseMs, Math.min(firstPauseMs, firstDelayMs) * 2 ** doublings)
    },
  }
}
