import { type Kysely, sql } from 'kysely'

/**
 * The last run of the doctor that an operator asked for, and what it found. Of the deployment: examples are of apps, or of none.
 *
 * status: running, done, stopped, failed. Times are epoch seconds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // checked: how many of its checks are over
  `create table if not exists doctor_runs (
    run_id integer primary key generated always as identity,
    status text not null,
    checked integer not null default 0,
    checks integer not null,
    current text,
    error text,
    started_by integer,
    started_at bigint not null,
    finished_at bigint
  )`,
  // two never run at once
  "create unique index if not exists doctor_runs_running on doctor_runs ((true)) where status = 'running'",
  `create table if not exists doctor_findings (
    run_id integer not null,
    check_name text not null,
    meaning text not null,
    count bigint not null,
    primary key (run_id, check_name)
  )`,
  `create table if not exists doctor_examples (
    run_id integer not null,
    check_name text not null,
    place smallint not null,
    app_id integer,
    subject text not null,
    stored text,
    expected text,
    primary key (run_id, check_name, place)
  )`,
]
