import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Logger, type Runner, run, type Task, type TaskList, type WorkerPool } from 'graphile-worker'
import pg from 'pg'
import type { Log } from '../../log.ts'
import { type ConnectionSettings, clientSettings, cutConnection, isConnectionFailure } from '../../store/connection.ts'
import { createPoolGuard, type PoolGuard } from './pool-guard.ts'

/**
 * Runs jobs of graphile-worker in this process, beside those of other processes. The worker ends when it cannot write to
 * the database; then it is started again.
 */
export interface JobRunner {
  start(): Promise<void>
  /** Lets running jobs end; then the database has three seconds for what is to be written of them. */
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
const stopPatienceMs = 3_000
const closePatienceMs = 1_000

export function createJobRunner({ connection, log, tasks }: JobRunnerOptions): JobRunner {
  // One listens, the other does the rest.
  const pool = new pg.Pool({ ...clientSettings(connection, 'parley jobs'), max: 2 })
  // A connection that breaks is noticed by the next query on it; without listeners it would end the process.
  pool.on('error', () => {})
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    client.on('error', () => {})
  })
  pool.on('remove', (client) => clients.delete(client))
  const running = new Set<Promise<unknown>>()
  const taskList = Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [name, task && watchTask(task, running)]),
  )
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
        taskList,
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
      const stopping = runner?.stop().catch(() => {})
      await Promise.allSettled(running)
      const hasStopped = await isDoneWithin(stopPatienceMs, stopping)
      await guard.stop()
      const ending = pool.end()
      // A connection ends once the database has let go of it; one that died without a word never hears of that.
      if (hasStopped && (await isDoneWithin(closePatienceMs, ending))) return
      for (const client of clients) cutConnection(client)
      await isDoneWithin(closePatienceMs, Promise.all([stopping, ending]))
    },
  }
}

function watchTask(task: Task, running: Set<Promise<unknown>>): Task {
  return async (payload, helpers) => {
    const run = Promise.resolve(task(payload, helpers))
    running.add(run)
    try {
      return await run
    } finally {
      running.delete(run)
    }
  }
}

async function isDoneWithin(ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const giveUp = new AbortController()
  const late = delay(ms, false, { signal: giveUp.signal }).catch(() => false)
  const done = await Promise.race([Promise.resolve(work).then(() => true), late])
  giveUp.abort()
  return done
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
