import { type Kysely, sql } from 'kysely'

/**
 * Where a membership began: the first position of the conversation that is not from before it. `historyBeforeJoin` is
 * bounded by it. Null if they joined before this was stored: then the second of joining is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'alter table conversation_states add column if not exists joined_sent_at bigint',
  'alter table conversation_states add column if not exists joined_id bigint',
]
