import pg from 'pg'
import { type Channel, createChannel } from './channel.ts'
import {
  type ConnectionSettings,
  clientSettings,
  createPool,
  cutConnection,
  isOutdated,
  isRetryable,
} from './connection.ts'
import { createLookups, isLookup } from './lookups.ts'
import { compileFragment, type Fragment, type Statement, statement } from './statement.ts'
import { createSuspension, type Suspension } from './suspension.ts'
import { runTransaction } from './transaction.ts'

/** Whatever answers queries: the database itself (each query its own transaction) or one transaction. */
export interface Queryable {
  /** Runs a fixed statement with its parameters and gives its rows. */
  query<Row>(statement: Statement, values?: unknown[]): Promise<Row[]>
  /** Runs a composed statement and gives its rows. */
  run<Row>(fragment: Fragment<Row>): Promise<Row[]>
}

export interface Transaction extends Queryable {
  /** What is to be done once the transaction is committed (drop caches, publish events). Not done when it fails. */
  afterCommit(action: () => void): void
}

/** PostgreSQL, as the areas see it. */
export interface Database extends Queryable {
  /**
   * Runs `work` in a transaction on a connection of its own; rolled back when `work` throws. Deadlocks are tried again,
   * so `work` must not have effects outside the database before it returns (see `afterCommit`).
   */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
  /** A connection of its own for a writer of batches; `setup` runs on each new connection. */
  openChannel(name: string, setup?: string): Channel
  /** A client that is not shared, e.g. to LISTEN; the caller connects and ends it. */
  createClient(name: string): pg.Client
  /** Asks the database whether it answers, also while suspended. */
  ping(): Promise<void>
  /**
   * The database does not answer: cuts every connection and refuses at once whatever is asked from now on, so that
   * nobody waits with it. To be repeated as long as it does not answer.
   */
  suspend(): void
  /** The database answers again. */
  resume(): void
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number }
  close(): Promise<void>
}

const readers = 2
/**
 * Fixed statements look up rows by key: one plan fits all parameters, and choosing it anew for each array of ids takes
 * longer than the look-up. Composed ones are lists, whose plans may depend on what is asked.
 */
const lookupSettings = 'set plan_cache_mode = force_generic_plan'
const transactionConnections = 8
const attempts = 4
const closePatienceMs = 2_000
const ping = statement('select 1')

/** Opens the database; connections are made when they are needed. */
export function openDatabase(connection: ConnectionSettings): Database {
  const suspension = createSuspension()
  const pinger = createChannel(connection, 'parley monitor')
  const lookups = Array.from({ length: readers }, (_, i) =>
    createChannel(connection, `parley reader ${i}`, lookupSettings),
  )
  const lists = Array.from({ length: readers }, (_, i) => createChannel(connection, `parley lists ${i}`))
  const channels: Channel[] = [...lookups, ...lists]
  const pool = createPool(connection, 'parley', transactionConnections)
  /** Open connections that are no channels: those of the pool, busy and idle, and those that listen. */
  const clients = new Set<pg.ClientBase>()
  const track = (client: pg.ClientBase) => {
    clients.add(client)
    client.once('end', () => clients.delete(client))
  }
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    track(client)
  })
  let next = 0

  const oneOf = (readers: readonly Channel[]) => {
    suspension.check()
    return readers[next++ % readers.length] as Channel
  }
  const cutAll = () => {
    for (const channel of [pinger, ...channels]) channel.reset()
    for (const client of clients) cutConnection(client)
  }

  const ask = async <Row>(statement: Statement, values: unknown[]) =>
    (await oneOf(lookups).query({ ...statement, values })).rows as Row[]
  const together = createLookups(ask)

  return {
    query<Row>(statement: Statement, values: unknown[] = []) {
      return isLookup(statement) ? together.ask<Row>(statement, values) : ask<Row>(statement, values)
    },
    async run<Row>(fragment: Fragment<Row>) {
      return (await oneOf(lists).query(compileFragment(fragment))).rows as Row[]
    },
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await attemptTransaction(await takeClient(pool, suspension), work)
        } catch (error) {
          if (attempt === attempts || !isRetryable(error)) throw error
        }
      }
    },
    openChannel(name, setup) {
      const channel = createChannel(connection, name, setup)
      channels.push(channel)
      return {
        ...channel,
        async query(query) {
          suspension.check()
          return channel.query(query)
        },
        async transaction(queries) {
          suspension.check()
          return channel.transaction(queries)
        },
        async interact(work) {
          suspension.check()
          return channel.interact(work)
        },
      }
    },
    createClient(name) {
      const client = new pg.Client(clientSettings(connection, name))
      track(client)
      return client
    },
    async ping() {
      await pinger.query(ping)
    },
    suspend() {
      suspension.begin()
      cutAll()
    },
    resume: () => suspension.end(),
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
    async close() {
      // A connection ends once the database has let go of it, which one that hangs does not.
      const cutting = setTimeout(cutAll, suspension.isOn ? 0 : closePatienceMs)
      await Promise.all([pool.end(), pinger.close(), ...channels.map((channel) => channel.close())])
      clearTimeout(cutting)
    },
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
