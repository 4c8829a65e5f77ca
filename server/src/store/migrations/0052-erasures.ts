import { type Kysely, sql } from 'kysely'

/** What tells that somebody was erased, and keeps them from coming back by an import. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // Digests under the master key, of uids (kind 1) and muids (kind 2): they name nobody to whoever has the table alone.
  `create table if not exists erased_digests (
    app_id integer not null,
    kind smallint not null,
    digest bytea not null,
    primary key (app_id, kind, digest)
  )`,
  // digest: that of the uid. Times are epoch seconds.
  `create table if not exists erasures (
    app_id integer not null,
    id bigint generated always as identity,
    digest bytea not null,
    erased_at bigint not null,
    certificate json not null,
    primary key (app_id, digest, id)
  )`,
]
