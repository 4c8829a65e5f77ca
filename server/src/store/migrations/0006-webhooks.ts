import { type Kysely, sql } from 'kysely'

/**
 * Webhooks, what they are subscribed to, and what is to be delivered to them. Deliveries name their event by id and hold
 * none of its content: bodies are made anew for each attempt.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // key: names the webhook in deliveries, so that one made later under the same id gets none of the old ones
  // version: 1 legacy envelope, 2 current
  // old_secret_sealed: signs too, until old_secret_until (epoch seconds)
  `create table if not exists webhooks (
    app_id integer not null,
    id text collate "C" not null,
    key bigint generated always as identity,
    name text not null,
    url text not null,
    version smallint not null,
    enabled boolean not null,
    retry_on_failure boolean not null,
    use_basic_auth boolean not null,
    username text,
    password_sealed bytea,
    secret_sealed bytea not null,
    old_secret_sealed bytea,
    old_secret_until bigint,
    disabled_reason text,
    disabled_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (app_id, id)
  )`,
  'create unique index if not exists webhooks_by_key on webhooks (app_id, key)',

  // trigger: as subscribed to; event: the trigger of the events that fire it, null for before_message
  `create table if not exists webhook_triggers (
    app_id integer not null,
    webhook_id text collate "C" not null,
    trigger text collate "C" not null,
    event text collate "C",
    primary key (app_id, webhook_id, trigger)
  )`,

  // How delivering to a webhook goes; apart from the webhook itself, which is written seldom. Times in milliseconds.
  // asked: rises with whatever makes something due, so that nobody who is about to stop misses it
  // failures: attempts that failed one after the other, up to now
  // leased_by, leased_until: who delivers to it; one at a time
  `create table if not exists webhook_states (
    app_id integer not null,
    webhook bigint not null,
    asked bigint not null default 0,
    failures integer not null default 0,
    failing_since bigint,
    paused_until bigint not null default 0,
    leased_by text,
    leased_until bigint not null default 0,
    primary key (app_id, webhook)
  ) with (fillfactor = 50)`,

  // id: that of the event
  // status: pending, delivered, failed; due_at (milliseconds) is null unless it is pending
  // step: how many of the delays between attempts are used up
  // sample: made up for a test, there is no such event
  `create table if not exists webhook_deliveries (
    app_id integer not null,
    webhook bigint not null,
    id bigint not null,
    trigger text collate "C" not null,
    conversation bigint,
    sample boolean not null default false,
    status text collate "C" not null default 'pending',
    attempts integer not null default 0,
    step smallint not null default 0,
    due_at bigint,
    created_at bigint not null,
    attempted_at bigint,
    answer_status smallint,
    answer text,
    error text,
    duration_ms integer,
    primary key (app_id, webhook, id)
  ) with (fillfactor = 80)`,
  // first attempts, in the order of events (areas/webhooks, delivery/webhooks/due.ts)
  `create index if not exists webhook_deliveries_new on webhook_deliveries (app_id, webhook, id)
    where due_at is not null and attempts = 0`,
  // those to try again, by time
  `create index if not exists webhook_deliveries_again on webhook_deliveries (app_id, webhook, due_at)
    where due_at is not null and attempts > 0`,
  // lists and redelivery of what failed
  `create index if not exists webhook_deliveries_failed on webhook_deliveries (app_id, webhook, id)
    where status = 'failed'`,
  // what is too old goes (delivery/webhooks/upkeep.ts)
  'create index if not exists webhook_deliveries_by_age on webhook_deliveries using brin (created_at)',
]
