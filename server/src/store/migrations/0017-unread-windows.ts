import { type Kysely, sql } from 'kysely'

/**
 * E-mails and SMS are sent for what stays unread. The first unread message of a conversation opens a window, which is a delivery
 * that is due at its end; what comes meanwhile opens none. It is closed when it is looked at: from then on the next message
 * opens the next one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // opened: position of the message that opened it; until: of the last one that it may tell of, null until it is looked at
  // closed_at: epoch milliseconds, null while it is open
  `alter table notification_deliveries
    add column if not exists opened_sent_at bigint,
    add column if not exists opened_id bigint,
    add column if not exists until_sent_at bigint,
    add column if not exists until_id bigint,
    add column if not exists closed_at bigint`,
  // one open window for each conversation and channel of a user
  `create unique index if not exists notification_windows
    on notification_deliveries (app_id, uid, channel, conversation)
    where channel <> 'push' and due_at is not null and closed_at is null`,
  // what was sent to a user on a day, and of a conversation at last
  `create index if not exists notification_deliveries_by_closing
    on notification_deliveries (app_id, uid, channel, closed_at)
    where closed_at is not null`,

  // an address that its provider has refused for good: what is equal to it is not written to
  `alter table notification_contacts
    add column if not exists refused_email text,
    add column if not exists refused_phone text`,
]
