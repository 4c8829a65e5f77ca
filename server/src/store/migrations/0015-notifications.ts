import { type Kysely, sql } from 'kysely'

/**
 * Notifications: what apps and users want, who sends them, and what became of each. Deliveries name their event and their
 * message and hold none of their content: what is sent is rendered for each attempt. Times are epoch milliseconds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create sequence if not exists notification_ids as bigint',

  // what an app has set; the rest has its defaults (contract/src/notifications/settings.ts)
  `create table if not exists notification_settings (
    app_id integer primary key,
    settings json not null
  )`,

  // what a user has chosen; the rest is as the app says
  `create table if not exists notification_preferences (
    app_id integer not null,
    uid text collate "C" not null,
    preferences json not null default '{}',
    timezone text,
    primary key (app_id, uid)
  )`,

  // kind 1: peer is a uid, 2: a guid. until: null for ever
  `create table if not exists notification_mutes (
    app_id integer not null,
    uid text collate "C" not null,
    kind smallint not null,
    peer text collate "C" not null,
    until bigint,
    primary key (app_id, uid, kind, peer)
  )`,
  // when the other one, or the group, is removed for good
  'create index if not exists notification_mutes_by_peer on notification_mutes (app_id, kind, peer)',

  `create table if not exists notification_contacts (
    app_id integer not null,
    uid text collate "C" not null,
    email text,
    phone text,
    primary key (app_id, uid)
  )`,

  // key: names the provider in deliveries, so that one set up later under the same id gets none of the old ones
  // channel: push, email, sms; kind: custom, fcm, apns, ...; settings: what is not secret; sealed: the rest, as JSON
  `create table if not exists notification_providers (
    app_id integer not null,
    channel text collate "C" not null,
    kind text collate "C" not null,
    id text collate "C" not null,
    key bigint generated always as identity,
    enabled boolean not null,
    is_default boolean not null default false,
    settings json not null,
    sealed bytea not null,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (app_id, channel, kind, id)
  )`,
  'create unique index if not exists notification_providers_by_key on notification_providers (app_id, key)',

  // How sending by a provider goes; as webhook_states
  `create table if not exists notification_senders (
    app_id integer not null,
    provider bigint not null,
    asked bigint not null default 0,
    failures integer not null default 0,
    failing_since bigint,
    paused_until bigint not null default 0,
    leased_by text,
    leased_until bigint not null default 0,
    primary key (app_id, provider)
  ) with (fillfactor = 50)`,

  // How far the events of an app are planned: all up to event; where uid is not '', of that event only the users up to uid
  `create table if not exists notification_plans (
    app_id integer primary key,
    event bigint not null,
    uid text collate "C" not null default ''
  ) with (fillfactor = 50)`,

  // Devices. digest, sealed: the token that the provider knows; auth_digest: of the auth token that it was registered with
  // type: chat or voip
  `create table if not exists push_tokens (
    app_id integer not null,
    provider bigint not null,
    digest bytea not null,
    sealed bytea not null,
    uid text collate "C" not null,
    auth_digest bytea not null,
    platform text collate "C" not null,
    type text collate "C" not null,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (app_id, provider, digest)
  )`,
  // whom to notify where; those of a user, oldest first
  'create index if not exists push_tokens_by_user on push_tokens (app_id, uid, updated_at)',
  // what goes with an auth token
  'create index if not exists push_tokens_by_login on push_tokens (app_id, auth_digest)',

  // status: pending, delivered, failed (given up), stopped (a gate was closed; reason says which)
  // kind, receiver: where it happened: 1 and the uid that it was said to, 2 and the guid
  // digest: of the push token; gates: all that was looked at, with its value and who set it
  // due_at: null unless it is pending; expires_at: not sent any more after that
  `create table if not exists notification_deliveries (
    app_id integer not null,
    id bigint not null default nextval('notification_ids'),
    uid text collate "C" not null,
    channel text collate "C" not null,
    provider_kind text collate "C" not null,
    provider_id text collate "C" not null,
    provider bigint not null,
    digest bytea,
    platform text collate "C",
    trigger text collate "C" not null,
    event bigint not null,
    conversation bigint,
    message bigint,
    reaction bigint,
    kind smallint not null,
    receiver text collate "C" not null,
    status text collate "C" not null,
    reason text collate "C",
    gates json not null,
    attempts smallint not null default 0,
    due_at bigint,
    expires_at bigint not null,
    created_at bigint not null,
    ended_at bigint,
    answer_status smallint,
    answer text,
    error text,
    duration_ms integer,
    primary key (app_id, id)
  ) with (fillfactor = 80)`,
  // what is due for a provider, longest due first
  `create index if not exists notification_deliveries_due on notification_deliveries (app_id, provider, due_at)
    where due_at is not null`,
  // why somebody was notified of a message or was not; what goes with a message
  `create index if not exists notification_deliveries_by_message on notification_deliveries (app_id, message)
    where message is not null`,
  // what goes with a user, and the logs of one
  'create index if not exists notification_deliveries_by_user on notification_deliveries (app_id, uid, id)',
  // what goes with a group beside its messages
  `create index if not exists notification_deliveries_of_groups on notification_deliveries (app_id, conversation)
    where message is null`,
  // what is too old goes
  'create index if not exists notification_deliveries_by_age on notification_deliveries using brin (created_at)',
]
