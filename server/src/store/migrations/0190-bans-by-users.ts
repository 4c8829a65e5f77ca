import type { Kysely } from 'kysely'
import { buildIndex } from './migration.ts'

/** There may be very many bans already. */
export const outside = true

export async function up(db: Kysely<unknown>): Promise<void> {
  // Whom somebody has banned, also in groups where nothing else tells of them, as after an import: to forget who it was when they are
  // erased (`selectGroups` of areas/users/deletion.ts, chat/groups/tables.ts, and the certificate).
  await buildIndex(db, 'group_bans_by_banner', 'on group_bans (app_id, banned_by)')
}
