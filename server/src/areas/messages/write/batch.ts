import { plainArray } from '../../../store/arrays.ts'
import type { Query } from '../../../store/channel.ts'
import { arrayLiteral } from '../../../store/statement.ts'
import { type RisenRow, settleAndTell, settleGroupReceipts } from '../../conversations/index.ts'
import { growThreadsOf } from '../threads/grow.ts'
import { createConversations, lockKeys } from './conversations.ts'
import { type MessageRow, partsOf, type WrittenRow } from './row.ts'
import { writeAndTell, writeMessages } from './statement.ts'

/** The statements of one batch, in the order in which they run in its transaction. */
export function batchQueries(rows: readonly MessageRow[], options: { create: boolean; now: number }): Query[] {
  const parts = rows.map(partsOf)
  const appIds = plainArray(rows.map((row) => row.appId))
  const kinds = plainArray(rows.map((row) => row.kind))
  const firsts = parts.map(([first]) => first)
  const seconds = parts.map(([, second]) => second)

  const queries: Query[] = []
  if (options.create) {
    const pairs = rows.flatMap((row, i) => (row.kind === 1 ? [i] : []))
    const pick = <T>(read: (i: number) => T) => pairs.map(read)
    const values = [pick((i) => rows[i]?.appId), pick((i) => firsts[i]), pick((i) => seconds[i]), options.now, false]
    queries.push({ ...createConversations, values })
  }
  queries.push({ ...lockKeys, values: [appIds, kinds, firsts, seconds] })
  const column = <T>(read: (row: MessageRow) => T) => rows.map(read)
  const isTold = rows.some(({ told }) => told.bits !== 0)
  queries.push({
    ...(isTold ? writeAndTell : writeMessages),
    values: [
      plainArray(rows.map((_, n) => n)),
      appIds,
      column((row) => row.sender),
      kinds,
      column((row) => row.receiver),
      firsts,
      seconds,
      column((row) => row.category),
      column((row) => row.type),
      column((row) => row.data),
      column((row) => row.muid),
      plainArray(column((row) => row.parentId)),
      plainArray(column((row) => row.quotedId)),
      column((row) => (row.tags === null ? null : arrayLiteral(row.tags))),
      plainArray(column((row) => row.traits)),
      plainArray(column((row) => row.countable)),
      plainArray(column((row) => row.asApp)),
      plainArray(column((row) => row.deniedScopes)),
      plainArray(column((row) => row.permissionsVersion)),
      plainArray(whereBothWrite(rows, parts)),
      options.now,
      column((row) => row.roleRules),
      column((row) => (row.mentioned === null ? null : arrayLiteral(row.mentioned))),
      plainArray(column(({ told }) => told.bits)),
    ],
  })
  const groups = rows.filter(({ kind }) => kind === 2)
  if (groups.length > 0) queries.push(settling(groups, options.now))
  queries.push(...growThreadsOf(rows, options.now))
  return queries
}

/** Raises the staircases of the groups that were written into. */
function settling(rows: readonly MessageRow[], now: number): Query {
  const groups = [rows.map(({ appId }) => appId), rows.map(({ receiver }) => receiver), now]
  if (!rows.some(({ told }) => told.ofAll.isHeard)) return { ...settleGroupReceipts, values: groups }
  const ofAll = rows.map(({ told }) => told.ofAll)
  return {
    ...settleAndTell,
    values: [
      ...groups,
      ofAll.map(({ isHeard }) => isHeard),
      ofAll.map(({ keepsDelivered }) => keepsDelivered),
      ofAll.map(({ keepsRead }) => keepsRead),
    ],
  }
}

/** What `settling` gave: staircases that rose, where somebody hears of it. */
export function risenRows(results: ReadonlyArray<{ rows: unknown[] }>, options: { create: boolean }): RisenRow[] {
  return (results[options.create ? 3 : 2]?.rows ?? []) as RisenRow[]
}

/** The position of the `writeMessages` result among the results of a batch. */
export function writtenRows(results: ReadonlyArray<{ rows: unknown[] }>, options: { create: boolean }): WrittenRow[] {
  return (results[options.create ? 2 : 1]?.rows ?? []) as WrittenRow[]
}

/** For each row: do several senders write into its conversation in this batch? */
function whereBothWrite(rows: readonly MessageRow[], parts: ReadonlyArray<[string, string]>): boolean[] {
  const senders = new Map<string, string | true>()
  const keys = rows.map((row, i) => `${row.appId} ${row.kind} ${parts[i]?.join(' ')}`)
  for (const [i, row] of rows.entries()) {
    const key = keys[i] as string
    const known = senders.get(key)
    senders.set(key, known === undefined || known === row.sender ? row.sender : true)
  }
  return keys.map((key) => senders.get(key) === true)
}
