import { type Kysely, sql } from 'kysely'

/** Events are read by those who missed them, too (`GET /me/events`): in each of their conversations, from a place on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create index if not exists events_of_conversation on events (app_id, conversation, id)',
  // as events_pulled_until and events_pulled_from: for users who follow what happens to them
  'alter table apps add column if not exists events_followed_until bigint',
  'alter table apps add column if not exists events_followed_from bigint not null default 0',
]
