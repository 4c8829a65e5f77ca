import { type Coalescer, createCoalescer } from '../../store/coalesce.ts'
import { isConnectionFailure, isRetryable } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { type Statement, statement } from '../../store/statement.ts'
import { settleGroupReceipts } from './membership.ts'

/** A mark of one member in the conversation of a group. */
export interface GroupMark {
  readonly appId: number
  readonly guid: string
  /** Key of the group's conversation. */
  readonly conversation: number
  readonly statement: Statement
  /** As the statement takes them. */
  readonly values: unknown[]
}

/**
 * Writes marks in groups, coalesced like sends: when many members read at once, they share the conversation's lock, the
 * look for the lowest mark and the commit, instead of waiting for one another.
 */
export interface GroupMarkWriter {
  write(mark: GroupMark): Promise<void>
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

export function createGroupMarkWriter(database: Database): GroupMarkWriter {
  const channel = database.openChannel('parley marks')

  const write = async (marks: readonly GroupMark[]): Promise<undefined[]> => {
    const now = Math.floor(Date.now() / 1000)
    const appIds = marks.map(({ appId }) => appId)
    const queries = [
      { ...lockConversations, values: [appIds, marks.map(({ conversation }) => conversation)] },
      ...marks.map((mark) => ({ ...mark.statement, values: mark.values })),
      { ...settleGroupReceipts, values: [appIds, marks.map(({ guid }) => guid), now] },
    ]
    for (let attempt = 1; ; attempt++) {
      try {
        await channel.transaction(queries)
        return marks.map(() => undefined)
      } catch (error) {
        if (attempt === maxAttempts || !isRetryable(error)) throw error
      }
    }
  }
  const marks: Coalescer<GroupMark, undefined> = createCoalescer({
    maxBatch,
    maxInFlight: 1,
    write,
    isDivisible: (error) => !isConnectionFailure(error),
  })
  return { write: marks.submit, drain: marks.drain }
}
