import { type Kysely, sql } from 'kysely'

/** Keys that are changed while the service runs, and keys that stay deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // What secrets are sealed and looked up with, as it opens under a master key; under two of them while that is being changed.
  // master: stands for the master key, and tells nothing of it.
  `create table if not exists data_keys (
    purpose text collate "C" not null,
    version integer not null,
    master text collate "C" not null,
    wrapped bytea not null,
    created_at bigint not null,
    primary key (purpose, version, master)
  )`,
  // Every process that runs, with the master key that it would start with again and the newest version that it can unseal.
  // seen_at: epoch milliseconds of the database.
  `create table if not exists key_holders (
    id text collate "C" primary key,
    machine text not null,
    pid integer not null,
    source text not null,
    master text collate "C" not null,
    newest integer not null,
    seen_at bigint not null
  )`,
  // API keys that were deleted: what the environment says does not bring them back.
  `create table if not exists deleted_api_keys (
    app_id integer not null,
    digest bytea not null,
    deleted_at bigint not null,
    primary key (app_id, digest)
  )`,
  // Epoch seconds: since when another key is there to take its place, and from when on it opens nothing.
  'alter table api_keys add column if not exists replaced_at bigint',
  'alter table api_keys add column if not exists ends_at bigint',
]
