import { type Kysely, sql } from 'kysely'

/** How long messages are kept: rules of groups, what is on hold, and how far the removal has come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // What a group has instead of the setting of the app. days 0: its messages are kept for ever.
  `create table if not exists group_retention (
    app_id integer not null,
    guid text collate "C" not null,
    days integer not null,
    mode text collate "C" not null,
    primary key (app_id, guid)
  )`,
  // Of a user or of a conversation, whichever is not null.
  `create table if not exists retention_holds (
    app_id integer not null,
    id bigint generated always as identity,
    uid text collate "C",
    conversation bigint,
    note text,
    held_at bigint not null,
    primary key (app_id, id)
  )`,
  'create unique index if not exists retention_holds_of_users on retention_holds (app_id, uid) where uid is not null',
  `create unique index if not exists retention_holds_of_conversations on retention_holds (app_id, conversation)
    where conversation is not null`,
  // Of an app (place 0) and of each conversation with a rule of its own: the last position that was looked at, and since when
  // that goes on from the first. rule: what holds; another one begins anew.
  `create table if not exists retention_progress (
    app_id integer not null,
    place bigint not null,
    rule text collate "C" not null,
    began_at bigint not null,
    sent_at bigint not null default 0,
    id bigint not null default 0,
    primary key (app_id, place)
  )`,
]
