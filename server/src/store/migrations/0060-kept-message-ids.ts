import { type Kysely, sql } from 'kysely'

/**
 * Apps whose messages keep the ids that they had in their previous system: those that had no message when the first came
 * with an id. since: epoch seconds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table if not exists kept_message_ids (
        app_id integer primary key,
        since bigint not null
      )`,
    )
    .execute(db)
}
