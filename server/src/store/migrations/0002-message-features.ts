import { type Kysely, sql } from 'kysely'

/**
 * What hangs on messages: reactions, threads, pins, saved messages, interactions, mentions; and pinned conversations.
 * A bit in `messages.traits` (areas/messages/traits.ts) says whether a message has any, so that pages without ask nothing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create sequence if not exists reaction_ids',

  `create table if not exists reactions (
    app_id integer not null,
    message_id bigint not null,
    reaction text collate "C" not null,
    uid text collate "C" not null,
    id bigint not null default nextval('reaction_ids'),
    reacted_at bigint not null,
    primary key (app_id, message_id, reaction, uid)
  )`,
  // list-all-reactions: in the order in which they were given
  'create unique index if not exists reactions_in_order on reactions (app_id, message_id, id)',
  // what a user gave, when he is deleted for good
  'create index if not exists reactions_by_user on reactions (app_id, uid)',

  // One row for each message that has replies. updated_at: time of the last reply, the cursor of thread lists.
  `create table if not exists threads (
    app_id integer not null,
    parent_id bigint not null,
    conversation bigint not null,
    reply_count integer not null,
    last_reply_id bigint not null,
    updated_at bigint not null,
    primary key (app_id, parent_id)
  ) with (fillfactor = 80)`,
  // list-all-threads for the app, newest activity first
  'create index if not exists threads_by_time on threads (app_id, updated_at, parent_id)',
  // the threads of a conversation, newest activity first
  'create index if not exists threads_by_conversation on threads (app_id, conversation, updated_at, parent_id)',

  `create table if not exists thread_subscriptions (
    app_id integer not null,
    uid text collate "C" not null,
    parent_id bigint not null,
    subscribed_at bigint not null,
    primary key (app_id, uid, parent_id)
  )`,
  'create index if not exists thread_subscriptions_by_parent on thread_subscriptions (app_id, parent_id)',

  `create table if not exists pinned_messages (
    app_id integer not null,
    conversation bigint not null,
    message_id bigint not null,
    pinned_by text collate "C" not null,
    pinned_at bigint not null,
    primary key (app_id, conversation, message_id)
  )`,

  `create table if not exists saved_messages (
    app_id integer not null,
    uid text collate "C" not null,
    message_id bigint not null,
    saved_at bigint not null,
    primary key (app_id, uid, message_id)
  )`,
  'create index if not exists saved_messages_by_message on saved_messages (app_id, message_id)',

  `create table if not exists interactions (
    app_id integer not null,
    message_id bigint not null,
    uid text collate "C" not null,
    element_id text not null,
    interacted_at bigint not null,
    primary key (app_id, message_id, uid, element_id)
  )`,

  // Pinned on top for every user of the app: his conversation with this user or group. place: from 0, the display order.
  `create table if not exists app_pinned_conversations (
    app_id integer not null,
    kind smallint not null,
    peer text collate "C" not null,
    place integer not null,
    pinned_at bigint not null,
    primary key (app_id, kind, peer)
  )`,

  // the actions that edited or deleted a message
  'create index if not exists messages_by_subject on messages (app_id, subject_id) where subject_id is not null',

  // uids that a message mentions, in the order of the text
  'alter table messages add column if not exists mentioned text[]',
  // messages that mention a user: myMentionsOnly, mentionedUids
  'create index if not exists messages_by_mention on messages using gin (mentioned) where mentioned is not null',
]
