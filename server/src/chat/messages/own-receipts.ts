import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Addition } from './additions.ts'
import { receiptsOf, stepsOfPage } from './receipts.ts'
import type { MessageRow } from './rows.ts'

/** For all messages of a page in a conversation at once. */
const select = statement(`
  with page as materialized (
    select *
    from unnest($3::bigint[], $4::bigint[], $5::bigint[]) as r(conversation, sent_at, id)
  )
  select c.conversation,
    ${stepsOfPage('(select r.sent_at, r.id from page r where r.conversation = c.conversation)', '$1', 'c.conversation', 'array[$2::text]')} as steps
  from (select distinct conversation from page) c`)

/**
 * When messages of others were delivered to a viewer and read by them. One-to-one these are the receipts that everybody
 * sees; in groups the viewer's own marks tell.
 */
export async function readOwnReceipts(
  on: Queryable,
  appId: number,
  viewer: string,
  rows: readonly MessageRow[],
): Promise<ReadonlyMap<number, Addition>> {
  const ofOthers = rows.filter(({ sender }) => sender !== viewer)
  const inGroups = ofOthers.filter(({ kind }) => kind === 2)
  const found =
    inGroups.length === 0
      ? []
      : await on.query<{ conversation: number; steps: string | null }>(select, [
          appId,
          viewer,
          inGroups.map(({ conversation }) => conversation),
          inGroups.map(({ sentAt }) => sentAt),
          inGroups.map(({ id }) => id),
        ])
  const receiptsIn = new Map(found.map(({ conversation, steps }) => [conversation, receiptsOf(steps, [viewer])]))
  return new Map(
    ofOthers.map((row): [number, Addition] => {
      const own = row.kind === 2 ? receiptsIn.get(row.conversation)?.({ ...row, deliveredAt: null, readAt: null }) : row
      const deliveredToMeAt = own?.deliveredAt ?? row.deliveredAt
      const readByMeAt = own?.readAt ?? row.readAt
      const fields = {
        ...(deliveredToMeAt !== null && { deliveredToMeAt }),
        ...(readByMeAt !== null && { readByMeAt }),
      }
      return [row.id, { fields }]
    }),
  )
}
