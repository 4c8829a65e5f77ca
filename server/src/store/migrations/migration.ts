import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, type Migration as KyselyMigration, sql } from 'kysely'

export interface Migration extends KyselyMigration {
  /** It runs outside of a transaction, as `buildIndex` has to. Whatever it does must be safe to repeat: it may be interrupted anywhere. */
  readonly outside?: boolean
}

/**
 * Makes an index on a table that may be full, while others write to it. For migrations that run `outside` a transaction.
 * @param definition what follows the name: `on messages (app_id, sent_at)`
 * @param isUnique no two rows may be alike
 */
export async function buildIndex(
  db: Kysely<unknown>,
  name: string,
  definition: string,
  isUnique = false,
): Promise<void> {
  await db.connection().execute(async (on) => {
    const run = (text: string) => sql.raw(text).execute(on)
    // PostgreSQL goes on building after the process that asked for it was killed. To drop the index then would wait, and undo the work, or
    // end in a deadlock.
    while (await isBuilding(on, name)) await delay(200)
    const { rows } = await sql<{ patience: string; isBroken: boolean }>`
      select current_setting('lock_timeout') as patience,
        exists (select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid) as "isBroken"`.execute(
      on,
    )
    // It waits for the transactions that may still see the table without the index, and locks nobody out meanwhile.
    await run('set lock_timeout = 0')
    // An interrupted build leaves an index behind that is never used.
    if (rows[0]?.isBroken === true) await run(`drop index concurrently if exists ${name}`)
    await run(`create ${isUnique ? 'unique ' : ''}index concurrently if not exists ${name} ${definition}`)
    await run(`set lock_timeout = '${rows[0]?.patience}'`)
  })
}

/** Drops an index of a table that others use. For migrations that run `outside` a transaction. */
export async function dropIndex(db: Kysely<unknown>, name: string): Promise<void> {
  await db.connection().execute(async (on) => {
    const { rows } = await sql<{ patience: string }>`select current_setting('lock_timeout') as patience`.execute(on)
    // It waits for the transactions that may still use the index, and locks nobody out meanwhile.
    await sql.raw('set lock_timeout = 0').execute(on)
    await sql.raw(`drop index concurrently if exists ${name}`).execute(on)
    await sql.raw(`set lock_timeout = '${rows[0]?.patience}'`).execute(on)
  })
}

async function isBuilding(on: Kysely<unknown>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_progress_create_index where index_relid = to_regclass(${name})`.execute(on)
  return rows.length > 0
}
