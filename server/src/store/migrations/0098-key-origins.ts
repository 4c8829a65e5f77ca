import { type Kysely, sql } from 'kysely'

/**
 * The first of the keys that an API key took the place of, one after the other (its digest); null: it took the place of none. Users are
 * noted as created by that one (0009), and so are those of all of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column if not exists origin bytea`.execute(db)
}
