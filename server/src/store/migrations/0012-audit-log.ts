import { type Kysely, sql } from 'kysely'

/**
 * Who did what an operator may have to account for. caller: the kind of credential, `command` or `service`. key: the start
 * of the digest of an API key, in hexadecimal. uid: who acted. Times are epoch seconds. Pages go by time; the other
 * indexes are for the filters of `GET /audit-log`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table if not exists audit_log (
    app_id integer not null,
    created_at bigint not null,
    id bigint not null generated always as identity,
    action text not null,
    caller text not null,
    key text,
    uid text collate "C",
    address text,
    target_type text not null,
    target text collate "C" not null,
    details json,
    primary key (app_id, created_at, id)
  )`,
  'create index if not exists audit_log_by_action on audit_log (app_id, action, created_at, id)',
  'create index if not exists audit_log_by_key on audit_log (app_id, key, created_at, id) where key is not null',
  'create index if not exists audit_log_by_uid on audit_log (app_id, uid, created_at, id) where uid is not null',
  'create index if not exists audit_log_by_target on audit_log (app_id, target, created_at, id)',
]
