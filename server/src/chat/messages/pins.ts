import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { AddingFeature, Addition } from './additions.ts'
import type { MessageRow } from './rows.ts'
import { traits } from './traits.ts'

const readPins = statement(`
  select message_id as "messageId", pinned_by as "pinnedBy", pinned_at as "pinnedAt"
  from unnest($2::bigint[], $3::bigint[]) as wanted(conversation, id)
  join pinned_messages p on p.app_id = $1 and p.conversation = wanted.conversation and p.message_id = wanted.id`)

/** Adds `pinnedBy` and `pinnedAt` to pinned messages. */
export const pinsOfMessages: AddingFeature = { bits: traits.pinned, read: readPinsOf }

async function readPinsOf(on: Queryable, appId: number, rows: readonly MessageRow[]): Promise<Map<number, Addition>> {
  const pins = await on.query<{ messageId: number; pinnedBy: string; pinnedAt: number }>(readPins, [
    appId,
    rows.map((row) => row.conversation),
    rows.map((row) => row.id),
  ])
  return new Map(pins.map(({ messageId, pinnedBy, pinnedAt }) => [messageId, { fields: { pinnedBy, pinnedAt } }]))
}
