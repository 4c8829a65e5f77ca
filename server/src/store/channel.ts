import pg from 'pg'
import { type ConnectionSettings, clientSettings } from './connection.ts'
import type { Statement } from './statement.ts'

/** A query as `pg` takes it: named (prepared once per connection) or plain text. */
export interface Query extends Partial<Statement> {
  readonly text: string
  readonly values?: unknown[]
}

/** One connection in pipeline mode: many queries under way at once, each its own transaction. */
export interface Channel {
  query(query: Query): Promise<pg.QueryResult>
  /**
   * Runs statements as one transaction, all sent in one round trip. Only for a channel that nobody else uses meanwhile.
   * @returns the result of each statement, committed
   */
  transaction(queries: readonly Query[]): Promise<pg.QueryResult[]>
  /** Drops the connection with all that is under way on it; the next query opens a new one. */
  reset(): void
  close(): Promise<void>
}

/**
 * Opens a channel when it is first used, and again after the connection was lost.
 * @param setup statement to run on each new connection, e.g. planner settings
 */
export function createChannel(connection: ConnectionSettings, name: string, setup?: string): Channel {
  let current: Promise<pg.Client> | undefined
  let open: pg.Client | undefined

  const forget = (client: pg.Client) => {
    if (open === client) {
      open = undefined
      current = undefined
    }
  }
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ ...clientSettings(connection, name), pipeline: true } as pg.ClientConfig)
    client.on('error', () => forget(client))
    client.on('end', () => forget(client))
    await client.connect()
    if (setup !== undefined) await client.query(setup)
    open = client
    return client
  }
  const acquire = (): Promise<pg.Client> => {
    if (current === undefined) {
      const attempt = connect()
      current = attempt
      attempt.catch(() => {
        if (current === attempt) current = undefined
      })
    }
    return current
  }

  return {
    async query(query) {
      const client = open ?? (await acquire())
      return client.query(query as pg.QueryConfig)
    },
    async transaction(queries) {
      const client = open ?? (await acquire())
      const sent = [
        client.query('begin'),
        ...queries.map((query) => client.query(query as pg.QueryConfig)),
        client.query('commit'),
      ]
      const settled = await Promise.allSettled(sent)
      const failure = settled.find((result) => result.status === 'rejected')
      if (failure !== undefined) throw failure.reason
      const results = settled.map((result) => (result as PromiseFulfilledResult<pg.QueryResult>).value)
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back')
      return results.slice(1, -1)
    },
    reset() {
      const client = open
      if (client === undefined) return
      forget(client)
      // Not end(): the database may hang, and whoever waits on this connection must hear of it now.
      ;(client as unknown as { connection: { stream: { destroy(error: Error): void } } }).connection.stream.destroy(
        new Error('Connection terminated: the database does not answer'),
      )
    },
    async close() {
      const client = open
      current = undefined
      open = undefined
      await client?.end()
    },
  }
}
