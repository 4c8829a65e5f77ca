import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Addition } from './additions.ts'
import { type Receipts, receiptsOf, stepsOfPage } from './receipts.ts'
import type { MessageRow } from './rows.ts'

/** For all messages of a page in a conversation at once. */
const select = statement(`
  select c.conversation,
    ${stepsOfPage({ appId: '$1', conversation: 'c.conversation', receivers: 'array[$2::text]', oldest: 'c.oldest', newest: 'c.newest' })} as steps
  from (
    select r.conversation, min(r.sent_at) as oldest, max(r.sent_at) as newest
    from unnest($3::bigint[], $4::bigint[]) as r(conversation, sent_at)
    group by r.conversation
  ) c`)

/** By the keys of their conversations: when messages of a page were received by the viewer, who asked for it. */
export type OwnReceipts = ReadonlyMap<number, Receipts>

/**
 * When messages of others were delivered to a viewer and read by them. One-to-one these are the receipts that everybody
 * sees; in groups the viewer's own marks tell.
 * @param known what was read already of the groups
 */
export async function readOwnReceipts(
  on: Queryable,
  appId: number,
  viewer: string,
  rows: readonly MessageRow[],
  known?: OwnReceipts,
): Promise<(row: MessageRow) => Addition | undefined> {
  const inGroups = rows.filter(({ kind, sender }) => kind === 'group' && sender !== viewer)
  const receiptsIn = known ?? (await readInGroups(on, appId, viewer, inGroups))
  return (row) => {
    if (row.sender === viewer) return undefined
    const own = row.kind === 'group' ? receiptsIn.get(row.conversation)?.(row) : row
    const deliveredToMeAt = own?.deliveredAt ?? row.deliveredAt
    const readByMeAt = own?.readAt ?? row.readAt
    if (deliveredToMeAt === null && readByMeAt === null) return undefined
    const fields = { ...(deliveredToMeAt !== null && { deliveredToMeAt }), ...(readByMeAt !== null && { readByMeAt }) }
    return { fields }
  }
}

async function readInGroups(
  on: Queryable,
  appId: number,
  viewer: string,
  rows: readonly MessageRow[],
): Promise<OwnReceipts> {
  if (rows.length === 0) return new Map()
  const found = await on.query<{ conversation: number; steps: string | null }>(select, [
    appId,
    viewer,
    rows.map(({ conversation }) => conversation),
    rows.map(({ sentAt }) => sentAt),
  ])
  return new Map(found.map(({ conversation, steps }) => [conversation, receiptsOf(steps, [viewer]).by(viewer)]))
}
