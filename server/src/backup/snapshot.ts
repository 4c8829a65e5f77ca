import pg from 'pg'
import { type ConnectionSettings, clientSettings, cutConnection } from '../store/connection.ts'
import { keepFromMigrating } from '../store/migrate.ts'
import { lowerPriorityOf } from '../store/priority.ts'

/** One moment of a database, which several connections read while others go on writing. No migration runs as long as it is open. */
export interface Snapshot {
  /** Reads what is small; of the moment, too. */
  readonly client: pg.Client
  /** Runs `work` on a connection of its own that sees the same moment. What it locks is free again afterwards. */
  read<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** A client for work that takes as long as it takes. */
export async function connect(connection: ConnectionSettings, name: string): Promise<pg.Client> {
  const client = new pg.Client({ ...clientSettings(connection, name), idle_in_transaction_session_timeout: 0 })
  // What breaks is noticed by whoever waits for an answer.
  client.on('error', () => {})
  await client.connect()
  return client
}

/**
 * Does something on connections of its own and ends them. One that stands in the middle of a COPY would not end by itself, so where it fails
 * they are cut.
 */
export async function whole<Result>(clients: readonly pg.Client[], work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work()
    await Promise.all(clients.map((client) => client.end()))
    return result
  } catch (error) {
    for (const client of clients) cutConnection(client)
    throw error
  }
}

/** Below those of the service, where both run on one machine. */
const niceness = 19
const moment = 'begin isolation level repeatable read, read only'

/**
 * What reads it has less of the processor than what else a database of this machine does.
 * @param options.isAlone no service starts as long as it is open: it waits until then
 */
export async function openSnapshot(connection: ConnectionSettings, { isAlone = false } = {}): Promise<Snapshot> {
  const open = async () => {
    const client = await connect(connection, 'parley backup')
    lowerPriorityOf(client, niceness)
    return client
  }
  const client = await open()
  /** Those that read nothing now, and all that see the moment. */
  const readers: pg.Client[] = []
  const joined = new WeakSet<pg.Client>()
  try {
    await keepFromMigrating(client, isAlone)
    await client.query(moment)
    const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id')
    const id = rows[0]?.id as string
    return {
      client,
      async read(work) {
        const reader = readers.pop() ?? (await open())
        try {
          if (!joined.has(reader)) await reader.query(`${moment}; set transaction snapshot '${id}'`)
          joined.add(reader)
          await reader.query('savepoint unread')
          const result = await work(reader)
          await reader.query('rollback to savepoint unread; release savepoint unread')
          readers.push(reader)
          return result
        } catch (error) {
          // It may stand in the middle of a COPY, and would not end by itself.
          cutConnection(reader)
          throw error
        }
      },
      close: async () => {
        await Promise.all([client, ...readers].map((each) => each.end()))
      },
    }
  } catch (error) {
    await client.end()
    throw error
  }
}
