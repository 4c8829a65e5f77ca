import { type Kysely, sql } from 'kysely'

/** Messages that wait for reviewers, and what reviewers and those who flag them leave. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // what an engine answered goes out of the log with its message
  `create index if not exists events_of_engine_failures
    on events (app_id, message) where trigger = 'moderation_engine_failed'`,

  // Users ask that people look at a message. The reason is kept as it was named then.
  `create table if not exists moderation_flags (
    app_id integer not null,
    message bigint not null,
    uid text collate "C" not null,
    reason_id text collate "C",
    reason_name text,
    reason_description text,
    remark text,
    flagged_at bigint not null,
    primary key (app_id, message, uid)
  )`,
  // what goes with a user
  'create index if not exists moderation_flags_by_user on moderation_flags (app_id, uid)',
  // how many there were in a time
  'create index if not exists moderation_flags_by_time on moderation_flags (app_id, flagged_at)',

  // Who has a message before them, until when; rows whose time is over count for nothing.
  `create table if not exists moderation_claims (
    app_id integer not null,
    message bigint not null,
    reviewer text not null,
    until bigint not null,
    primary key (app_id, message)
  )`,
  'create index if not exists moderation_claims_by_reviewer on moderation_claims (app_id, reviewer)',

  `create table if not exists moderation_notes (
    app_id integer not null,
    message bigint not null,
    id bigint generated always as identity,
    text text not null,
    author text,
    created_at bigint not null,
    primary key (app_id, message, id)
  )`,

  // The last decision of a reviewer about a message. list: flagged or blocked; as_new: of an approval, see releaseMessage;
  // edited_at: of the message then; settled: what follows from it is done.
  `create table if not exists moderation_reviews (
    app_id integer not null,
    message bigint not null,
    list text not null,
    decision text not null,
    as_new boolean not null default true,
    reviewer text,
    reviewed_at bigint not null,
    edited_at bigint,
    settled boolean not null,
    primary key (app_id, message)
  )`,
  // the reviewed list
  'create index if not exists moderation_reviews_by_time on moderation_reviews (app_id, reviewed_at, message)',
  // what a process that was killed left behind
  'create index if not exists moderation_reviews_open on moderation_reviews (reviewed_at) where not settled',

  // the blocked list: what nobody has looked at, and what somebody has
  `create index if not exists message_moderation_blocked
    on message_moderation (app_id, updated_at, message) where status = 'disapproved' and review_status is null`,
  `create index if not exists message_moderation_seen
    on message_moderation (app_id, updated_at, message) where status = 'disapproved' and review_status is not null`,
  // how many wait for an engine, and since when
  `create index if not exists message_moderation_pending
    on message_moderation (app_id, created_at) where status = 'pending'`,
  // what rules decided in a time
  'create index if not exists moderation_decisions_by_time on moderation_decisions (app_id, at)',
  // messages that wait for an engine, or were blocked, in the order of lists
  'create index if not exists messages_held on messages (app_id, sent_at, id) where traits & 24576 <> 0',
]
