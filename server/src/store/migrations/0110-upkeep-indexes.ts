import type { Kysely } from 'kysely'
import { buildIndex, dropIndex } from './migration.ts'

/** Weeks of deliveries and figures may be there already. */
export const outside = true

export async function up(db: Kysely<unknown>): Promise<void> {
  // What is too old goes (delivery/webhooks/upkeep.ts). By ranges of pages it was found only by reading most of the table.
  await buildIndex(db, 'webhook_deliveries_by_creation', 'on webhook_deliveries (created_at)')
  await dropIndex(db, 'webhook_deliveries_by_age')
  // What is to be added up (chat/usage/add-up.ts): what a process wrote, and what is kept in stretches of five minutes.
  await buildIndex(
    db,
    'usage_messages_of_processes',
    `on usage_messages (bucket) where process <> '00000000-0000-0000-0000-000000000000'::uuid`,
  )
  await buildIndex(db, 'usage_messages_of_stretches', 'on usage_messages (bucket) where bucket % 288 <> 0')
  await dropIndex(db, 'usage_messages_by_age')
}
