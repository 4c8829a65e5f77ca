import { EventEmitter } from 'node:events'
import { Logger, type Task, type WorkerPool } from 'graphile-worker'
import type { Registry } from 'prom-client'
import type { Log } from '../log.ts'
import { type ConnectionSettings, isConnectionFailure } from '../store/connection.ts'
import { ended, type Tracing } from '../tracing/tracing.ts'
import { createPoolGuard } from './pool-guard.ts'
import { type JobRunnerState, watchFetches } from './watch.ts'
import { startWorker, type Worker } from './worker.ts'

/**
 * Runs jobs of graphile-worker in this process, beside those of other processes. The worker ends when it cannot write to
 * the database, and may stall without a word; then another takes its place.
 */
export interface JobRunner {
  readonly state: JobRunnerState
  /** For how long no jobs were fetched, in seconds. */
  readonly silentSeconds: number
  /** Says how jobs of a name are done. Before `start`. */
  register(name: string, task: Task): void
  start(): void
  /** Lets running jobs end; then the database has three seconds for what is to be written of them. */
  stop(): Promise<void>
}

export interface JobRunnerOptions {
  readonly connection: ConnectionSettings
  readonly log: Log
  readonly registry: Registry
  readonly tracing: Tracing | undefined
}

const restartMs = 1_000

export function createJobRunner({ connection, log, registry, tracing }: JobRunnerOptions): JobRunner {
  const tasks: Record<string, Task> = {}
  const guard = createPoolGuard(connection, log)
  /** The present one, and former ones whose last jobs have yet to end. */
  const workers = new Set<Worker>()
  let present: Worker | undefined
  let lastFailure: unknown
  let stopped = false
  let restart: NodeJS.Timeout | undefined

  const watch = watchFetches({
    registry,
    onStalled(seconds) {
      log.warn({ seconds, cause: reasonOf(lastFailure) }, 'no jobs could be fetched; restarting the job runner')
      lastFailure = undefined
      clearTimeout(restart)
      if (present !== undefined) void dismiss(present)
      begin()
    },
    onResumed: () => log.info('jobs are fetched again'),
  })
  const logger = quietLogger(log, (failure) => {
    lastFailure = failure
  })

  const begin = () => {
    const events = new EventEmitter()
    // The guard learns the name under which this process locks jobs, each time a worker begins.
    events.on('pool:create', ({ workerPool }: { workerPool: WorkerPool }) => guard.hold(workerPool.id))
    watch.follow(events)
    const worker = startWorker({ connection, tasks, events, logger })
    workers.add(worker)
    present = worker
    void worker.ended.then((error) => {
      if (present !== worker || stopped) return
      if (error !== undefined && !isConnectionFailure(error)) log.warn({ err: error }, 'restarting the job runner')
      lastFailure = error
      void dismiss(worker)
      restart = setTimeout(begin, restartMs).unref()
    })
  }
  const dismiss = async (worker: Worker) => {
    if (present === worker) present = undefined
    await worker.stop()
    workers.delete(worker)
  }

  return {
    get state() {
      return watch.state
    },
    get silentSeconds() {
      return watch.silentSeconds
    },
    register(name, task) {
      tasks[name] = tracing === undefined ? task : traced(tracing, name, task)
    },
    start() {
      void guard.start()
      begin()
    },
    async stop() {
      stopped = true
      clearTimeout(restart)
      watch.stop()
      await Promise.all([...workers].map((worker) => worker.stop()))
      await guard.stop()
    },
  }
}

/** Jobs are of many requests each, so they are traces of their own, as many as of requests. */
function traced(tracing: Tracing, name: string, task: Task): Task {
  return async (payload, helpers) => {
    const span = tracing.arrive(`job ${name}`, undefined, { kind: 'consumer' })
    const work = async () => task(payload, helpers)
    return span === undefined ? work() : ended(span, work)
  }
}

function reasonOf(failure: unknown): string | undefined {
  return failure instanceof Error ? failure.message : undefined
}

/** The worker's own words are for those who look for faults; jobs log what matters themselves. */
function quietLogger(log: Log, onFailure: (failure: unknown) => void): Logger {
  return new Logger(() => (level, message, meta) => {
    if (level === 'error' && meta?.error !== undefined) onFailure(meta.error)
    if (level === 'error' || level === 'warning') log.debug({ worker: message }, 'job runner')
  })
}
