import { EventEmitter } from 'node:events'
import pg from 'pg'
import { type Channel, createChannel } from './channel.ts'
import { type ConnectionSettings, clientSettings, isRetryable } from './connection.ts'
import { compileFragment, type Fragment, type Statement } from './statement.ts'

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
  /** Drops every connection that hangs, so that whoever waits is told. */
  resetConnections(): void
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number }
  close(): Promise<void>
}

const readers = 2
const transactionConnections = 8
const attempts = 4

/** Opens the database; connections are made when they are needed. */
export function openDatabase(connection: ConnectionSettings): Database {
  const channels: Channel[] = Array.from({ length: readers }, (_, i) => createChannel(connection, `parley reader ${i}`))
  const pool = new pg.Pool({ ...clientSettings(connection, 'parley'), max: transactionConnections })
  const busy = new Set<pg.PoolClient>()
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  let next = 0

  const reader = () => channels[next++ % readers] as Channel

  return {
    async query<Row>(statement: Statement, values: unknown[] = []) {
      return (await reader().query({ ...statement, values })).rows as Row[]
    },
    async run<Row>(fragment: Fragment<Row>) {
      return (await reader().query(compileFragment(fragment))).rows as Row[]
    },
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await attemptTransaction(pool, busy, work)
        } catch (error) {
          if (attempt === attempts || !isRetryable(error)) throw error
        }
      }
    },
    openChannel(name, setup) {
      const channel = createChannel(connection, name, setup)
      channels.push(channel)
      return channel
    },
    createClient: (name) => new pg.Client(clientSettings(connection, name)),
    resetConnections() {
      for (const channel of channels) channel.reset()
      for (const client of busy) {
        ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
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
    async close() {
      await Promise.all([pool.end(), ...channels.map((channel) => channel.close())])
    },
  }
}

async function attemptTransaction<Result>(
  pool: pg.Pool,
  busy: Set<pg.PoolClient>,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  busy.add(client)
  const committed = new EventEmitter()
  const tx: Transaction = {
    async query<Row>(statement: Statement, values: unknown[] = []) {
      return (await client.query({ ...statement, values })).rows as Row[]
    },
    async run<Row>(fragment: Fragment<Row>) {
      const { text, values } = compileFragment(fragment)
      return (await client.query(text, values)).rows as Row[]
    },
    afterCommit: (action) => void committed.once('commit', action),
  }
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(tx)
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
    committed.emit('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    throw error
  } finally {
    busy.delete(client)
    client.release(broken)
  }
}
