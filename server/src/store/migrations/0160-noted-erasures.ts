import { type Kysely, sql } from 'kysely'

/**
 * The ledger notes each erasure. Digests of uids say only once that somebody was erased, and a uid may be given to somebody new who is
 * erased, too. Older processes write a certificate of each erasure as well, in the same transaction.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // As `trigger` in 0070-ledger.ts makes them.
  `create or replace function note_erasures() returns trigger language plpgsql as $$
    begin
      insert into ledger (kind, app_id, digest, at)
      select 'erased', c.app_id, c.digest, (extract(epoch from clock_timestamp()) * 1000)::bigint
      from changed c;
      return null;
    end
  $$`,
  'drop trigger if exists erased_digests_noted on erased_digests',
  `create or replace trigger erasures_noted after insert on erasures
    referencing new table as changed
    for each statement execute function note_erasures()`,
  'drop function if exists note_erased_digests()',
]
