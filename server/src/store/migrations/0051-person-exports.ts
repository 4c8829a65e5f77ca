import { type Kysely, sql } from 'kysely'

/** What a person has here, made for them when they ask: one record a row, for a week. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // The last that a person has asked for. Times are epoch seconds; place: how far the making has come.
  `create table if not exists person_exports (
    app_id integer not null,
    uid text collate "C" not null,
    run uuid not null,
    status text collate "C" not null,
    asked_at bigint not null,
    released_at bigint,
    made_at bigint,
    expires_at bigint,
    section integer not null default 0,
    conversation bigint not null default 0,
    sent_at bigint not null default 0,
    message bigint not null default 0,
    records bigint not null default 0,
    primary key (app_id, uid)
  )`,
  'create index if not exists person_exports_by_expiry on person_exports (expires_at) where expires_at is not null',
  // names: uids of others in the record, which leaves with any of them.
  `create table if not exists person_export_records (
    app_id integer not null,
    run uuid not null,
    place bigint not null,
    uid text collate "C" not null,
    kind text collate "C" not null,
    record json not null,
    conversation bigint,
    message bigint,
    names text[] not null default '{}',
    primary key (app_id, run, place)
  )`,
  'create index if not exists person_export_records_by_user on person_export_records (app_id, uid)',
  `create index if not exists person_export_records_by_conversation on person_export_records (app_id, conversation)
    where conversation is not null`,
  `create index if not exists person_export_records_by_message on person_export_records (app_id, message)
    where message is not null`,
  'create index if not exists person_export_records_by_name on person_export_records using gin (names)',
]
