import { type Kysely, sql } from 'kysely'

/** Under which address of the service a file came in, such as `https://chat.example.com`; null for those from before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table media_files add column if not exists origin text`.execute(db)
}
