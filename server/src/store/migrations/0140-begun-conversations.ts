import { type Kysely, sql } from 'kysely'

/**
 * Since when a friendship has had two people's conversation in their lists, before anything was said in it. What is said takes that
 * place, and `listed_*` forget it; where moderation takes all of it away, the conversation goes back there (areas/messages/held/block.ts).
 * Of conversations that were begun before, it is not known.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table conversations add column if not exists begun_at bigint').execute(db)
}
