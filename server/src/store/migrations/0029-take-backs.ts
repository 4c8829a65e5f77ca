import { type Kysely, sql } from 'kysely'

/** What is read on one device is taken back on the others, by a delivery of its own that names the messages. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // messages: of what is taken back: which; null until it is looked at. closed_at: when that was
  'alter table notification_deliveries add column if not exists messages bigint[]',
  // one that is still open for each device
  `create unique index if not exists notification_take_backs_open
    on notification_deliveries (app_id, uid, provider, digest) nulls not distinct
    where trigger = 'messages_read' and due_at is not null and closed_at is null`,
  // what was taken back before on the devices of a user
  `create index if not exists notification_take_backs on notification_deliveries (app_id, uid, id)
    where trigger = 'messages_read'`,
]
