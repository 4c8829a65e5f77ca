import { type Kysely, sql } from 'kysely'

/**
 * An app is paused from `paused_at` on. With `deletes_at` it is paused as well, and will be removed from then on; since
 * `removing_at` it is being removed, by whoever holds `removing_until`. Epoch seconds, the last one epoch milliseconds.
 * There are few apps, so nothing is indexed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
    alter table apps
      add column if not exists paused_at bigint,
      add column if not exists deletes_at bigint,
      add column if not exists removing_at bigint,
      add column if not exists removing_until bigint`)
    .execute(db)
}
