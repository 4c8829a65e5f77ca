import type { Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { AddingFeature, Addition } from './additions.ts'
import type { MessageRow } from './rows.ts'
import type { ShowOptions } from './show.ts'
import { traits } from './traits.ts'

/**
 * The offset keeps it a look for each, and the range one by key. The planner believes that where apps are many each user
 * has given next to nothing: it would search for each one through all that they gave.
 */
const isMineSql = (viewer: string) => `exists (
      select from reactions r
      where r.app_id = c.app_id
      and r.message_id = c.message_id
      and r.reaction = c.reaction
      and r.uid between ${viewer} and ${viewer}
      offset 0
    )`

const selectCounts = statement(`
  select c.message_id as "messageId", c.reaction, c.count, ${isMineSql('$3')} as "isMine"
  from reaction_counts c
  where c.app_id = $1
  and c.message_id = any($2::bigint[])
  order by c.message_id, c.first_id`)

/** How many gave a reaction to a message, and whether the viewer did. */
export interface CountedReaction {
  readonly messageId: number
  readonly reaction: string
  readonly count: number
  readonly isMine: boolean
}

/**
 * The counts of some messages in one text, null where there are none: for statements that read a page. `unpackReactions` reads it.
 * @param ids `bigint[]`, may be null
 */
export function packReactions(appId: string, ids: string, viewer: string): string {
  return `(
      select string_agg(
        concat_ws(' ', c.message_id, c.count, ${isMineSql(viewer)}, to_json(c.reaction)), E'\\x1e' order by c.message_id, c.first_id
      )
      from reaction_counts c
      where c.app_id = ${appId}
      and c.message_id = any(${ids})
    )`
}

export function unpackReactions(packed: string | null): CountedReaction[] {
  if (packed === null) return []
  return packed.split('\x1e').map((line) => {
    const [messageId, count, isMine, ...reaction] = line.split(' ')
    return {
      messageId: Number(messageId),
      reaction: JSON.parse(reaction.join(' ')),
      count: Number(count),
      isMine: isMine === 't',
    }
  })
}

/** Adds how many gave each reaction, in the order in which they came up: in `data` and beside it, clients read either. */
export const reactionsOfMessages: AddingFeature = { bits: traits.reactions, read: readReactionsOf }

type ReactionCount = NonNullable<Message['reactions']>[number]

async function readReactionsOf(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  { viewer, along }: ShowOptions,
): Promise<Map<number, Addition>> {
  const values = [appId, rows.map((row) => row.id), viewer ?? null]
  const counted = along?.reactions ?? (await on.query<CountedReaction>(selectCounts, values))
  const byMessage = new Map<number, ReactionCount[]>()
  for (const { messageId, reaction, count, isMine } of counted) {
    const reactions = byMessage.get(messageId) ?? []
    reactions.push({ reaction, count, ...(isMine && { reactedByMe: true }) })
    byMessage.set(messageId, reactions)
  }
  return new Map([...byMessage].map(([id, reactions]) => [id, { fields: { reactions }, data: { reactions } }]))
}
