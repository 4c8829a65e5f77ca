import type pg from 'pg'
import {
  type ConnectionSettings,
  createPool,
  cutConnection,
  isLockTimeout,
  isOutdated,
  isRetryable,
} from './connection.ts'
import type { Transaction } from './database.ts'
import { isInDoubt } from './doubt.ts'
import { hurriedMs, patienceMs, turnMs } from './held.ts'
import { ofService, type Reader } from './reader.ts'
import type { Suspension } from './suspension.ts'
import { runTransaction } from './transaction.ts'
import { createTurns } from './turns.ts'

/** Connections of a pool. */
export interface PoolLoad {
  readonly total: number
  readonly idle: number
  /** Transactions that wait for one. */
  readonly waiting: number
}

/** The pool in which transactions run. */
export interface Transactions {
  /** As `Database.transaction`, on somebody's behalf. @throws ReadsFullError where too many wait for locks already */
  run<Result>(reader: Reader, work: Work<Result>): Promise<Result>
  /** As `Database.longTransaction`. @throws ReadsFullError as `run` */
  runLong<Result>(reader: Reader, work: Work<Result>): Promise<Result>
  readonly pool: PoolLoad
  /** Cuts all connections, busy and idle. */
  reset(): void
  close(): Promise<void>
}

const connections = 8
const attempts = 4

const unlimited = Number.POSITIVE_INFINITY

/** Whose turn it is for a connection: some are always left for other apps, and for others of an app. Nobody is refused one. */
const shares = {
  ...{ atOnce: connections, atOncePerApp: 6, atOncePerUser: 3, atOncePerKey: 5 },
  ...{ waiting: unlimited, waitingPerApp: unlimited, waitingPerReader: unlimited },
}

/** Of those that have much to do: as many connections are left for all others. */
const long = { ...shares, atOnce: 4, atOncePerApp: 3, atOncePerUser: 1, atOncePerKey: 2 }

/** Of those that wait for what somebody else has locked for long: none stands in the way of other transactions, nor of other apps. */
const apart = {
  ...{ atOnce: 4, atOncePerApp: 3, atOncePerUser: 2, atOncePerKey: 2 },
  ...{ waiting: 10_000, waitingPerApp: 2_000, waitingPerReader: unlimited },
}

/** How long one of them waits at most before it is the turn of another. */
const longestTurnMs = 4 * turnMs

/**
 * The pool in which transactions run, and one in which they wait for locks.
 * @param onDoubt hears when a transaction may be committed, and what was to be done then is not
 */
export function openTransactions(
  connection: ConnectionSettings,
  suspension: Suspension,
  onDoubt: () => void,
): Transactions {
  const clients = new Set<pg.ClientBase>()
  const open = (name: string, max: number, lockTimeoutMs: number): pg.Pool => {
    const pool = createPool(connection, name, max, undefined, lockTimeoutMs)
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    pool.on('error', () => {})
    pool.on('connect', (client) => {
      client.on('error', () => {})
      clients.add(client)
      client.once('end', () => clients.delete(client))
    })
    return pool
  }
  const pool = open('parley', connections, patienceMs)
  const poolApart = open('parley apart', apart.atOnce, 0)
  const shared = createTurns('transaction', shares, 0)
  const longOnes = createTurns('transaction', long, 0)
  const inTurn = createTurns('transaction', apart, 0)
  /** How many have waited apart for a whole turn, by app. */
  const held = new Map<number, number>()

  const attempt = async <Result>(from: pg.Pool, begin: string, work: Work<Result>): Promise<Result> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await attemptTransaction(await takeClient(from, suspension), begin, work)
      } catch (error) {
        if (isInDoubt(error)) onDoubt()
        if (attempt === attempts || !isRetryable(error)) throw error
      }
    }
  }
  const count = (appId: number, by: 1 | -1) => {
    const counted = (held.get(appId) ?? 0) + by
    if (counted === 0) held.delete(appId)
    else held.set(appId, counted)
  }
  const waitApart = async <Result>({ appId, uid }: Reader, work: Work<Result>): Promise<Result> => {
    const once = (ms: number) =>
      inTurn.run({ appId, uid }, () => attempt(poolApart, `begin; set local lock_timeout = ${ms}`, work))
    try {
      return await once(turnMs)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
    count(appId, 1)
    try {
      // Whatever else waits has its turn in between.
      for (let ms = 2 * turnMs; ; ms = Math.min(2 * ms, longestTurnMs)) {
        try {
          return await once(ms)
        } catch (error) {
          if (!isLockTimeout(error)) throw error
        }
      }
    } finally {
      count(appId, -1)
    }
  }
  const run = async <Result>(reader: Reader, work: Work<Result>): Promise<Result> => {
    const { appId, uid } = reader
    // Where something is held for long, others of the app are likely to want it, and each takes a connection from all until it is
    // known. What the service does by itself is for all apps.
    const begin = () =>
      appId !== ofService.appId && held.has(appId) ? `begin; set local lock_timeout = ${hurriedMs}` : 'begin'
    try {
      return await shared.run({ appId, uid }, () => attempt(pool, begin(), work))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
    return waitApart(reader, work)
  }
  return {
    run,
    runLong: (reader, work) => longOnes.run({ appId: reader.appId, uid: reader.uid }, () => run(reader, work)),
    pool: {
      get total() {
        return pool.totalCount + poolApart.totalCount
      },
      get idle() {
        return pool.idleCount + poolApart.idleCount
      },
      get waiting() {
        return [shared, longOnes, inTurn].reduce((sum, { load }) => sum + load.waiting, pool.waitingCount)
      },
    },
    reset() {
      for (const client of clients) cutConnection(client)
    },
    async close() {
      await Promise.all([pool.end(), poolApart.end()])
    },
  }
}

type Work<Result> = (tx: Transaction) => Promise<Result>

/** A connection of the pool; whoever waits for one is refused when the database goes away. */
async function takeClient(pool: pg.Pool, suspension: Suspension): Promise<pg.PoolClient> {
  suspension.check()
  return suspension.wait(pool.connect(), (client) => client.release())
}

/** Runs a transaction and gives the connection back. */
async function attemptTransaction<Result>(client: pg.PoolClient, begin: string, work: Work<Result>): Promise<Result> {
  let broken: Error | undefined
  try {
    return await runTransaction(client, work, {
      ...{ isPipelined: false, begin },
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
