import { type Kysely, sql } from 'kysely'

/**
 * How many notifications came to an end on a day, in UTC: a row for each channel and what became of them. Written in the
 * statements that end them, so that nothing is counted twice or forgotten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table if not exists usage_notifications (
    app_id integer not null,
    day integer not null,
    channel text collate "C" not null,
    outcome text collate "C" not null,
    count bigint not null,
    primary key (app_id, day, channel, outcome)
  ) with (fillfactor = 50)`,
    )
    .execute(db)
}
