import { type Kysely, sql } from 'kysely'

/**
 * What the total of an app's conversations leaves out, by index: conversations that nobody lists, those with oneself, and
 * sides from which a reset hid the conversation. `unlisted` is a column of its own, since an index on what each message moves
 * would make each message write to every index of the table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table conversations
    add column if not exists unlisted boolean generated always as (listed_id is null) stored`,
  'create index if not exists conversations_unlisted on conversations (app_id, key) where unlisted',
  `create index if not exists conversations_with_oneself
    on conversations (app_id, key) where kind = 1 and first = second`,
  'create index if not exists conversation_states_hidden on conversation_states (app_id, conversation) where hidden',
]
