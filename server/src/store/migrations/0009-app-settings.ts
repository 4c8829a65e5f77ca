import { type Kysely, sql } from 'kysely'

/**
 * Settings of an app, as far as they were set: the others have their defaults (contract/src/app-settings.ts). And the
 * authOnly key that created a user (its digest): such a key may be confined to the users that it created itself.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table apps add column if not exists settings json`.execute(db)
  await sql`alter table users add column if not exists created_by_key bytea`.execute(db)
}
