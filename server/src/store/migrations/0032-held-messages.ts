import { type Kysely, sql } from 'kysely'

/**
 * Threads follow when moderation takes the message that they hang on, or gives it back; what is held of a user is found by
 * them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** `heldTraits` of chat/messages/traits.ts. */
const isHeld = (row: string) => `(${row}.traits & 24576 <> 0)`

const statements = [
  // held: moderation holds the parent, so that the thread is there for nobody but its starter.
  'alter table threads add column if not exists held boolean not null default false',
  `create or replace function hold_thread() returns trigger language plpgsql as $$
    begin
      update threads
      set held = ${isHeld('new')}
      where app_id = new.app_id
      and parent_id = new.id;
      return null;
    end
  $$`,
  `create or replace trigger messages_held_with_thread after update of traits on messages
    for each row when (${isHeld('old')} <> ${isHeld('new')}) execute function hold_thread()`,
  // the conversations in which a sender finds more than everybody sees: lists of messages (areas/messages/list/narrow.ts)
  `create index if not exists message_moderation_held on message_moderation (app_id, sender) include (conversation)
    where status <> 'approved'`,
]
