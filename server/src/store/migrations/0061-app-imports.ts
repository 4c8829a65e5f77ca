import { type Kysely, sql } from 'kysely'

/**
 * How far the exact import of an export into an app has come: source, the digest of its manifest; file and line, up to which
 * everything is stored; was_paused, whether the app stays paused at the end.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table if not exists app_imports (
        app_id integer primary key,
        source text not null,
        file text not null default '',
        line bigint not null default 0,
        was_paused boolean not null,
        finished_at bigint
      )`,
    )
    .execute(db)
}
