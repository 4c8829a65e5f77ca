import { type Kysely, sql } from 'kysely'

/** Files that were sent with messages, and the messages that use them. A file that no message uses is removed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // removed_at: not served any more; the file itself is removed soon after
  `create table if not exists media_files (
    app_id integer not null,
    key text collate "C" not null,
    name text not null,
    mime_type text not null,
    size bigint not null,
    created_at bigint not null,
    removed_at bigint,
    primary key (app_id, key)
  )`,
  // what the sweeper removes
  'create index if not exists media_files_removed on media_files (removed_at) where removed_at is not null',
  'create index if not exists media_files_by_creation on media_files (created_at)',

  `create table if not exists media_uses (
    app_id integer not null,
    message_id bigint not null,
    key text collate "C" not null,
    primary key (app_id, message_id, key)
  )`,
  'create index if not exists media_uses_by_key on media_uses (app_id, key)',
]
