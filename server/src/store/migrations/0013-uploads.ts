import { type Kysely, sql } from 'kysely'

/** What uploads count against, and until when a file that no message uses is kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // arriving: being written; size is then what is reserved for it
  // claim_by: when the file is removed unless a message uses it by then; null once one has
  'alter table media_files add column if not exists arriving boolean not null default false',
  'alter table media_files add column if not exists claim_by bigint',
  `update media_files f
   set claim_by = f.created_at + 86400
   where f.removed_at is null
   and f.claim_by is null
   and not exists (select from media_uses u where u.app_id = f.app_id and u.key = f.key)`,

  // what the sweep looks for: files nobody has claimed in time, and removed files in the order of their removal
  `create index if not exists media_files_unclaimed on media_files (claim_by)
   where claim_by is not null and removed_at is null`,
  `create index if not exists media_files_to_remove on media_files (removed_at, app_id, key) where removed_at is not null`,
  'drop index if exists media_files_removed',
  'drop index if exists media_files_by_creation',

  // bytes of all files of an app, those being written included
  `create table if not exists media_usage (
    app_id integer not null primary key,
    bytes bigint not null
  )`,
  `insert into media_usage (app_id, bytes)
   select app_id, sum(size)
   from media_files
   group by app_id
   on conflict do nothing`,

  // bytes that a user has uploaded on a day (days since 1970, UTC)
  `create table if not exists upload_days (
    app_id integer not null,
    uid text collate "C" not null,
    day integer not null,
    bytes bigint not null,
    primary key (app_id, uid, day)
  )`,
  'create index if not exists upload_days_by_day on upload_days (day)',
]
