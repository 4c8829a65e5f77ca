import pg from 'pg'
import {
  type ConnectionSettings,
  clientSettings,
  cutConnection,
  isConnectionFailure,
  isOutdated,
} from './connection.ts'
import type { Transaction } from './database.ts'
import { noteDoubt } from './doubt.ts'
import type { Statement } from './statement.ts'
import { runTransaction } from './transaction.ts'
import { isUnit, runUnit } from './unit.ts'

/** A query as `pg` takes it: named (prepared once per connection) or plain text. */
export interface Query extends Partial<Statement> {
  readonly text: string
  readonly values?: unknown[]
}

/** One connection in pipeline mode: many queries under way at once, each its own transaction. */
export interface Channel {
  /** Resolves when the connection is open. */
  open(): Promise<void>
  /** The process of the database that serves the connection, while that is open. */
  processId(): number | undefined
  query(query: Query): Promise<pg.QueryResult>
  /**
   * Runs statements as one transaction, all sent in one round trip. Only for a channel that nobody else uses meanwhile.
   * @returns the result of each statement, committed
   */
  transaction(queries: readonly Query[]): Promise<pg.QueryResult[]>
  /**
   * Runs a transaction in which what is asked follows from what was answered before. What is asked without awaiting goes
   * out in one round trip, and is carried out in the order in which it was asked. Only for a channel that nobody else
   * uses meanwhile. Not tried again by itself.
   */
  interact<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
  /** The next query opens a new connection; what is under way on this one is answered before it ends. */
  renew(): void
  /** Cuts the connection, open or being opened, with all that is under way on it; the next query opens a new one. */
  reset(): void
  close(): Promise<void>
}

/** A connection that is open or being opened. */
interface Attempt {
  readonly client: pg.Client
  readonly ready: Promise<number>
  /** Known once it is open. */
  processId: number | undefined
  /** Queries and transactions that went over it. */
  uses: number
}

/** Plans are made anew at least once in so many uses of a connection. */
const planUses = 1024

/**
 * A named statement keeps the plan of its first runs, also when it was made on tables that were empty then and are large
 * now; statistics that come later do not always reach it. So plans are dropped after 1, 2, 4, 8 ... uses, and later
 * regularly: what planning costs is shared by all runs in between.
 */
function renewPlans(connection: Attempt): void {
  const uses = ++connection.uses
  const isDue = uses < planUses ? (uses & (uses - 1)) === 0 : uses % planUses === 0
  // A connection that breaks fails with what is asked next, too.
  if (isDue) connection.client.query('discard plans').catch(() => {})
}

/**
 * Opens a channel when it is first used, and again after the connection was lost.
 * @param setup statement to run on each new connection, e.g. planner settings
 * @param onOpen called with the process of the database that serves a new connection
 */
export function createChannel(
  connection: ConnectionSettings,
  name: string,
  setup?: string,
  onOpen: (processId: number) => void = () => {},
): Channel {
  let current: Attempt | undefined

  const forget = (client: pg.Client) => {
    if (current?.client === client) current = undefined
  }
  const connect = async (client: pg.Client): Promise<number> => {
    try {
      await client.connect()
      if (setup !== undefined) await client.query(setup)
      // Asked for, since what the protocol says at the beginning is that of a pooler, where there is one.
      const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id')
      const { id } = rows[0] as { id: number }
      onOpen(id)
      return id
    } catch (error) {
      forget(client)
      cutConnection(client)
      throw error
    }
  }
  const open = (): Attempt => {
    const client = new pg.Client({ ...clientSettings(connection, name), pipeline: true } as pg.ClientConfig)
    client.on('error', () => forget(client))
    client.on('end', () => forget(client))
    const attempt: Attempt = { client, ready: connect(client), processId: undefined, uses: 0 }
    attempt.ready.then(
      (id) => {
        attempt.processId = id
      },
      () => {},
    )
    current = attempt
    return attempt
  }
  const acquire = async (): Promise<pg.Client> => {
    const connection = current ?? open()
    await connection.ready
    renewPlans(connection)
    return connection.client
  }

  return {
    async open() {
      await (current ?? open()).ready
    },
    processId: () => current?.processId,
    async query(query) {
      const client = await acquire()
      gather(client)
      try {
        return await client.query(query as pg.QueryConfig)
      } catch (error) {
        if (!isOutdated(error)) throw error
        // What else is under way on it is answered before it ends.
        forget(client)
        client.end().catch(() => {})
        return (await acquire()).query(query as pg.QueryConfig)
      }
    },
    async transaction(queries) {
      const client = await acquire()
      if (isUnit(client, queries)) {
        try {
          return await runUnit(client, queries)
        } catch (error) {
          noteDoubt(error)
          // The database says so before it closes the connection: the next transaction must not go over it.
          if (isConnectionFailure(error) || isOutdated(error)) {
            forget(client)
            cutConnection(client)
          }
          throw error
        }
      }
      const sent = inOneWrite(client, () => [
        client.query('begin'),
        ...queries.map((query) => client.query(query as pg.QueryConfig)),
        client.query('commit'),
      ])
      const settled = await Promise.allSettled(sent)
      const failure = settled.find((result) => result.status === 'rejected')
      if (failure !== undefined) {
        noteDoubt(failure.reason)
        throw failure.reason
      }
      const results = settled.map((result) => (result as PromiseFulfilledResult<pg.QueryResult>).value)
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back')
      return results.slice(1, -1)
    },
    async interact(work) {
      const client = await acquire()
      return runTransaction(client, work, {
        isPipelined: true,
        onBroken() {
          forget(client)
          cutConnection(client)
        },
      })
    },
    renew() {
      if (current?.processId === undefined) return
      const { client } = current
      forget(client)
      client.end().catch(() => {})
    },
    reset() {
      const client = current?.client
      current = undefined
      if (client !== undefined) cutConnection(client)
    },
    async close() {
      if (current === undefined) return
      const { client, ready } = current
      await ready.then(
        () => client.end(),
        () => {},
      )
    },
  }
}

const gathering = new WeakSet<pg.Client>()

/** What is asked of the connection from now on until the end of this turn of the event loop leaves in one write. */
function gather(client: pg.Client): void {
  if (gathering.has(client)) return
  const { stream } = (client as unknown as WithStream).connection
  gathering.add(client)
  stream.cork()
  setImmediate(() => {
    gathering.delete(client)
    stream.uncork()
  })
}

interface WithStream {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
}

/** Whatever `send` asks of the connection leaves in one write. */
function inOneWrite<Sent>(client: pg.Client, send: () => Sent): Sent {
  const { connection } = client as unknown as WithStream
  connection.stream.cork()
  try {
    return send()
  } finally {
    connection.stream.uncork()
  }
}

/**
 * Takes a channel of a writer that none of its other batches uses; there are as many as batches in flight.
 * @param channels those that are free
 */
export async function withChannel<Result>(
  channels: Channel[],
  use: (channel: Channel) => Promise<Result>,
): Promise<Result> {
  const channel = channels.pop()
  if (channel === undefined) throw new Error('more batches in flight than channels')
  try {
    return await use(channel)
  } finally {
    channels.push(channel)
  }
}
