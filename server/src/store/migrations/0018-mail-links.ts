import { type Kysely, sql } from 'kysely'

/** What e-mails carry: links that end them, and addresses that replies go to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // who wants no more e-mail (or SMS); conversation: only of that one; null: of none. since: epoch milliseconds
  `create table if not exists notification_unsubscriptions (
    app_id integer not null,
    uid text collate "C" not null,
    channel text collate "C" not null,
    conversation bigint,
    since bigint not null
  )`,
  `create unique index if not exists notification_unsubscriptions_key
    on notification_unsubscriptions (app_id, uid, channel, conversation) nulls not distinct`,
  // what goes with a conversation
  `create index if not exists notification_unsubscriptions_by_conversation
    on notification_unsubscriptions (app_id, conversation) where conversation is not null`,

  // who is written to about which conversation; the addresses for replies name id
  `create table if not exists notification_correspondences (
    app_id integer not null,
    id bigint generated always as identity,
    uid text collate "C" not null,
    conversation bigint not null,
    primary key (app_id, id)
  )`,
  `create unique index if not exists notification_correspondences_key
    on notification_correspondences (app_id, uid, conversation)`,
  // what goes with a conversation
  `create index if not exists notification_correspondences_by_conversation
    on notification_correspondences (app_id, conversation)`,
]
