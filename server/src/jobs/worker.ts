import type { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { type Logger, run, type Task, type TaskList, type WorkerEvents } from 'graphile-worker'
import type pg from 'pg'
import { type ConnectionSettings, createPool, cutConnection } from '../store/connection.ts'

/** One life of graphile-worker, with connections of its own. */
export interface Worker {
  /** Resolves when it has ended, by itself or because it was stopped; with the error if there was one. */
  readonly ended: Promise<unknown>
  /** Lets running jobs end; then the database has three seconds for what is to be written of them. */
  stop(): Promise<void>
}

export interface WorkerOptions {
  readonly connection: ConnectionSettings
  readonly tasks: TaskList
  readonly events: EventEmitter
  readonly logger: Logger
}

/** Jobs at once. Each spends its time waiting for others, so there may be many. */
const concurrency = 50
const pollMs = 500
const stopPatienceMs = 3_000
const closePatienceMs = 1_000
/**
 * Longer than elsewhere: nobody waits for it, and a machine that is busy with a start may take seconds to connect. The
 * worker never gets over a failure of its first query (see `watch.ts`).
 */
export const connectTimeoutMs = 15_000

/** Starts a worker. Whatever keeps it from running ends it. */
export function startWorker({ connection, tasks, events, logger }: WorkerOptions): Worker {
  const { pool, cut } = openPool(connection)
  const running = new Set<Promise<unknown>>()
  // The worker keeps what it learned at its start by the identity of these options: each has its own.
  const starting = run({
    pgPool: pool,
    taskList: Object.fromEntries(Object.entries(tasks).map(([name, task]) => [name, task && watchTask(task, running)])),
    concurrency,
    noHandleSignals: true,
    pollInterval: pollMs,
    logger,
    preset: { worker: { localQueue: { size: concurrency }, completeJobBatchDelay: 5, failJobBatchDelay: 5 } },
    events: events as WorkerEvents,
  })
  const ended = starting
    .then((runner) => runner.promise)
    .then(
      () => undefined,
      (error: unknown) => error,
    )
  const end = async () => {
    // Whatever it could not write in the end is found again by the others.
    const stopping = starting.then((runner) => runner.stop()).catch(() => {})
    await Promise.allSettled(running)
    const hasStopped = await isDoneWithin(stopPatienceMs, stopping)
    const ending = pool.end()
    // A connection ends once the database has let go of it; one that died without a word never hears of that.
    if (hasStopped && (await isDoneWithin(closePatienceMs, ending))) return
    cut()
    await isDoneWithin(closePatienceMs, Promise.all([stopping, ending]))
  }
  let ending: Promise<void> | undefined
  return {
    ended,
    stop() {
      ending ??= end()
      return ending
    },
  }
}

/** One connection listens, the other does the rest. */
function openPool(connection: ConnectionSettings): { pool: pg.Pool; cut: () => void } {
  const pool = createPool(connection, 'parley jobs', 2, connectTimeoutMs)
  // A connection that breaks is noticed by the next query on it; without listeners it would end the process.
  pool.on('error', () => {})
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    client.on('error', () => {})
  })
  pool.on('remove', (client) => clients.delete(client))
  return {
    pool,
    cut() {
      for (const client of clients) cutConnection(client)
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

async function isDoneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const giveUp = new AbortController()
  const late = delay(ms, false, { signal: giveUp.signal }).catch(() => false)
  const done = await Promise.race([work.then(() => true), late])
  giveUp.abort()
  return done
}
