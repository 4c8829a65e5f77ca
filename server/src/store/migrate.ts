import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, Migrator, PostgresDialect } from 'kysely'
import pg from 'pg'
import { type ConnectionSettings, clientSettings } from './connection.ts'
import { migrateJobs } from './job-schema.ts'
import { migrations } from './migrations/index.ts'

/** Any constant will do, as long as every version of the service uses the same. */
export const migrationLock = 7_206_951_001

/**
 * Brings the schema up to date. Several processes may start at once: one migrates, the others wait for it.
 * The wait polls, since one that blocks would hold a snapshot and stall `create index concurrently`.
 * @returns the names of the migrations that were applied now
 */
export async function migrate(connection: ConnectionSettings): Promise<string[]> {
  const pool = new pg.Pool({ ...clientSettings(connection, 'parley migrations'), max: 2 })
  // A connection that breaks is noticed by the next query on it; without listeners it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const lock = await pool.connect()
  try {
    while (!(await tryLock(lock))) await delay(100)
    const migrator = new Migrator({
      db: new Kysely<unknown>({ dialect: new PostgresDialect({ pool: unendable(pool) }) }),
      provider: { getMigrations: async () => migrations },
    })
    const { error, results } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
    await migrateJobs(pool)
    return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName)
  } finally {
    // The lock ends with its connection.
    lock.release(true)
    await pool.end()
  }
}

async function tryLock(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [migrationLock])
  return rows[0].locked
}

function unendable(pool: pg.Pool) {
  return { connect: () => pool.connect(), end: async () => {} }
}
