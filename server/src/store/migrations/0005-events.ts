import { type Kysely, sql } from 'kysely'

/**
 * The event log, which is also the outbox: written in the transaction that made the change, only where somebody listens.
 *
 * Ids are drawn under the lock of what changed, so in a conversation their order is the order of events. `event_horizon`
 * holds the id up to which everything is settled (committed or never to come); readers go no further, so none is skipped.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create sequence if not exists event_ids as bigint',
  // conversation: key of the one that it happened in; deliveries of one conversation start in order
  // message: what it is about
  // data: what else it tells, by reference (server/src/events/types.ts)
  `create table if not exists events (
    app_id integer not null,
    id bigint not null default nextval('event_ids'),
    trigger text collate "C" not null,
    conversation bigint,
    message bigint,
    data json not null,
    created_at bigint not null,
    primary key (app_id, id)
  )`,
  // the relay reads across apps
  'create index if not exists events_by_id on events (id)',
  // the reactions that are taken out of the log with their messages, and with who gave them
  `create index if not exists events_of_reactions
    on events (app_id, message) where trigger in ('message_reaction_added', 'message_reaction_removed')`,
  `create index if not exists events_of_reacting
    on events (app_id, (data ->> 'uid')) where trigger in ('message_reaction_added', 'message_reaction_removed')`,
  `create table if not exists event_horizon (
    single boolean primary key default true check (single),
    id bigint not null
  )`,
  'insert into event_horizon (id) values (0) on conflict do nothing',
  // until when events are kept for those who pull them (GET /events); null: for webhooks only
  'alter table apps add column if not exists events_pulled_until bigint',
  // since which place in the log they have been kept for them without a gap
  'alter table apps add column if not exists events_pulled_from bigint not null default 0',
  // up to which place the app's events have been deleted for their age
  'alter table apps add column if not exists events_gone_until bigint not null default 0',
]
