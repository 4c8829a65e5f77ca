import { type Kysely, sql } from 'kysely'

/**
 * What hangs on messages: reactions, threads, pins, saved messages, interactions, mentions; and pinned conversations.
 * A bit in `messages.traits` (chat/messages/traits.ts) says whether a message has any, so that pages without ask nothing.
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
  // get-message-reactions: those of one kind, in that order
  'create index if not exists reactions_of_kind on reactions (app_id, message_id, reaction, id)',
  // what a user gave, when he is deleted for good
  'create index if not exists reactions_by_user on reactions (app_id, uid)',

  // How many gave each reaction, so that showing a message costs the same for ten of them and ten thousand. first_id: the
  // id with which it came up, the order of display. Kept by a trigger, whoever adds or removes reactions.
  `create table if not exists reaction_counts (
    app_id integer not null,
    message_id bigint not null,
    reaction text collate "C" not null,
    count integer not null,
    first_id bigint not null,
    primary key (app_id, message_id, reaction)
  ) with (fillfactor = 80)`,
  `create or replace function count_reactions() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into reaction_counts as c (app_id, message_id, reaction, count, first_id)
        select app_id, message_id, reaction, count(*), min(id)
        from changed
        group by app_id, message_id, reaction
        order by app_id, message_id, reaction
        on conflict (app_id, message_id, reaction) do update
        set count = c.count + excluded.count;
      else
        update reaction_counts c
        set count = c.count - d.count
        from (
          select app_id, message_id, reaction, count(*)
          from changed
          group by app_id, message_id, reaction
        ) d
        where c.app_id = d.app_id
        and c.message_id = d.message_id
        and c.reaction = d.reaction;
        delete from reaction_counts c
        using changed d
        where c.app_id = d.app_id
        and c.message_id = d.message_id
        and c.reaction = d.reaction
        and c.count = 0;
      end if;
      return null;
    end
  $$`,
  `create or replace trigger reactions_added after insert on reactions
    referencing new table as changed for each statement execute function count_reactions()`,
  `create or replace trigger reactions_removed after delete on reactions
    referencing old table as changed for each statement execute function count_reactions()`,

  // One row for each message that has replies which are not deleted. updated_at: time of the last, cursor of thread lists.
  // starter: who wrote the message, '' once he is deleted for good.
  `create table if not exists threads (
    app_id integer not null,
    parent_id bigint not null,
    conversation bigint not null,
    reply_count integer not null,
    last_reply_id bigint not null,
    updated_at bigint not null,
    starter text collate "C" not null default '',
    primary key (app_id, parent_id)
  ) with (fillfactor = 80)`,
  // list-all-threads for the app, newest activity first
  'create index if not exists threads_by_time on threads (app_id, updated_at, parent_id)',
  // the threads of a conversation, newest activity first
  'create index if not exists threads_by_conversation on threads (app_id, conversation, updated_at, parent_id)',

  // threads with participatedByMe: whether a user replied in a thread
  `create index if not exists messages_by_replier
    on messages (app_id, sender, parent_id) where parent_id is not null and category <> 'action'`,

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
