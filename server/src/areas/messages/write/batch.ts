import {
  type RisenRow,
  raiseAndPublishGroupReceipts,
  raiseGroupReceipts,
} from '../../../chat/conversations/group-receipts.ts'
import { isHeld, traits } from '../../../chat/messages/traits.ts'
import { type ConversationParts, partsOf } from '../../../chat/naming.ts'
import { plainArray, textArray } from '../../../store/arrays.ts'
import type { Query } from '../../../store/channel.ts'
import { growThreadsOf } from '../threads/grow.ts'
import { judgedRows, sentRows, tracedRows } from './columns.ts'
import { createConversations, lockKeys } from './conversations.ts'
import { eventBits, type NewMessageRow, nameOf, type Received, type WrittenRow } from './row.ts'
import { writeStatement } from './statement.ts'

/** What names the conversations that a batch locks. */
const lockedBy = ['app_id', 'kind', 'first', 'second'].map(sentRows.indexOf)

/** The statements of one batch, in the order in which they run in its transaction. */
export function batchQueries(rows: readonly NewMessageRow[], options: { create: boolean; now: number }): Query[] {
  const parts = rows.map(partsOf)
  const bothWrite = whereBothWrite(rows, parts)
  const values = sentRows.values(
    rows.map((row, n) => {
      const [first, second] = parts[n] as ConversationParts
      return { n, row, first, second, bothWrite: bothWrite[n] as boolean }
    }),
  )

  const queries: Query[] = []
  if (options.create) {
    const pairs = rows.flatMap(({ kind, appId }, i) =>
      kind === 'user' ? [{ appId, parts: parts[i] as ConversationParts }] : [],
    )
    queries.push({
      ...createConversations,
      values: [
        plainArray(pairs.map(({ appId }) => appId)),
        textArray(pairs.map(({ parts: [first] }) => first)),
        textArray(pairs.map(({ parts: [, second] }) => second)),
        options.now,
        false,
      ],
    })
  }
  queries.push({ ...lockKeys, values: lockedBy.map((column) => values[column]) })
  const judged = rows.flatMap(({ moderation }, n) => (moderation === undefined ? [] : { n, records: moderation }))
  const moderated = judged.length > 0 || rows.some((row) => isHeld(row) || raisesVerdict(row))
  const traces = rows.flatMap(({ span, subscribed }, n) =>
    span === undefined || subscribed.bits === 0 ? [] : { n, trace: span.traceparent },
  )
  const write = writeStatement({
    groups: rows.some(({ kind }) => kind === 'group'),
    replies: rows.some(({ parentId }) => parentId !== null),
    roles: rows.some(({ roleRules }) => roleRules !== null),
    muids: rows.some(({ muid }) => muid !== null),
    subscribed: rows.some(({ subscribed }) => subscribed.bits !== 0),
    mentions: rows.some(
      ({ mentioned, subscribed }) => mentioned !== null && (subscribed.bits & eventBits.mentioned) !== 0,
    ),
    files: rows.some(({ files }) => files !== null),
    moderated,
    traced: traces.length > 0,
  })
  const more = moderated ? judgedRows.values(judged) : []
  // Both take the same values; only where they stand differs.
  if (traces.length > 0) more.push(...tracedRows.ofPlain.values(traces))
  queries.push({ ...write, values: [options.now, ...values, ...more] })
  const groups = rows.filter(({ kind }) => kind === 'group')
  if (groups.length > 0) queries.push(raiseReceiptsOf(groups, options.now))
  queries.push(
    ...growThreadsOf(
      rows.filter((row) => !isHeld(row)),
      options.now,
    ),
  )
  return queries
}

const verdictBits = eventBits.approved | eventBits.blocked

/** Whether somebody hears of what rules of moderation decided about it. */
function raisesVerdict({ traits: bits, subscribed }: NewMessageRow): boolean {
  return (bits & traits.moderated) !== 0 && (subscribed.bits & verdictBits) !== 0
}

/** Raises the staircases of the groups that were written into. */
function raiseReceiptsOf(rows: readonly NewMessageRow[], now: number): Query {
  const groups = [rows.map(({ appId }) => appId), rows.map(({ receiver }) => receiver), now]
  if (!rows.some(({ subscribed }) => subscribed.ofAll.isHeard)) return { ...raiseGroupReceipts, values: groups }
  const ofAll = rows.map(({ subscribed }) => subscribed.ofAll)
  return {
    ...raiseAndPublishGroupReceipts,
    values: [
      ...groups,
      ofAll.map(({ isHeard }) => isHeard),
      ofAll.map(({ keepsDelivered }) => keepsDelivered),
      ofAll.map(({ keepsRead }) => keepsRead),
    ],
  }
}

/**
 * What became of the rows, out of the results of a batch, with what is to be published beside each.
 * @returns the rows, and staircases that rose without a message that others see
 */
export function writtenRows(
  rows: readonly NewMessageRow[],
  results: ReadonlyArray<{ rows: unknown[] }>,
  { create, now }: { create: boolean; now: number },
): { written: WrittenRow[]; risen: RisenRow[] } {
  const at = create ? 2 : 1
  const [row] = (results[at]?.rows ?? []) as Array<{ written: Written[] | null }>
  const risen = (results[at + 1]?.rows ?? []) as RisenRow[]

  const written: WrittenRow[] = []
  const received = new Map<number, Received>()
  for (const [n, refusal, id, sentAt, senderRevision, receiverRevision, conversation, receipt] of row?.written ?? []) {
    if (receipt !== null) received.set(n, { trigger: receipt, messageId: id as number })
    else written.push({ n, refusal, id, sentAt, senderRevision, receiverRevision, conversation, at: now })
  }
  if (received.size === 0 && risen.length === 0) return { written, risen }

  const rose = new Map<WrittenRow | undefined, RisenRow[]>()
  for (const stairs of risen) {
    const last = lastOf(stairs.conversation, rows, written)
    rose.set(last, [...(rose.get(last) ?? []), stairs])
  }
  const withReceipts = written.map((row) => {
    const [read, stairs] = [received.get(row.n), rose.get(row)]
    return { ...row, ...(read && { received: read }), ...(stairs && { risen: stairs }) }
  })
  return { written: withReceipts, risen: rose.get(undefined) ?? [] }
}

/** The last message in a conversation that others see. */
function lastOf(conversation: number, rows: readonly NewMessageRow[], written: readonly WrittenRow[]) {
  let last: WrittenRow | undefined
  for (const row of written) {
    if (row.conversation !== conversation || row.id === null || isHeld(rows[row.n] as NewMessageRow)) continue
    if (last === undefined || row.id > (last.id as number)) last = row
  }
  return last
}

/** As `statement.ts` gives it. The last member is set in rows that tell what a sender received, by the id of a message. */
type Written = [
  WrittenRow['n'],
  WrittenRow['refusal'],
  WrittenRow['id'],
  WrittenRow['sentAt'],
  WrittenRow['senderRevision'],
  WrittenRow['receiverRevision'],
  WrittenRow['conversation'],
  Received['trigger'] | null,
]

/** For each row: do several senders write into its conversation in this batch? What is held reads nothing, and nobody reads it. */
function whereBothWrite(rows: readonly NewMessageRow[], parts: readonly ConversationParts[]): boolean[] {
  const senders = new Map<string, string | true>()
  const keys = rows.map((row, i) => nameOf(row, parts[i] as ConversationParts))
  for (const [i, row] of rows.entries()) {
    if (isHeld(row)) continue
    const key = keys[i] as string
    const known = senders.get(key)
    senders.set(key, known === undefined || known === row.sender ? row.sender : true)
  }
  return keys.map((key) => senders.get(key) === true)
}
