import type pg from 'pg'
import { type ConnectionSettings, createPool, cutConnection, isOutdated, isRetryable } from './connection.ts'
import type { Transaction } from './database.ts'
import { isInDoubt } from './doubt.ts'
import type { Suspension } from './suspension.ts'
import { runTransaction } from './transaction.ts'

/** Connections of a pool. */
export interface PoolLoad {
  readonly total: number
  readonly idle: number
  /** Transactions that wait for one. */
  readonly waiting: number
}

/** The pool in which transactions run. */
export interface Transactions {
  /** As `Database.transaction`. */
  run<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
  readonly pool: PoolLoad
  /** Cuts all connections, busy and idle. */
  reset(): void
  close(): Promise<void>
}

const connections = 8
const attempts = 4

/** @param onDoubt hears when a transaction may be committed, and what was to be done then is not */
export function openTransactions(
  connection: ConnectionSettings,
  suspension: Suspension,
  onDoubt: () => void,
): Transactions {
  const pool = createPool(connection, 'parley', connections)
  const clients = new Set<pg.ClientBase>()
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    clients.add(client)
    client.once('end', () => clients.delete(client))
  })
  return {
    async run(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await attemptTransaction(await takeClient(pool, suspension), work)
        } catch (error) {
          if (isInDoubt(error)) onDoubt()
          if (attempt === attempts || !isRetryable(error)) throw error
        }
      }
    },
    pool: {
      get total() {
        return pool.totalCount
      },
      get idle() {
        return pool.idleCount
      },
      get waiting() {
        return pool.waitingCount
      },
    },
    reset() {
      for (const client of clients) cutConnection(client)
    },
    close: () => pool.end(),
  }
}

/** A connection of the pool; whoever waits for one is refused when the database goes away. */
async function takeClient(pool: pg.Pool, suspension: Suspension): Promise<pg.PoolClient> {
  suspension.check()
  return suspension.wait(pool.connect(), (client) => client.release())
}

/** Runs a transaction and gives the connection back. */
async function attemptTransaction<Result>(
  client: pg.PoolClient,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  let broken: Error | undefined
  try {
    return await runTransaction(client, work, {
      isPipelined: false,
      onBroken(failure) {
        broken = failure
      },
    })
  } catch (error) {
    if (isOutdated(error)) broken = error as Error
    throw error
  } finally {
    client.release(broken)
  }
}
