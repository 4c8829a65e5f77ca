import { type Kysely, sql } from 'kysely'

/**
 * Which pushes are being sent that never waited: whoever plans hands them to whoever sends by a provider in the same process, a row of
 * ids for all of them. They stand in the log already, pending. Where that process is killed, others send them again by their ids.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      // first: the lowest of ids; day: the part of the log that they are in; holder: as in notification_senders.leased_by
      `create table if not exists notification_flights (
    app_id integer not null,
    provider bigint not null,
    first bigint not null,
    holder text not null,
    day integer not null,
    ids bigint[] not null,
    primary key (app_id, provider, first)
  )`,
    )
    .execute(db)
}
