import type { Kysely } from 'kysely'
import { buildIndex } from './migration.ts'

/** There may be very many messages already. */
export const outside = true

export async function up(db: Kysely<unknown>): Promise<void> {
  // Action messages of groups about a user who may have left nothing else there, as they were banned without ever being a member: to erase them
  // (`selectGroups` of areas/users/deletion.ts, and the certificate). Only sends and edits write to it; marks do not.
  await buildIndex(
    db,
    'messages_about_users',
    `on messages (app_id, (data #>> '{entities,on,entity,uid}')) where category = 'action' and type = 'groupMember'`,
  )
  // Who did it is the sender, but for what was imported.
  await buildIndex(
    db,
    'messages_by_others',
    `on messages (app_id, (data #>> '{entities,by,entity,uid}'))
      where category = 'action' and type = 'groupMember' and data #>> '{entities,by,entity,uid}' <> sender`,
  )
}
