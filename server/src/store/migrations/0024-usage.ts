import { type Kysely, sql } from 'kysely'

/**
 * How much an app is used. Processes write what they counted themselves, as it stands: writing it twice changes nothing.
 * Times are by the database's clock.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // bucket: number of the five minutes since the epoch; process: who counted, all zeros once it is added up
  `create table if not exists usage_messages (
    app_id integer not null,
    bucket bigint not null,
    process uuid not null,
    sent bigint not null,
    delivered bigint not null,
    read bigint not null,
    primary key (app_id, bucket, process)
  ) with (fillfactor = 70)`,
  'create index if not exists usage_messages_by_age on usage_messages (bucket)',

  // minute: number of the minute since the epoch; counts: sockets that were open, for each of its seconds
  `create table if not exists usage_sockets (
    app_id integer not null,
    minute bigint not null,
    process uuid not null,
    counts integer[] not null,
    primary key (app_id, minute, process)
  ) with (fillfactor = 50)`,
  // the most of five minutes, over all processes, and the second that it was, since the epoch
  `create table if not exists usage_peaks (
    app_id integer not null,
    bucket bigint not null,
    peak integer not null,
    second bigint not null,
    primary key (app_id, bucket)
  )`,

  // Users by number, from 0 on without gaps, so that many fit into bits; one who is removed for good leaves theirs behind.
  `create table if not exists usage_apps (
    app_id integer primary key,
    numbered integer not null default 0
  )`,
  `create table if not exists usage_users (
    app_id integer not null,
    uid text collate "C" not null,
    number integer not null,
    primary key (app_id, uid)
  )`,
  // day: number of the day since the epoch, in UTC
  `create table if not exists active_users (
    app_id integer not null,
    day integer not null,
    number integer not null,
    primary key (app_id, day, number)
  )`,
  // the same, a bit for each of 8192 users
  `create table if not exists active_user_bits (
    app_id integer not null,
    day integer not null,
    chunk integer not null,
    bits bit(8192) not null,
    primary key (app_id, day, chunk)
  ) with (fillfactor = 70)`,
]
