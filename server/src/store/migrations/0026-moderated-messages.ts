import { type Kysely, sql } from 'kysely'

/**
 * What moderation keeps of messages, beside the bits in `messages.traits`, which alone say whether one is held
 * (chat/messages/traits.ts). Messages of apps without rules have no row in any of these.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // One row for each message that is held, was held, was blocked after it had been seen, or whose edit waits. status: of
  // the message, or of the edit in "waiting" {data, tags}; generation: rises with each text that is to be judged, so that
  // answers about an earlier one are known to be late. held_from: the first sent_at of one that was held. was_visible: others
  // had seen it before it was blocked. was_countable: `messages.countable` as it was then. questions: what engines outside are asked, the next time at due_at. rule_*, condition,
  // list_*, match, confidence, reason, actions: the hit that decided. lane: one, two or manual. took: microseconds.
  `create table if not exists message_moderation (
    app_id integer not null,
    message bigint not null,
    conversation bigint not null,
    sender text collate "C" not null,
    status text not null,
    generation integer not null default 1,
    was_visible boolean not null default false,
    was_countable boolean not null default true,
    held_from bigint,
    waiting json,
    questions json,
    due_at bigint,
    attempts integer not null default 0,
    leased_until bigint,
    rule_id text collate "C",
    rule_name text,
    rule_revision integer,
    condition json,
    list_id text collate "C",
    list_revision integer,
    match json,
    confidence double precision,
    reason text,
    actions text[],
    lane text not null,
    took bigint,
    created_at bigint not null,
    updated_at bigint not null,
    reviewed_at bigint,
    reviewed_by text,
    review_status text,
    primary key (app_id, message)
  )`,
  // what engines outside are to be asked next
  'create index if not exists message_moderation_due on message_moderation (due_at) where due_at is not null',
  // what is held of a sender, and all of it when the uid is given to somebody new
  'create index if not exists message_moderation_by_sender on message_moderation (app_id, sender, message)',
  // what is removed with a conversation
  'create index if not exists message_moderation_by_conversation on message_moderation (app_id, conversation)',

  // The log: one row for each hit of a rule, whatever its mode, and for each answer of an engine or a reviewer.
  // decision: where it left the message: approved, disapproved or pending; refused (an edit that was not stored), late (it
  // came after the message was changed or decided). mode: of the rule. match: a span of the text, and the text in it until
  // the message is changed or deleted. acted: nothing is left to do of what its actions ask for besides the message.
  `create table if not exists moderation_decisions (
    app_id integer not null,
    id bigint generated always as identity,
    message bigint not null,
    rule_id text collate "C",
    rule_revision integer,
    list_id text collate "C",
    list_revision integer,
    condition json,
    match json,
    confidence double precision,
    reason text,
    mode text,
    lane text not null,
    took bigint,
    actions text[] not null default '{}',
    decision text not null,
    at bigint not null,
    acted boolean not null,
    primary key (app_id, id)
  )`,
  // what was decided of a message
  'create index if not exists moderation_decisions_by_message on moderation_decisions (app_id, message)',
  // what a rule decided, newest first
  'create index if not exists moderation_decisions_by_rule on moderation_decisions (app_id, rule_id, id)',
  // bans, kicks and blocks that are still to be done
  'create index if not exists moderation_decisions_to_enact on moderation_decisions (app_id, message) where not acted',

  // Messages that people are to look at. by_rule: the rules that flagged it, as [{ruleId, ruleName, revision, condition}].
  `create table if not exists moderation_queue (
    app_id integer not null,
    message bigint not null,
    opened_at bigint not null,
    by_rule json not null default '[]',
    status text not null default 'open',
    primary key (app_id, message)
  )`,
  "create index if not exists moderation_queue_open on moderation_queue (app_id, opened_at, message) where status = 'open'",
]
