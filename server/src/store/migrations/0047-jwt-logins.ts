import { type Kysely, sql } from 'kysely'

/** Users who log in by tokens that the product's own issuer signs. Such tokens are not kept: only what ends them is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // Epoch seconds: what was issued by then opens nothing. The user was deactivated, or logged out everywhere.
  'alter table users add column if not exists tokens_after bigint',
  // Tokens whose users logged out with them, until they would have expired.
  `create table if not exists ended_jwts (
    app_id integer not null,
    digest bytea not null,
    uid text collate "C" not null,
    expires_at bigint not null,
    primary key (app_id, digest)
  )`,
  // log-out forgets those that have expired; erasure finds those of a user
  'create index if not exists ended_jwts_by_expiry on ended_jwts (app_id, expires_at)',
  'create index if not exists ended_jwts_by_user on ended_jwts (app_id, uid)',
]
