import { type Kysely, sql } from 'kysely'

/**
 * Deliveries of notifications are one table in parts: those that wait, and the log, in a part for each day. A day that nobody
 * keeps any longer goes at once. The parts are in a schema of their own; those of days are made by the service as they come.
 *
 * What there was becomes a part, as it is: its rows are read once, to see that they belong there, and not written.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ kind: string }>`
    select relkind as kind
    from pg_class
    where oid = to_regclass('notification_deliveries')`.execute(db)
  if (rows[0]?.kind === 'p') return
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create schema if not exists notification_days',

  // day: number of the day since the epoch on which it was made; 0 while it waits, -1: it is from before there were days
  `alter table notification_deliveries
    add column day integer not null default -1,
    add constraint notification_deliveries_day check (day = -1)`,
  'alter table notification_deliveries rename to before',
  'alter table before set schema notification_days',
  `create table notification_deliveries (like notification_days.before including defaults) partition by list (day)`,
  'alter table notification_deliveries alter column day set default 0',
  'alter table notification_deliveries attach partition notification_days.before for values in (-1)',

  // The windows and takings back that are open are told apart here, where all that waits is.
  'create table notification_days.waiting (like notification_deliveries including defaults) with (fillfactor = 80)',
  'alter table notification_days.waiting add primary key (app_id, id)',
  // what is due for a provider, longest due first
  'create index on notification_days.waiting (app_id, provider, due_at) where due_at is not null',
  // where a message was sent to; what goes with a message
  'create index on notification_days.waiting (app_id, message) where message is not null',
  // what goes with a user, and the logs of one
  'create index on notification_days.waiting (app_id, uid, id)',
  // what goes with a group beside its messages
  'create index on notification_days.waiting (app_id, conversation) where message is null',
  // one open window for each conversation and channel of a user
  `create unique index on notification_days.waiting (app_id, uid, channel, conversation)
    where channel <> 'push' and due_at is not null and closed_at is null`,
  // what was sent to a user on a day, and of a conversation at last
  'create index on notification_days.waiting (app_id, uid, channel, closed_at) where closed_at is not null',
  // what is taken back on a device and open
  `create unique index on notification_days.waiting (app_id, uid, provider, digest) nulls not distinct
    where trigger = 'messages_read' and due_at is not null and closed_at is null`,
  // what was taken back before on the devices of a user
  `create index on notification_days.waiting (app_id, uid, id) where trigger = 'messages_read'`,
  'alter table notification_deliveries attach partition notification_days.waiting for values in (0)',

  // what comes on a day that has no part yet
  'create table notification_days.other (like notification_deliveries including defaults)',
  'alter table notification_days.other add primary key (app_id, id)',
  'create index on notification_days.other (app_id, message) where message is not null',
  'create index on notification_days.other (app_id, uid, id)',
  'alter table notification_deliveries attach partition notification_days.other default',

  `update notification_deliveries
    set day = 0
    where day = -1
    and due_at is not null`,
]
