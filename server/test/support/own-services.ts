import { rm } from 'node:fs/promises'
import pg from 'pg'
import type { Parley, ParleyOptions } from '../../src/app.ts'
import type { ConnectionSettings } from '../../src/store/connection.ts'
import { createOwnDatabase } from './own-database.ts'
import { mediaFolder, startService } from './service.ts'

export interface Service {
  readonly parley: Parley
  readonly url: string
}

/** Services on a database of their own, so that those of other test files do not do their jobs. */
export interface OwnServices {
  readonly connection: ConnectionSettings
  /** Where they keep files. */
  readonly mediaDir: string
  start(
    environment?: Record<string, string>,
    options?: Partial<Pick<ParleyOptions, 'masterKey' | 'notificationClock' | 'notifiesApart'>>,
  ): Promise<Service>
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** Begins a transaction with a statement that locks. @returns ends it */
  lock(text: string, values?: unknown[]): Promise<() => Promise<void>>
  /** Closes what still runs. */
  stop(): Promise<void>
  /** The same, and drops the database. */
  close(): Promise<void>
}

export async function createOwnServices(): Promise<OwnServices> {
  const { connection, drop } = await createOwnDatabase()
  const pool = new pg.Pool({ ...connection, max: 1 })
  // It is dropped under connections that are about to end.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const services = new Set<Service>()
  const mediaDir = `${mediaFolder}-${connection.database}`
  const stop = async () => {
    await Promise.all([...services].map(({ parley }) => parley.close()))
  }
  return {
    connection,
    mediaDir,
    async start(environment = {}, options = {}) {
      const service = await startService(environment, connection, undefined, { mediaDir, ...options })
      const close = service.parley.close
      service.parley.close = async () => {
        if (services.delete(service)) await close()
      }
      services.add(service)
      return service
    },
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    async lock(text, values = []) {
      const client = new pg.Client(connection)
      client.on('error', () => {})
      await client.connect()
      await client.query('begin')
      await client.query(text, values)
      return () => client.end()
    },
    stop,
    async close() {
      await stop()
      await pool.end()
      await drop()
      await rm(mediaDir, { recursive: true, force: true })
    },
  }
}
