import { type Kysely, sql } from 'kysely'

/**
 * Who plans the notifications of an app at the moment: whoever does is not told of each stretch of events by a job, which
 * costs more than planning it. Beside `notification_plans`, whose rows are held for as long as a page is written.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table if not exists notification_planners (
    app_id integer primary key,
    asked bigint not null default 0,
    leased_by text,
    leased_until bigint not null default 0
  ) with (fillfactor = 50)`,
    )
    .execute(db)
}
