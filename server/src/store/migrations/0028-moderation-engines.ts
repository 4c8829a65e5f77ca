import { type Kysely, sql } from 'kysely'

/** Engines outside that rules of moderation ask. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // engine: custom-api, llm, labels; key_sealed: what is sent as a bearer token
  `create table if not exists moderation_engines (
    app_id integer not null,
    engine text not null,
    url text,
    model text,
    key_sealed bytea,
    on_error text not null,
    context_messages smallint not null,
    updated_at bigint not null,
    primary key (app_id, engine)
  )`,
]
