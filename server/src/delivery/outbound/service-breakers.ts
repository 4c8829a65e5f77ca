import { createCache } from '../../cache.ts'
import { createBreaker, failuresToPause } from './breaker.ts'

/** One service of several: when it is down, those beside it go on. */
export interface ServiceBreaker {
  /** Asks before each attempt. @returns 0: go on; else seconds for which it is left alone */
  begin(): number
  /** It answered, whatever it said. */
  succeeded(): void
  /** It did not answer, or is down. @param retryAfter seconds, as it said */
  failed(retryAfter?: number): void
}

/** While one attempt shows whether a service is back, the others wait for so long. */
const probeSeconds = 2
/** A service may put itself off by `Retry-After`, but not for longer. */
const longestPauseMs = 600_000

/** How services do, each for itself, as this process sees them. */
export interface ServiceBreakers {
  of(name: string): ServiceBreaker
}

export interface ServiceBreakersOptions {
  /** Failures one after the other at which a service is left alone for a while. */
  readonly mostFailures?: number
  /** The first time it is left alone; 1 s without it. Each failure of the attempt after that doubles it. */
  readonly firstPauseMs?: number
  readonly maxPauseMs?: number
}

export function createServiceBreakers(options: ServiceBreakersOptions = {}): ServiceBreakers {
  const services = createCache<string, ServiceBreaker>({ max: 10_000 })
  return {
    of(name) {
      const known = services.get(name) ?? createServiceBreaker(options)
      services.set(name, known)
      return known
    },
  }
}

function createServiceBreaker(options: ServiceBreakersOptions): ServiceBreaker {
  const { mostFailures = failuresToPause, firstPauseMs = 1_000, maxPauseMs } = options
  const breaker = createBreaker({ failures: 0, failingSince: null }, firstPauseMs, maxPauseMs, mostFailures)
  let pausedUntil = 0
  let isProbed = false
  return {
    begin() {
      const left = pausedUntil - performance.now()
      if (left > 0) return Math.ceil(left / 1000)
      if (!breaker.isProbing) return 0
      if (isProbed) return probeSeconds
      isProbed = true
      return 0
    },
    succeeded() {
      isProbed = false
      breaker.succeeded()
    },
    failed(retryAfter = 0) {
      isProbed = false
      // What was under way already when it was left alone says nothing new.
      if (performance.now() < pausedUntil) return
      breaker.failed()
      const pause = Math.max(breaker.pauseMs, Math.min(retryAfter * 1000, longestPauseMs))
      if (pause > 0) pausedUntil = performance.now() + pause
    },
  }
}
