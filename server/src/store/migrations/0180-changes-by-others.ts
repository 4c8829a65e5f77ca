import type { Kysely } from 'kysely'
import { buildIndex } from './migration.ts'

/** There may be very many messages already. */
export const outside = true

export async function up(db: Kysely<unknown>): Promise<void> {
  // Who has changed messages of others, or pinned them, also where nothing else tells of it: to forget it when they are erased
  // (`forgetChanges` of chat/messages/tables.ts, and the certificate). Few messages are in these indexes, and no mark writes to them.
  for (const column of ['edited_by', 'deleted_by']) {
    await buildIndex(db, `messages_${column}_others`, `on messages (app_id, ${column}) where ${column} <> sender`)
  }
  await buildIndex(db, 'pinned_messages_by_user', 'on pinned_messages (app_id, pinned_by)')
}
