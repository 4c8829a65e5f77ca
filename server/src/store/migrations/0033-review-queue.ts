import { type Kysely, sql } from 'kysely'

/** What was deleted waits for nobody: it leaves the queues, and not only the lists of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // how many wait for an engine, and since when: since updated_at, since a row may be older than the edit that waits
  `create index if not exists message_moderation_waiting
    on message_moderation (app_id, updated_at) where status = 'pending' and due_at is not null`,
  'drop index if exists message_moderation_pending',

  // moderation_queue.status is open, what a reviewer decided, or deleted
  `update moderation_queue q
    set status = 'deleted'
    from messages m
    where q.status = 'open'
    and m.app_id = q.app_id
    and m.id = q.message
    and m.deleted_at is not null`,
  // message_moderation.status is deleted of a message that was held then
  `update message_moderation h
    set status = 'deleted',
      due_at = null
    from messages m
    where h.status in ('pending', 'disapproved')
    and m.app_id = h.app_id
    and m.id = h.message
    and m.deleted_at is not null`,
]
