import type { Message } from '@parley/contract'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { AddingFeature, Addition } from '../additions.ts'
import type { StoredMessage } from '../rows.ts'
import type { ShowOptions } from '../show.ts'
import { traits } from '../traits.ts'

const selectCounts = statement(`
  select c.message_id as "messageId", c.reaction, c.count, mine.uid is not null as "isMine"
  from reaction_counts c
  left join reactions mine
    on mine.app_id = c.app_id and mine.message_id = c.message_id and mine.reaction = c.reaction and mine.uid = $3
  where c.app_id = $1
  and c.message_id = any($2::bigint[])
  order by c.message_id, c.first_id`)

/** Adds how many gave each reaction, in the order in which they came up: in `data` and beside it, clients read either. */
export const reactionsOfMessages: AddingFeature = { bits: traits.reactions, read: readReactionsOf }

type ReactionCount = NonNullable<Message['reactions']>[number]

async function readReactionsOf(
  on: Queryable,
  appId: number,
  rows: readonly StoredMessage[],
  { viewer }: ShowOptions,
): Promise<Map<number, Addition>> {
  const values = [appId, rows.map((row) => row.id), viewer ?? null]
  const counted = await on.query<{ messageId: number; reaction: string; count: number; isMine: boolean }>(
    selectCounts,
    values,
  )
  const byMessage = new Map<number, ReactionCount[]>()
  for (const { messageId, reaction, count, isMine } of counted) {
    const reactions = byMessage.get(messageId) ?? []
    reactions.push({ reaction, count, ...(isMine && { reactedByMe: true }) })
    byMessage.set(messageId, reactions)
  }
  return new Map([...byMessage].map(([id, reactions]) => [id, { fields: { reactions }, data: { reactions } }]))
}
