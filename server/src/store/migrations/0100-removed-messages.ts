import type { Kysely } from 'kysely'
import { buildIndex, dropIndex } from './migration.ts'

/** There may be very many messages already. */
export const outside = true

/**
 * Messages that were removed for good leave only their positions: these are no longer in the way of whoever reads a conversation, which does not get
 * slower by what retention removes.
 *
 * Said so that both `countable` and `not purged` imply it, of which each statement of 0.1.0 says one that reads a conversation where it has to be quick.
 * So the index of before goes at once, and no message is written to both for longer than this takes. What says neither, in processes of 0.1.0 that
 * still run, reads all messages of an app: deleting users and groups for good, imports with times of receipts, exports for a
 * person, retention of groups, and the doctor.
 *
 * `messages_by_time`, `messages_by_type` and `messages_by_category` could become such ones only in two versions: lists of 0.1.0 that look at what the
 * app says next ask them without saying either.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // history pages of a conversation, and unread counts from the index alone
  await buildIndex(
    db,
    'messages_there_by_conversation',
    'on messages (app_id, conversation, sent_at, id) include (sender, countable) where countable or not purged',
  )
  // the positions of what was removed: they go with their conversation (`everyMessage`), and are its end at times (the doctor)
  await buildIndex(db, 'messages_removed', 'on messages (app_id, conversation, sent_at, id) where purged')
  await dropIndex(db, 'messages_by_conversation')
}
