import type { Queryable } from '../../store/database.ts'
import { placedLookup } from '../../store/lookups.ts'
import { inOrder, statement } from '../../store/statement.ts'
import type { Addition } from './additions.ts'
import { type Receipts, receiptsOf, stepsOfPage } from './receipts.ts'
import type { MessageRow } from './rows.ts'

const steps = stepsOfPage({
  appId: '$1',
  conversation: 'w.conversation',
  receivers: 'array[w.viewer]',
  oldest: 'w.oldest',
  newest: 'w.newest',
})

type Row = readonly [place: number, conversation: number, steps: string | null]

/** So many conversations at once: while the database reads the next ones, the service writes the first. */
const atOnce = 64

/** For all messages of a page in a conversation at once. */
const select = placedLookup<Row>(
  inOrder(
    statement(`
  select w.place::int, w.conversation, ${steps}
  from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) with ordinality
    as w(viewer, conversation, oldest, newest, place)`),
  ),
  ([place]) => place,
  atOnce,
)

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
    const deliveredToMeAt = own?.deliveredAt ?? undefined
    const readByMeAt = own?.readAt ?? undefined
    if (deliveredToMeAt === undefined && readByMeAt === undefined) return undefined
    return {
      fields: {
        ...(deliveredToMeAt !== undefined && { deliveredToMeAt }),
        ...(readByMeAt !== undefined && { readByMeAt }),
      },
    }
  }
}

async function readInGroups(
  on: Queryable,
  appId: number,
  viewer: string,
  rows: readonly MessageRow[],
): Promise<OwnReceipts> {
  if (rows.length === 0) return new Map()
  const spans = new Map<number, { oldest: number; newest: number }>()
  for (const { conversation, sentAt } of rows) {
    const span = spans.get(conversation)
    if (span === undefined) spans.set(conversation, { oldest: sentAt, newest: sentAt })
    else spans.set(conversation, { oldest: Math.min(span.oldest, sentAt), newest: Math.max(span.newest, sentAt) })
  }
  const found = await on.query<Row>(select, [
    appId,
    Array.from(spans, () => viewer),
    [...spans.keys()],
    Array.from(spans.values(), ({ oldest }) => oldest),
    Array.from(spans.values(), ({ newest }) => newest),
  ])
  return new Map(found.map(([, conversation, steps]) => [conversation, receiptsOf(steps, [viewer]).by(viewer)]))
}
