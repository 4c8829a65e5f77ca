import { type Kysely, sql } from 'kysely'

/**
 * The rules of moderation of an app, their lists, the reasons for flagging, and dry runs of rules over what was said. Rules and
 * lists have revisions, which never change and outlive them: decisions name them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // revision: the current one; predefined ones have a row once they were changed, used or removed; key orders those of one second
  `create table if not exists moderation_rules (
    app_id integer not null,
    id text collate "C" not null,
    key bigint generated always as identity,
    revision integer not null,
    predefined boolean not null default false,
    removed boolean not null default false,
    created_at bigint not null,
    primary key (app_id, id)
  )`,
  // filters, conditions: as they are answered; actions: as they were spelt
  `create table if not exists moderation_rule_revisions (
    app_id integer not null,
    rule_id text collate "C" not null,
    revision integer not null,
    name text not null,
    description text,
    mode text collate "C" not null,
    filters json not null,
    conditions json not null,
    exceptions text[] not null,
    actions text[] not null,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (app_id, rule_id, revision)
  )`,
  `create table if not exists moderation_lists (
    app_id integer not null,
    id text collate "C" not null,
    key bigint generated always as identity,
    revision integer not null,
    predefined boolean not null default false,
    removed boolean not null default false,
    created_at bigint not null,
    primary key (app_id, id)
  )`,
  // terms: a list of texts as they are answered (those of a CSV file with their quotes); count: how many; basic_auth: sealed
  `create table if not exists moderation_list_revisions (
    app_id integer not null,
    list_id text collate "C" not null,
    revision integer not null,
    name text not null,
    description text,
    category text collate "C" not null,
    is_csv boolean not null,
    terms json not null,
    count integer not null,
    username text,
    password_sealed bytea,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (app_id, list_id, revision)
  )`,
  // predefined ones have a row once they were changed or removed
  `create table if not exists moderation_reasons (
    app_id integer not null,
    id text collate "C" not null,
    key bigint generated always as identity,
    name text not null,
    description text,
    predefined boolean not null default false,
    removed boolean not null default false,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (app_id, id)
  )`,

  // The last dry run of a rule. definition: the rule, and its lists by revision, as they were then; position: of the message up to
  // which it has looked; began_at: when the first of its messages was sent; share: of the messages, up to 1; looked, hits: messages
  `create table if not exists moderation_dry_runs (
    app_id integer not null,
    rule_id text collate "C" not null,
    run uuid not null,
    definition json not null,
    from_at bigint not null,
    to_at bigint not null,
    share double precision not null,
    status text collate "C" not null,
    position_at bigint not null,
    position_id bigint not null,
    began_at bigint not null,
    looked bigint not null default 0,
    hits bigint not null default 0,
    error text,
    created_at bigint not null,
    finished_at bigint,
    primary key (app_id, rule_id)
  )`,
  // day: number of the day since the epoch, in UTC
  `create table if not exists moderation_dry_run_days (
    app_id integer not null,
    rule_id text collate "C" not null,
    day integer not null,
    looked bigint not null,
    hits bigint not null,
    primary key (app_id, rule_id, day)
  )`,
  `create table if not exists moderation_dry_run_senders (
    app_id integer not null,
    rule_id text collate "C" not null,
    sender text collate "C" not null,
    hits bigint not null,
    primary key (app_id, rule_id, sender)
  )`,
  // Hits that were drawn: those of the lowest ranks, which are random. start, length: of what was found, in UTF-16 units
  `create table if not exists moderation_dry_run_examples (
    app_id integer not null,
    rule_id text collate "C" not null,
    message bigint not null,
    sender text collate "C" not null,
    rank double precision not null,
    condition integer not null,
    found_in text collate "C",
    start integer,
    length integer,
    is_right boolean,
    labelled_at bigint,
    primary key (app_id, rule_id, message)
  )`,
]
