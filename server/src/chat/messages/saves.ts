import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { AddingFeature, Addition } from './additions.ts'
import type { MessageRow } from './rows.ts'
import type { ShowOptions } from './show.ts'
import { traits } from './traits.ts'

const readSaves = statement(`
  select message_id as "messageId", saved_at as "savedAt"
  from saved_messages
  where app_id = $1
  and uid = $2
  and message_id = any($3::bigint[])`)

/** Adds `savedAt` to messages that the viewer has saved; nobody else sees it. */
export const savesOfMessages: AddingFeature = { bits: traits.saved, read: readSavesOf }

async function readSavesOf(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  { viewer }: ShowOptions,
): Promise<Map<number, Addition>> {
  if (viewer === undefined) return new Map()
  const values = [appId, viewer, rows.map((row) => row.id)]
  const saves = await on.query<{ messageId: number; savedAt: number }>(readSaves, values)
  return new Map(saves.map(({ messageId, savedAt }) => [messageId, { fields: { savedAt } }]))
}
