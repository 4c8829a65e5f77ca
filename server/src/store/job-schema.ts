import { Logger, runMigrations } from 'graphile-worker'
import type pg from 'pg'

const taskIds = `pg_get_serial_sequence('graphile_worker._private_tasks', 'id')`

/**
 * Makes or updates the tables of the job queue, which are in the schema `graphile_worker`.
 *
 * Each job that is added draws an id for its task, of which there are 2,147,483,647, though the task is there already and
 * the id is thrown away. Without a cycle, adding jobs would fail for ever once they are used up.
 */
export async function migrateJobs(pool: pg.Pool): Promise<void> {
  await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) })
  const { rows } = await pool.query(
    `select ${taskIds} as name from pg_sequence where seqrelid = ${taskIds}::regclass and not seqcycle`,
  )
  for (const { name } of rows) await pool.query(`alter sequence ${name} cycle`)
}
