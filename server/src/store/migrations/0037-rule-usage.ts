import { type Kysely, sql } from 'kysely'

/**
 * What rules of moderation found on each day, in UTC. The log of decisions says so too, but goes with its messages, and may be long:
 * of days that are over it is added up.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table if not exists usage_rules (
    app_id integer not null,
    day integer not null,
    rule_id text collate "C" not null,
    hits bigint not null,
    shadow bigint not null,
    blocked bigint not null,
    flagged bigint not null,
    primary key (app_id, day, rule_id)
  )`,
  // the last day that is added up; of those after it the log says all
  `create table if not exists usage_rule_days (
    app_id integer primary key,
    day integer not null
  )`,
]
