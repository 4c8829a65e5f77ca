import type { Kysely } from 'kysely'
import { buildIndex } from './migration.ts'

/** There may be very many sides already. */
export const outside = true

export async function up(db: Kysely<unknown>): Promise<void> {
  // With `conversation_states_by_read`, which has those of members, all sides of a conversation: to remove a group or a conversation for everybody
  // (`everySide`). Messages and marks do not touch its columns: a side is entered when it is made, and when a member leaves.
  await buildIndex(db, 'conversation_states_left', 'on conversation_states (app_id, conversation) where not member')
}
