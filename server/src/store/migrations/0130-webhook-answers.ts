import { type Kysely, sql } from 'kysely'
import { buildIndex } from './migration.ts'

/** There may be a week of deliveries already. */
export const outside = true

/** So many rows are locked no longer than a delivery waits. */
const atOnce = 2_000

/**
 * An endpoint may repeat what it was sent, and answers of failed attempts are kept: they go with what they may repeat. `message` is what a
 * kept answer was about; null where none is kept, and where it was about no message.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook_deliveries add column if not exists message bigint`.execute(db)
  // answers that are forgotten with a message, a conversation or a user (chat/messages/forget-answers.ts, areas/webhooks/tables.ts)
  await buildIndex(
    db,
    'webhook_deliveries_answered',
    'on webhook_deliveries (app_id, conversation, message) where answer is not null',
  )
  // What was kept before does not say what it was about. It would have gone within days.
  for (let cleared = atOnce; cleared === atOnce; ) {
    const { numAffectedRows } = await sql`
      update webhook_deliveries
      set answer = null
      where ctid = any(array(
        select ctid
        from webhook_deliveries
        where answer is not null
        and message is null
        and not sample
        limit ${atOnce}
        for update skip locked
      ))`.execute(db)
    cleared = Number(numAffectedRows)
  }
}
