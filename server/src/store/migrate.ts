import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, Migrator, PostgresDialect } from 'kysely'
import pg from 'pg'
import { version } from '../version.ts'
import { type ConnectionSettings, clientSettings, isLockTimeout } from './connection.ts'
import { migrateJobs } from './job-schema.ts'
import { migrations } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'

/** A newer version has worked with this database: this one does not know what stands in it. */
export class NewerDatabaseError extends Error {
  /**
   * @param writer the version that migrated it last; undefined where that was not noted
   * @param unknown migrations that this version does not have
   */
  constructor(writer: string | undefined, unknown: readonly string[]) {
    const by = writer === undefined ? 'a newer version' : `version ${writer}`
    super(
      `This database was migrated by ${by} of Parley, and this is version ${version}, which does not know ` +
        `${unknown.join(', ')}. Nothing was changed. Start the newer version again, or restore the backup that was made ` +
        'before the upgrade.',
    )
    this.name = 'NewerDatabaseError'
  }
}

/** This database is not to be served: a restore or a move into it was not finished, or it was moved away. */
export class ClosedDatabaseError extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'ClosedDatabaseError'
  }
}

type Migrations = Readonly<Record<string, Migration>>

/** Any constant will do, as long as every version of the service uses the same. */
export const migrationLock = 7_206_951_001

/** Whoever queues for a lock that keeps others out makes them queue behind it: better let them pass, and try again. */
const lockPatienceMs = 2_000
const mostTries = 100
const tryAgainMs = 500
const reportEveryMs = 5_000

/**
 * Brings the schema up to date. Several processes may start at once: one migrates, the others wait for it.
 * The wait polls, since one that blocks would hold a snapshot and stall `create index concurrently`.
 * @param onGoingOn called every few seconds meanwhile: how long it takes depends on the data, and on a backup that is being made
 * @returns the names of the migrations that were applied now
 * @throws NewerDatabaseError when it is further than this version; then nothing was written
 */
export async function migrate(connection: ConnectionSettings, onGoingOn: () => void = () => {}): Promise<string[]> {
  const reporting = setInterval(onGoingOn, reportEveryMs)
  try {
    return await run(connection, migrations)
  } finally {
    clearInterval(reporting)
  }
}

/**
 * Makes the tables as they were after some migrations, in an empty database, for the data of a backup.
 * @throws NewerDatabaseError when this version does not know them all
 */
export async function migrateTo(
  connection: ConnectionSettings,
  names: readonly string[],
  writer: string,
): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length > 0) throw new NewerDatabaseError(writer, unknown)
  await run(connection, Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name))), true)
}

/** Brings the tables of a backup that was loaded up to date; the restore is not finished yet. */
export async function finishMigrating(connection: ConnectionSettings): Promise<void> {
  await run(connection, migrations, true)
}

/** Stands in a database that is not to be served. Its only row says so, and whether what is there is of use (`is_whole`). */
export const closedMarker = 'closed_database'

async function run(connection: ConnectionSettings, wanted: Migrations, isRestoring = false): Promise<string[]> {
  const pool = new pg.Pool({ ...clientSettings(connection, 'parley migrations'), max: 2 })
  // A connection that breaks is noticed by the next query on it; without listeners it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    void client.query(`set lock_timeout = ${lockPatienceMs}`).catch(() => {})
  })
  const lock = await pool.connect()
  try {
    while (!(await tryLock(lock))) {
      if (await isCurrentBesideBackup(lock, wanted)) {
        await migrateJobs(pool)
        return []
      }
      await delay(100)
    }
    if (!isRestoring) await refuseClosed(lock)
    const applied = await readApplied(lock)
    await refuseNewer(lock, applied)
    const pending = Object.keys(wanted).filter((name) => !applied.includes(name))
    for (const step of stepsOf(pending, applied.length === 0)) await patiently(() => apply(pool, wanted, step))
    await patiently(() => migrateJobs(pool))
    await lock.query(noteWriter, [version, pending.length > 0])
    return pending
  } finally {
    // The lock ends with its connection.
    lock.release(true)
    await pool.end()
  }
}

/** Migrations that are applied together. */
interface Step {
  readonly last: string
  readonly outside: boolean
}

/**
 * Each in a transaction of its own, so that locks are held no longer than it takes, and what runs outside of transactions by
 * itself. Nobody uses a database that is new: there, what can be is done at once.
 */
function stepsOf(pending: readonly string[], isNew: boolean): Step[] {
  const steps: Step[] = []
  for (const name of pending) {
    const outside = migrations[name]?.outside === true
    const before = steps.at(-1)
    if (isNew && !outside && before?.outside === false) steps.pop()
    steps.push({ last: name, outside })
  }
  return steps
}

async function apply(pool: pg.Pool, wanted: Migrations, { last, outside }: Step): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: new PostgresDialect({ pool: unendable(pool) }) }),
    provider: { getMigrations: async () => wanted },
    disableTransactions: outside,
  })
  const { error } = await migrator.migrateTo(last)
  if (error !== undefined) throw error
}

/** Does it again where it waited too long for a lock. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error) || tries >= mostTries) throw error
      await delay(tryAgainMs)
    }
  }
}

/** Kept so that an older version can say which one to start instead. */
const noteWriter = `
  insert into settings (name, value)
  values ('migrated_by', $1)
  on conflict (name) do update
  set value = excluded.value
  where $2::boolean`

async function refuseClosed(client: pg.PoolClient): Promise<void> {
  const { rows: tables } = await client.query(`select to_regclass('${closedMarker}') is not null as there`)
  if (!tables[0].there) return
  const { rows } = await client.query(`select why from ${closedMarker}`)
  throw new ClosedDatabaseError(rows[0]?.why)
}

async function readApplied(client: pg.PoolClient): Promise<string[]> {
  const { rows: tables } = await client.query(`select to_regclass('kysely_migration') is not null as there`)
  if (!tables[0].there) return []
  const { rows } = await client.query('select name from kysely_migration order by name')
  return rows.map(({ name }) => name)
}

async function refuseNewer(client: pg.PoolClient, applied: readonly string[]): Promise<void> {
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  const { rows: noted } = await client.query(`select value from settings where name = 'migrated_by'`)
  throw new NewerDatabaseError(noted[0]?.value, unknown)
}

/**
 * Nobody migrates, but a backup is being made, which may take hours: whoever has nothing to migrate starts all the same.
 * What a backup reads is not what the tables of jobs are in.
 */
async function isCurrentBesideBackup(client: pg.PoolClient, wanted: Migrations): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock_shared($1) as locked', [migrationLock])
  if (!rows[0].locked) return false
  try {
    const applied = await readApplied(client)
    if (applied.length === 0) return false
    await refuseClosed(client)
    await refuseNewer(client, applied)
    return Object.keys(wanted).every((name) => applied.includes(name))
  } finally {
    await client.query('select pg_advisory_unlock_shared($1)', [migrationLock])
  }
}

/**
 * Nobody migrates from here on until the connection ends; waits for whoever does, or only looks whether there is something to migrate, as each
 * process does that starts. It is polled, since a migration under way might wait for a snapshot of whoever waits here.
 * @param isAlone no service starts either: it waits until then
 */
export async function keepFromMigrating(client: pg.Client, isAlone = false): Promise<void> {
  const lock = isAlone ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared'
  for (;;) {
    const { rows } = await client.query(`select where ${lock}($1)`, [migrationLock])
    if (rows.length > 0) return
    await delay(100)
  }
}

async function tryLock(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [migrationLock])
  return rows[0].locked
}

function unendable(pool: pg.Pool) {
  return { connect: () => pool.connect(), end: async () => {} }
}
