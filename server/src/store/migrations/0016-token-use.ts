import { type Kysely, sql } from 'kysely'

/** When a token was last used (epoch seconds), as far as its app has an idle timeout. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table auth_tokens add column if not exists used_at bigint`.execute(db)
}
