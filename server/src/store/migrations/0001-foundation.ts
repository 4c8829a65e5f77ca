import { type Kysely, sql } from 'kysely'

/**
 * Tenants, people, groups, conversations and messages.
 *
 * - Every table leads with `app_id`, in its primary key too: tenants never mix, and the tables can be distributed by it.
 *   There are no foreign keys: rows of one app stand together because every rule writes them in one transaction, and
 *   `parley doctor` finds what would have drifted.
 * - Identifiers and names that are compared or ordered have collation "C": byte order, the same on every database.
 * - Times are epoch seconds. A position in a history is `(sent_at, id)`: imported messages have old times and new ids.
 * - `revision` is drawn anew at every change of a row, so that a copy in memory can be recognised as current.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create sequence if not exists revisions',
  `create or replace function revise() returns trigger language plpgsql as $$
    begin
      new.revision := nextval('revisions');
      return new;
    end
  $$`,
  'create sequence if not exists conversation_keys',
  'create sequence if not exists message_ids',

  // What belongs to the deployment, not to an app, such as the check value of the master key.
  'create table if not exists settings (name text primary key, value text not null)',

  `create table if not exists apps (
    app_id integer generated always as identity primary key,
    name text collate "C" not null unique,
    region text not null,
    created_at bigint not null
  )`,

  // Keys and tokens are found by digest (HMAC under the master key) and shown again by unsealing.
  `create table if not exists api_keys (
    app_id integer not null,
    digest bytea not null,
    sealed bytea not null,
    name text not null,
    scope text not null,
    created_at bigint not null,
    ordinal bigint generated always as identity,
    primary key (app_id, digest)
  )`,

  `create table if not exists auth_tokens (
    app_id integer not null,
    digest bytea not null,
    sealed bytea not null,
    uid text collate "C" not null,
    platform text,
    user_agent text,
    app_info json,
    created_at bigint not null,
    ordinal bigint generated always as identity,
    primary key (app_id, digest)
  )`,
  // the tokens of a user, newest first
  'create index if not exists auth_tokens_by_user on auth_tokens (app_id, uid, ordinal)',

  // restricted_features: {key without its prefix: epoch seconds since when}
  `create table if not exists roles (
    app_id integer not null,
    role text collate "C" not null,
    name text not null,
    description text,
    metadata json,
    settings json,
    permissions json not null default '{}',
    restricted_features json not null default '{}',
    created_at bigint not null,
    updated_at bigint,
    ordinal bigint generated always as identity,
    primary key (app_id, role)
  )`,

  // name_key: the name in normal form and lower case, made by the service, for order and search by prefix
  `create table if not exists users (
    app_id integer not null,
    uid text collate "C" not null,
    name text not null,
    name_key text collate "C" not null,
    avatar text,
    link text,
    role text collate "C" not null default 'default',
    status_message text,
    metadata json,
    tags text[] not null default '{}',
    created_at bigint not null,
    updated_at bigint,
    last_active_at bigint,
    deactivated_at bigint,
    revision bigint not null default nextval('revisions'),
    primary key (app_id, uid)
  )`,
  'create or replace trigger users_revised before update on users for each row execute function revise()',
  // list-users: by name, by prefix of the name, and counted, from the index alone
  'create index if not exists users_by_name on users (app_id, name_key, uid) include (deactivated_at)',
  // list-users with onlyDeactivated
  `create index if not exists users_deactivated
    on users (app_id, name_key, uid) where deactivated_at is not null`,
  // list-users with tags, with createdAt[from] and [to]
  'create index if not exists users_by_tag on users using gin (tags)',
  'create index if not exists users_by_creation on users (app_id, created_at)',
  // list-users with updatedAt: what changed since, counted from the index alone (which needs what the expression reads)
  `create index if not exists users_by_update
    on users (app_id, (coalesce(updated_at, created_at)), uid) include (updated_at, created_at, deactivated_at)`,
  // list-users with a role: by name, and counted from the index alone
  'create index if not exists users_by_role on users (app_id, role, name_key, uid) include (deactivated_at)',

  `create table if not exists friends (
    app_id integer not null,
    uid text collate "C" not null,
    friend text collate "C" not null,
    created_at bigint not null,
    primary key (app_id, uid, friend)
  )`,

  `create table if not exists blocks (
    app_id integer not null,
    blocker text collate "C" not null,
    blocked text collate "C" not null,
    blocked_at bigint not null,
    ordinal bigint generated always as identity,
    primary key (app_id, blocker, blocked)
  )`,
  // who has blocked this user
  'create index if not exists blocks_by_blocked on blocks (app_id, blocked, blocker)',

  // permissions: explicit scope permissions {scope: {key: value}}; permissions_version rises with each change, 0 = never set
  `create table if not exists groups (
    app_id integer not null,
    guid text collate "C" not null,
    name text not null,
    name_key text collate "C" not null,
    type text not null,
    password_digest bytea,
    icon text,
    description text,
    owner text collate "C" not null,
    metadata json,
    tags text[] not null default '{}',
    members_count integer not null default 0,
    permissions json not null default '{}',
    permissions_version bigint not null default 0,
    conversation bigint not null,
    created_at bigint not null,
    updated_at bigint,
    updated_by text,
    revision bigint not null default nextval('revisions'),
    primary key (app_id, guid)
  )`,
  'create or replace trigger groups_revised before update on groups for each row execute function revise()',
  'create index if not exists groups_by_name on groups (app_id, name_key, guid)',
  'create index if not exists groups_by_creation on groups (app_id, created_at, guid)',
  'create index if not exists groups_by_update on groups (app_id, (coalesce(updated_at, created_at)), guid)',
  // groups whose permissions were set, which may hide messages from their members
  'create index if not exists groups_restricted on groups (app_id, guid) where permissions_version > 0',
  // what a user owns, when he is deleted for good
  'create index if not exists groups_by_owner on groups (app_id, owner)',

  `create table if not exists group_members (
    app_id integer not null,
    guid text collate "C" not null,
    uid text collate "C" not null,
    scope text not null,
    joined_at bigint not null,
    explicit boolean not null default true,
    primary key (app_id, guid, uid)
  )`,
  // the groups of a user
  'create index if not exists group_members_by_user on group_members (app_id, uid, guid)',

  `create table if not exists group_bans (
    app_id integer not null,
    guid text collate "C" not null,
    uid text collate "C" not null,
    banned_by text collate "C" not null,
    banned_at bigint not null,
    ordinal bigint generated always as identity,
    primary key (app_id, guid, uid)
  )`,
  'create index if not exists group_bans_by_user on group_bans (app_id, uid)',

  // kind 1: the two uids in byte order; kind 2: the guid and ''. A conversation exists for the contract once it has a
  // message (last_id). last_*: position of the newest message of any kind, and who sent it when it was no action;
  // listed_*: the message that lists show as lastMessage and are ordered by. all_*: up to where every member of a group
  // has received and read. version: raised when the past changes, so that remembered counts are counted anew.
  // timed_sent_at: time of the newest message that was imported with times of its own when it was received or read.
  `create table if not exists conversations (
    app_id integer not null,
    key bigint not null default nextval('conversation_keys'),
    kind smallint not null,
    first text collate "C" not null,
    second text collate "C" not null,
    created_at bigint not null,
    last_sent_at bigint,
    last_id bigint,
    last_sender text collate "C",
    listed_sent_at bigint,
    listed_id bigint,
    all_delivered_sent_at bigint not null default 0,
    all_delivered_id bigint not null default 0,
    all_read_sent_at bigint not null default 0,
    all_read_id bigint not null default 0,
    version bigint not null default 0,
    timed_sent_at bigint,
    primary key (app_id, key)
  ) with (fillfactor = 70)`,
  'create unique index if not exists conversations_by_parts on conversations (app_id, kind, first, second)',
  // the one-to-one conversations in which a user is the second of the two
  'create index if not exists conversations_by_second on conversations (app_id, second, first) where kind = 1',

  // One user's side of a conversation. member: counts for the group's staircase (current member, active);
  // member_*: his marks then.
  // unread_*: everything of others after it is unread; counted_*: unread up to there, remembered at that version.
  // cleared_*: history up to there is hidden from him, and with hidden the conversation too until the next message.
  `create table if not exists conversation_states (
    app_id integer not null,
    uid text collate "C" not null,
    conversation bigint not null,
    member boolean not null default false,
    delivered_sent_at bigint not null default 0,
    delivered_id bigint not null default 0,
    read_sent_at bigint not null default 0,
    read_id bigint not null default 0,
    unread_sent_at bigint not null default 0,
    unread_id bigint not null default 0,
    counted_sent_at bigint not null default 0,
    counted_id bigint not null default 0,
    counted_unread integer not null default 0,
    counted_version bigint not null default 0,
    cleared_sent_at bigint not null default 0,
    cleared_id bigint not null default 0,
    hidden boolean not null default false,
    tags text[] not null default '{}',
    pinned_at bigint,
    member_delivered_sent_at bigint generated always as (case when member then delivered_sent_at end) stored,
    member_delivered_id bigint generated always as (case when member then delivered_id end) stored,
    member_read_sent_at bigint generated always as (case when member then read_sent_at end) stored,
    member_read_id bigint generated always as (case when member then read_id end) stored,
    primary key (app_id, uid, conversation)
  ) with (fillfactor = 70)`,
  // The lowest mark among a group's members. Columns of its own, since an update of an indexed column writes to every
  // index of the table: marks in one-to-one conversations, which are most, touch none.
  `create index if not exists conversation_states_by_read
    on conversation_states (app_id, conversation, member_read_sent_at, member_read_id)
    where member_read_id is not null`,
  `create index if not exists conversation_states_by_delivered
    on conversation_states (app_id, conversation, member_delivered_sent_at, member_delivered_id)
    where member_delivered_id is not null`,

  // Staircases: everything up to (sent_at, id) was delivered (kind 1) or read (kind 2) at time "at", by uid, or by
  // every member of the group where uid is ''.
  `create table if not exists receipt_steps (
    app_id integer not null,
    conversation bigint not null,
    uid text collate "C" not null,
    kind smallint not null,
    sent_at bigint not null,
    id bigint not null,
    at bigint not null,
    primary key (app_id, conversation, uid, kind, sent_at, id)
  )`,

  // data: as sent, well-formed text (json, not jsonb, which refuses half surrogates and would fail a whole batch).
  // traits: bits for filters, see chat/messages/traits.ts. countable: counts as unread for the others.
  // subject_id: the message that an action of type message is about. delivered_at, read_at: explicit times of imports.
  `create table if not exists messages (
    app_id integer not null,
    id bigint not null,
    conversation bigint not null,
    sender text collate "C" not null,
    kind smallint not null,
    receiver text collate "C" not null,
    category text collate "C" not null,
    type text collate "C" not null,
    data json not null,
    parent_id bigint,
    quoted_id bigint,
    subject_id bigint,
    muid text collate "C",
    tags text[],
    traits integer not null default 0,
    countable boolean not null,
    imported boolean not null default false,
    sent_at bigint not null,
    updated_at bigint not null,
    delivered_at bigint,
    read_at bigint,
    edited_at bigint,
    edited_by text collate "C",
    deleted_at bigint,
    deleted_by text collate "C",
    purged boolean not null default false,
    primary key (app_id, id)
  )`,
  // history pages of a conversation, and unread counts from the index alone
  `create index if not exists messages_by_conversation
    on messages (app_id, conversation, sent_at, id) include (sender, countable)`,
  // list-all-messages for the app
  'create index if not exists messages_by_time on messages (app_id, sent_at, id)',
  // what a user sent in groups: user-list-user-messages without onBehalfOf, and list-all-messages with sender
  'create index if not exists messages_by_group_sender on messages (app_id, sender, sent_at, id) where kind = 2',
  // what changed since: updatedAt cursors, of the app and of one conversation
  `create index if not exists messages_changed
    on messages (app_id, updated_at, id) where updated_at <> sent_at`,
  `create index if not exists messages_changed_in_conversation
    on messages (app_id, conversation, updated_at, id) where updated_at <> sent_at`,
  // list-all-messages with filters that few messages meet; plain texts are not in these and do not pay for them
  `create index if not exists messages_by_type
    on messages (app_id, type, sent_at, id) where type <> 'text'`,
  `create index if not exists messages_by_category
    on messages (app_id, category, sent_at, id) where category <> 'message'`,
  'create index if not exists messages_by_tag on messages using gin (tags) where tags is not null',
  `create index if not exists messages_deleted
    on messages (app_id, sent_at, id) where deleted_at is not null`,
  // the replies of a thread, and how many of them are unread from the index alone
  `create index if not exists messages_by_parent
    on messages (app_id, parent_id, sent_at, id) include (sender, countable) where parent_id is not null`,
  // a repeated muid is answered with the message already stored
  `create unique index if not exists messages_by_muid
    on messages (app_id, muid, sender, conversation) where muid is not null and not imported`,
  // imports look for a muid in the whole app
  `create unique index if not exists messages_by_imported_muid
    on messages (app_id, muid) where muid is not null and imported`,
]
