import { type Kysely, sql } from 'kysely'

/** A restore must not bring back an operator who was removed, either: in the ledger, that is as if they had been disabled (0070). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create or replace function note_removed_operators() returns trigger language plpgsql as $$
    begin
      insert into ledger (kind, app_id, digest, at)
      select 'operator_disabled', 0, int4send(c.operator_id), (extract(epoch from clock_timestamp()) * 1000)::bigint
      from changed c;
      return null;
    end
  $$`,
  `create or replace trigger operators_removed_noted after delete on operators
    referencing old table as changed
    for each statement execute function note_removed_operators()`,
]
