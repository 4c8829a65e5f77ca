import { type Kysely, sql } from 'kysely'

/** Backups that the service made by itself, so that each is made once, whichever process does it, and operators see how they went. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // status: running, done, failed; times in epoch seconds; bytes: packed, without the files of messages
  await sql
    .raw(`
    create table if not exists backup_runs (
      run_id integer primary key generated always as identity,
      status text not null,
      started_at bigint not null,
      finished_at bigint,
      backup text,
      rows bigint,
      bytes bigint,
      files bigint,
      error text
    )`)
    .execute(db)
}
