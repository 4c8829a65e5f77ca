import { type Kysely, sql } from 'kysely'

/**
 * What makes a change of the audit log show, and keeps the service itself from making one; and what operators read. Existing entries are sealed as they are
 * when they are first linked.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // The personal token that an operator acted by.
  'alter table audit_log add column if not exists token integer',
  // seal: of what the entry says, by whoever wrote it. seq, link: its place in the chain of its app, once it is linked.
  // redaction: of what stands there since a person was erased.
  `alter table audit_log
    add column if not exists seal bytea,
    add column if not exists seq bigint,
    add column if not exists link bytea,
    add column if not exists redaction bytea`,
  // since_seq, since_link: the last that was removed for its age. adopted_to: entries up to this id may come without a seal.
  `create table if not exists audit_chains (
    app_id integer not null primary key,
    seq bigint not null,
    link bytea not null,
    since_seq bigint not null,
    since_link bytea not null,
    adopted_to bigint not null,
    mac bytea not null
  )`,
  // What an operator has read by a reading of the whole app, so that each conversation is recorded once an hour. at: epoch seconds.
  `create table if not exists operator_reads (
    app_id integer not null,
    operator_id integer not null,
    conversation text collate "C" not null,
    at bigint not null,
    primary key (app_id, operator_id, conversation)
  )`,
  `create or replace function guard_audit_log() returns trigger as $$
  declare
    purpose text := coalesce(current_setting('parley.audit_log', true), '');
  begin
    if tg_op = 'DELETE' then
      if purpose = 'remove' then return old; end if;
    elsif tg_op = 'UPDATE' then
      if (new.app_id, new.created_at, new.id, new.action, new.caller, new.target_type)
          is not distinct from (old.app_id, old.created_at, old.id, old.action, old.caller, old.target_type)
        and (new.key, new.operator, new.token) is not distinct from (old.key, old.operator, old.token)
        and (old.seal is null or new.seal = old.seal)
        and (old.seq is null or (new.seq = old.seq and new.link = old.link))
        and (purpose = 'erase' or (
          (new.uid, new.target, new.address, new.details::text, new.redaction)
            is not distinct from (old.uid, old.target, old.address, old.details::text, old.redaction)
        ))
      then return new; end if;
    end if;
    raise exception 'entries of the audit log are not changed' using errcode = 'raise_exception';
  end
  $$ language plpgsql`,
  'drop trigger if exists audit_log_guard on audit_log',
  `create trigger audit_log_guard before update or delete on audit_log
    for each row execute function guard_audit_log()`,
  'drop trigger if exists audit_log_guard_all on audit_log',
  `create trigger audit_log_guard_all before truncate on audit_log
    for each statement execute function guard_audit_log()`,
]
