import { type Kysely, sql } from 'kysely'

/**
 * All keys that an API key took the place of (their digests), the first of them (0098) first. Processes of versions before 0098 note a user as
 * created by the key that was used, also where that one took the place of another.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column if not exists predecessors bytea[]`.execute(db)
}
