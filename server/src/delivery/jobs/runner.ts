import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Logger, type Runner, run, type TaskList, type WorkerPool } from 'graphile-worker'
import pg from 'pg'
import type { Log } from '../../log.ts'
import { type ConnectionSettings, clientSettings, isConnectionFailure } from '../../store/connection.ts'
import { createPoolGuard, type PoolGuard } from './pool-guard.ts'

/**
 * Runs jobs of graphile-worker in this process, beside those of other processes. The worker ends when it cannot write to
 * the database; then it is started again.
 */
export interface JobRunner {
  start(): Promise<void>
  /** Lets running jobs end. */
  stop(): Promise<void>
}

export interface JobRunnerOptions {
  readonly connection: ConnectionSettings
  readonly log: Log
  readonly tasks: TaskList
}

/** Jobs at once. Each spends its time waiting for others, so there may be many. */
const concurrency = 50
const pollMs = 500
const restartMs = 1_000
const closePatienceMs = 2_000

export function createJobRunner({ connection, log, tasks }: JobRunnerOptions): JobRunner {
  // One listens, the other does the rest.
  const pool = new pg.Pool({ ...clientSettings(connection, 'parley jobs'), max: 2 })
  // A connection that breaks is noticed by the next query on it; without listeners it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const logger = quietLogger(log)
  const guard = createPoolGuard(connection, log)
  let runner: Runner | undefined
  let stopped = false
  let restart: NodeJS.Timeout | undefined

  const begin = async () => {
    if (stopped) return
    try {
      const made = await run({
        pgPool: pool,
        taskList: tasks,
        concurrency,
        noHandleSignals: true,
        pollInterval: pollMs,
        logger,
        preset: { worker: { localQueue: { size: concurrency }, completeJobBatchDelay: 5, failJobBatchDelay: 5 } },
        events: eventsOf(guard),
      })
      runner = made
      made.promise.then(again, again)
      if (stopped) await made.stop().catch(() => {})
    } catch (error) {
      again(error)
    }
  }
  const again = (error: unknown) => {
    runner = undefined
    if (stopped) return
    if (error !== undefined && !isConnectionFailure(error)) log.warn({ err: error }, 'the job runner is started again')
    restart = setTimeout(() => void begin(), restartMs).unref()
  }

  return {
    async start() {
      await guard.start()
      await begin()
    },
    async stop() {
      stopped = true
      clearTimeout(restart)
      // Whatever it could not write in the end is found again by the others.
      await runner?.stop().catch(() => {})
      await guard.stop()
      // A connection ends once the database has let go of it, which one that hangs does not.
      await Promise.race([pool.end(), delay(closePatienceMs, undefined, { ref: false })])
    },
  }
}

type EventEmitterOf = NonNullable<Parameters<typeof run>[0]['events']>

/** Tells the guard the name under which this process locks jobs, each time the worker begins. */
function eventsOf(guard: PoolGuard): EventEmitterOf {
  const events = new EventEmitter() as EventEmitterOf
  events.on('pool:create', ({ workerPool }: { workerPool: WorkerPool }) => guard.hold(workerPool.id))
  return events
}

/** The worker's own words are for those who look for faults; jobs log what matters themselves. */
function quietLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.debug({ worker: message }, 'job runner')
  })
}
