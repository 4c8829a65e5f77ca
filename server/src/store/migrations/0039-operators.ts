import { type Kysely, sql } from 'kysely'

/**
 * Operators of the deployment: people who sign in to the console, or whose scripts call the admin API. They are of no app, so
 * these tables do not lead with one. Of sessions, tokens and one-time addresses only digests are kept.
 *
 * apps: surrogate keys, null for all. may_read: null as the role has it. Times are epoch seconds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const grants = `
    role text not null,
    apps integer[],
    may_read boolean`

const statements = [
  // email is in lower case; totp_*: a sealed secret, one to be confirmed, and the last step that was used
  `create table if not exists operators (
    operator_id integer primary key generated always as identity,
    email text not null unique,
    name text not null,
    ${grants},
    password bytea,
    totp_secret bytea,
    totp_pending bytea,
    totp_step bigint not null default 0,
    created_at bigint not null,
    seen_at bigint,
    disabled_at bigint
  )`,
  // kind: setup (whoever opens it becomes an owner) or invitation
  `create table if not exists operator_links (
    link_id integer primary key generated always as identity,
    digest bytea not null unique,
    kind text not null,
    email text,
    ${grants},
    invited_by integer,
    created_at bigint not null,
    expires_at bigint not null
  )`,
  'create unique index if not exists operator_links_by_email on operator_links (email) where email is not null',
  `create table if not exists operator_sessions (
    session_id integer primary key generated always as identity,
    digest bytea not null unique,
    operator_id integer not null,
    created_at bigint not null,
    used_at bigint not null,
    expires_at bigint not null,
    address text,
    agent text
  )`,
  'create index if not exists operator_sessions_by_operator on operator_sessions (operator_id, session_id)',
  `create table if not exists operator_tokens (
    token_id integer primary key generated always as identity,
    digest bytea not null unique,
    operator_id integer not null,
    name text not null,
    rights text[] not null,
    apps integer[],
    created_at bigint not null,
    expires_at bigint not null,
    used_at bigint
  )`,
  'create index if not exists operator_tokens_by_operator on operator_tokens (operator_id, token_id)',
  // what an operator may read at the moment: a conversation by its id, or * for the whole app
  `create table if not exists operator_readings (
    app_id integer not null,
    operator_id integer not null,
    subject text collate "C" not null,
    reason text not null,
    opened_at bigint not null,
    until bigint not null,
    primary key (app_id, operator_id, subject)
  )`,
  'alter table audit_log add column if not exists operator integer',
]
