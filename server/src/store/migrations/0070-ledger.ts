import { type Kysely, sql } from 'kysely'

/**
 * What a restore must do again: erasures, and keys and tokens that were revoked. Noted in the transaction that does it, by
 * triggers, so that no way of doing it is forgotten; written from here to places outside the database (backup/ledger/).
 *
 * Nothing here names anybody: digests under the master key, and numbers of apps and operators.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const note = (kind: string, digest: string, from: string) => `
  insert into ledger (kind, app_id, digest, at)
  select ${kind}, ${from === 'operators' || from === 'operator_tokens' ? 0 : 'c.app_id'}, ${digest}, (extract(epoch from clock_timestamp()) * 1000)::bigint`

/** A trigger on what a statement has removed or added. */
const trigger = (table: string, event: 'delete' | 'insert', kind: string, where = 'true') => [
  `create or replace function note_${table}() returns trigger language plpgsql as $$
    begin
      ${note(`'${kind}'`, 'c.digest', table)}
      from changed c
      where ${where};
      return null;
    end
  $$`,
  `create or replace trigger ${table}_noted after ${event} on ${table}
    referencing ${event === 'delete' ? 'old' : 'new'} table as changed
    for each statement execute function note_${table}()`,
]

/** A trigger on what of a row has changed for its latest value. @param kind SQL over the row that it has become */
const changeTrigger = (table: string, column: string, kind: string, digest: string) => [
  `create or replace function note_${table}() returns trigger language plpgsql as $$
    begin
      ${note(kind, digest, table)}
      from (select new.*) c;
      return null;
    end
  $$`,
  `create or replace trigger ${table}_noted after update of ${column} on ${table}
    for each row when (old.${column} is distinct from new.${column}) execute function note_${table}()`,
]

const statements = [
  // kind: what was done to whom; at: epoch milliseconds; pending: not written to the places outside yet
  `create table if not exists ledger (
    id bigint primary key generated always as identity,
    kind text collate "C" not null,
    app_id integer not null,
    digest bytea not null,
    at bigint not null,
    pending boolean not null default true
  )`,
  // what is to be written
  'create index if not exists ledger_pending on ledger (id) where pending',

  ...trigger('api_keys', 'delete', 'api_key'),
  ...trigger('auth_tokens', 'delete', 'auth_token'),
  ...trigger('ended_jwts', 'insert', 'jwt'),
  ...trigger('operator_tokens', 'delete', 'operator_token'),
  // kind 1: uids
  ...trigger('erased_digests', 'insert', 'erased', 'c.kind = 1'),
  ...changeTrigger(
    'operators',
    'disabled_at',
    "case when c.disabled_at is null then 'operator_enabled' else 'operator_disabled' end",
    'int4send(c.operator_id)',
  ),
  ...changeTrigger(
    'apps',
    'deletes_at',
    "case when c.deletes_at is null then 'app_undeleted' else 'app_deleted' end",
    'int4send(c.app_id)',
  ),

  // Which database the entries are of. One that has been served before tells it by its first app, so that a backup from before there was
  // a ledger belongs to it, too.
  `insert into settings (name, value)
    select 'ledger', coalesce(
      (
        select md5(s.value || a.name || a.created_at)
        from settings s
        cross join (select name, created_at from apps order by app_id limit 1) a
        where s.name = 'master_key_check'
      ),
      gen_random_uuid()::text
    )
    on conflict do nothing`,
  // Events up to here were in a backup that was restored: what nobody was notified of by then waits until an operator has it sent.
  'alter table event_horizon add column if not exists held_until bigint not null default 0',
]
