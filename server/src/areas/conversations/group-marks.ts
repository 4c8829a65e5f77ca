import {
  type GroupReceiptSubscriptions,
  publishRisen,
  type RisenRow,
  raiseAndPublishGroupReceipts,
  raiseGroupReceipts,
} from '../../chat/conversations/group-receipts.ts'
import type { Events } from '../../events/index.ts'
import type { Channel, Query } from '../../store/channel.ts'
import { type Coalescer, createCoalescer } from '../../store/coalesce.ts'
import { isConnectionFailure, isRetryable } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { createHeldApart, hurry, patienceMs, settingsOfPatience } from '../../store/held.ts'
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

/** Which of these conversations somebody else has locked, by their places from 1. Waits for nobody. */
const findHeld = statement(`
  select r.n::int as place
  from unnest($1::int[], $2::bigint[]) with ordinality as r(app_id, key, n)
  where exists (
    select
    from conversations c
    where c.app_id = r.app_id and c.key = r.key
    and not exists (
      select
      from (select v.key from conversations v where v.app_id = c.app_id and v.key = c.key for no key update skip locked) free
    )
  )`)

export function createGroupMarkWriter(database: Database, events: Events): GroupMarkWriter {
  const channel = database.openChannel('parley marks', settingsOfPatience(patienceMs))
  const isDivisible = (error: unknown) => !isConnectionFailure(error)

  const write = async (channel: Channel, marks: readonly GroupMark[], isHurried: boolean) => {
    const now = Math.floor(Date.now() / 1000)
    const appIds = marks.map(({ appId }) => appId)
    const before = isHurried ? [hurry] : []
    const queries = [
      ...before,
      { ...lockConversations, values: [appIds, marks.map(({ conversation }) => conversation)] },
      ...marks.map((mark) => ({ ...mark.statement, values: mark.values })),
      raiseReceiptsOf(marks, now),
    ]
    for (let attempt = 1; ; attempt++) {
      try {
        const results = await channel.transaction(queries)
        publishRisen(events, (results.at(-1)?.rows ?? []) as RisenRow[], now)
        return marks.map((_, i) => results[before.length + 1 + i]?.rows[0] as Marked | undefined)
      } catch (error) {
        if (attempt === maxAttempts || !isRetryable(error)) throw error
      }
    }
  }
  const held = createHeldApart<GroupMark, Marked | undefined>({
    ...{ database, name: 'parley marks apart', maxBatch, isDivisible },
    appOf: ({ appId }) => appId,
    nameOf: ({ appId, conversation }) => `${appId} ${conversation}`,
    resume: (items) => marks.resume(items),
    write: (channel, marks, { isHurried }) => write(channel, marks, isHurried),
    async findHeld(channel, marks) {
      const values = [marks.map(({ appId }) => appId), marks.map(({ conversation }) => conversation)]
      const { rows } = await channel.query({ ...findHeld, values })
      return rows.map(({ place }) => place - 1)
    },
  })
  const marks: Coalescer<GroupMark, Marked | undefined> = createCoalescer({
    maxBatch,
    maxInFlight: 1,
    write: (marks) => held.write(channel, marks),
    isDivisible,
  })
  return { write: marks.submit, drain: () => marks.drain().then(held.drain) }
}

function raiseReceiptsOf(marks: readonly GroupMark[], now: number): Query {
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
