import {
  type GroupReceiptSubscriptions,
  publishRisen,
  type RisenRow,
  raiseAndPublishGroupReceipts,
  raiseGroupReceipts,
} from '../../chat/conversations/group-receipts.ts'
import type { Events } from '../../events/index.ts'
import type { Query } from '../../store/channel.ts'
import { type Coalescer, createCoalescer } from '../../store/coalesce.ts'
import { isConnectionFailure, isRetryable } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { type Statement, statement } from '../../store/statement.ts'
import type { Marked } from './marks.ts'

/** A mark of one member in the conversation of a group. */
export interface GroupMark {
  readonly appId: number
  readonly guid: string
  /** Key of the group's conversation. */
  readonly conversation: number
  readonly statement: Statement
  /** As the statement takes them. */
  readonly values: unknown[]
  /** Who hears when it was the last one that was missing. */
  readonly subscribed: GroupReceiptSubscriptions
}

/**
 * Writes marks in groups, coalesced like sends: when many members read at once, they share the conversation's lock, the
 * look for the lowest mark and the commit, instead of waiting for one another.
 */
export interface GroupMarkWriter {
  /** @returns what the statement gave */
  write(mark: GroupMark): Promise<Marked | undefined>
  drain(): Promise<void>
}

const maxBatch = 64
const maxAttempts = 4

const lockConversations = statement(`
  select c.key
  from conversations c
  where (c.app_id, c.key) in (select r.app_id, r.key from unnest($1::int[], $2::bigint[]) as r(app_id, key))
  order by c.app_id, c.key
  for no key update of c`)

export function createGroupMarkWriter(database: Database, events: Events): GroupMarkWriter {
  const channel = database.openChannel('parley marks')

  const write = async (marks: readonly GroupMark[]): Promise<Array<Marked | undefined>> => {
    const now = Math.floor(Date.now() / 1000)
    const appIds = marks.map(({ appId }) => appId)
    const queries = [
      { ...lockConversations, values: [appIds, marks.map(({ conversation }) => conversation)] },
      ...marks.map((mark) => ({ ...mark.statement, values: mark.values })),
      settling(marks, now),
    ]
    for (let attempt = 1; ; attempt++) {
      try {
        const results = await channel.transaction(queries)
        publishRisen(events, (results.at(-1)?.rows ?? []) as RisenRow[], now)
        return marks.map((_, i) => results[i + 1]?.rows[0] as Marked | undefined)
      } catch (error) {
        if (attempt === maxAttempts || !isRetryable(error)) throw error
      }
    }
  }
  const marks: Coalescer<GroupMark, Marked | undefined> = createCoalescer({
    maxBatch,
    maxInFlight: 1,
    write,
    isDivisible: (error) => !isConnectionFailure(error),
  })
  return { write: marks.submit, drain: marks.drain }
}

function settling(marks: readonly GroupMark[], now: number): Query {
  const values = [marks.map(({ appId }) => appId), marks.map(({ guid }) => guid), now]
  if (!marks.some(({ subscribed }) => subscribed.isHeard)) return { ...raiseGroupReceipts, values }
  return {
    ...raiseAndPublishGroupReceipts,
    values: [
      ...values,
      marks.map(({ subscribed }) => subscribed.isHeard),
      marks.map(({ subscribed }) => subscribed.keepsDelivered),
      marks.map(({ subscribed }) => subscribed.keepsRead),
    ],
  }
}
