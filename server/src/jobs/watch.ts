import type { EventEmitter } from 'node:events'
import { Counter, Gauge, type Registry } from 'prom-client'

/** `starting`: no jobs were fetched yet. `stalled`: none for some seconds, and not because all hands are full. */
export type JobRunnerState = 'starting' | 'running' | 'stalled'

/**
 * Notices that the worker fetches no jobs. It fetches twice a second, but when its first look-up of the names of its tasks
 * fails (the database refused a connection at that moment), it keeps that failure as the answer for the rest of its life,
 * and says so to nobody. Connections that died without a word stop it, too.
 */
export interface FetchWatch {
  readonly state: JobRunnerState
  /** For how long nothing was fetched, in seconds. */
  readonly silentSeconds: number
  /** A worker begins; what these events say counts from now on. */
  follow(events: EventEmitter): void
  stop(): void
}

export interface FetchWatchOptions {
  readonly registry: Registry
  /** The worker has fetched nothing for so long that another is to take its place. */
  readonly onStalled: (seconds: number) => void
  readonly onResumed: () => void
}

/** Without a fetch for so long, the worker has stalled. */
const patienceSeconds = 5
/** Each successor that does not fetch either is given twice as long, up to this. */
const mostPatienceSeconds = 60

export function watchFetches({ registry, onStalled, onResumed }: FetchWatchOptions): FetchWatch {
  // Counted, not read from a clock: a process that stood still has not waited for anything.
  let silentSeconds = 0
  let secondsOfThis = 0
  let patience = patienceSeconds
  let hasFetched = false
  let hasReplaced = false
  /** All jobs that may run at once do run, and more wait: nothing is fetched until one ends. */
  let isFull = false
  let followed: EventEmitter | undefined
  let timer: NodeJS.Timeout | undefined

  const state = (): JobRunnerState => {
    if (silentSeconds >= patienceSeconds) return 'stalled'
    return hasFetched ? 'running' : 'starting'
  }
  const restarts = new Counter({
    name: 'parley_job_runner_restarts_total',
    help: 'How often the job runner began anew because it fetched no jobs',
    registers: [registry],
  })
  new Gauge({
    name: 'parley_job_runner_up',
    help: '1 while jobs are fetched; 0: no webhooks go out from this process',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(state() === 'running' ? 1 : 0)
    },
  })

  const fetched = () => {
    silentSeconds = 0
    secondsOfThis = 0
    patience = patienceSeconds
    hasFetched = true
    if (hasReplaced) onResumed()
    hasReplaced = false
  }
  const tick = () => {
    if (isFull) return fetched()
    silentSeconds++
    secondsOfThis++
    if (secondsOfThis < patience) return
    secondsOfThis = 0
    patience = Math.min(2 * patience, mostPatienceSeconds)
    hasReplaced = true
    restarts.inc()
    onStalled(silentSeconds)
  }
  return {
    get state() {
      return state()
    },
    get silentSeconds() {
      return silentSeconds
    },
    follow(events) {
      timer ??= setInterval(tick, 1_000).unref()
      followed = events
      isFull = false
      secondsOfThis = 0
      events.on('localQueue:getJobs:complete', () => {
        if (followed === events) fetched()
      })
      events.on('localQueue:setMode', ({ newMode }: { newMode: string }) => {
        if (followed === events) isFull = newMode === 'WAITING' || newMode === 'TTL_EXPIRED'
      })
    },
    stop: () => clearInterval(timer),
  }
}
