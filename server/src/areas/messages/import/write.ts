import type { Channel } from '../../../store/channel.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { followThreads } from '../threads/follow.ts'
import { recountThreads } from '../threads/recount.ts'
import { type KnownPairs, lockAll } from './conversations.ts'
import { markReceipts, moveConversations, type NumberedMessage, parentsOf } from './effects.ts'
import { type ImportRefusal, type KnownMessage, type PlannedMessage, planImport } from './plan.ts'
import type { ImportRow } from './row.ts'
import {
  insertMessages,
  writeBridges,
  writeConversations,
  writeMarks,
  writeReactions,
  writeSteps,
} from './statements.ts'

/** What became of a row. */
export type ImportResult =
  | { readonly id: number; readonly parentId: number | null }
  | { readonly refusal: ImportRefusal }
  /** The database does not take this row. */
  | { readonly refusal: 'ERR_EXCEPTION'; readonly cause: unknown }

/**
 * Settings of the channels. Statements are planned anew each time, for as many rows as there are (a plan for any number
 * would loop through thousands by thousands), and by index whatever the statistics say of tables that are growing fast.
 */
export const importSettings = `
  set plan_cache_mode = force_custom_plan;
  set enable_seqscan = off;
  set random_page_cost = 1.1;
  set jit = off`

/** Sent and imported messages have an index of their own each. */
const selectKnown = statement(`
  select m.app_id as "appId", m.muid, m.id, m.conversation, m.sender, m.sent_at as "sentAt",
    m.parent_id as "parentId"
  from unnest($1::int[], $2::text[]) as wanted(app_id, muid)
  join messages m on m.app_id = wanted.app_id and m.muid = wanted.muid and m.imported
  union all
  select m.app_id as "appId", m.muid, m.id, m.conversation, m.sender, m.sent_at as "sentAt",
    m.parent_id as "parentId"
  from unnest($1::int[], $2::text[]) as wanted(app_id, muid)
  join messages m on m.app_id = wanted.app_id and m.muid = wanted.muid and not m.imported`)

const selectIds = statement(`
  select array_agg(nextval('message_ids')) as ids
  from generate_series(1, $1)`)

/**
 * Checks and stores a batch of imported messages in one transaction, in few round trips.
 * @returns what became of each row, in order
 */
export function writeImport(channel: Channel, known: KnownPairs, rows: readonly ImportRow[]): Promise<ImportResult[]> {
  const now = Math.floor(Date.now() / 1000)
  return channel.interact(async (tx) => {
    const [conversations, stored, ids] = await Promise.all([
      lockAll(tx, known, rows, now),
      readStored(tx, rows),
      drawIds(tx, rows.length),
    ])
    const plan = planImport(rows, conversations, stored)
    const numbered = number(plan, ids)
    if (numbered.size > 0) await store(tx, [...numbered.values()])
    return plan.map((planned): ImportResult => {
      if (typeof planned === 'string') return { refusal: planned }
      const { id, parentId } = numbered.get(planned.row) as NumberedMessage
      return { id, parentId }
    })
  })
}

async function readStored(tx: Transaction, rows: readonly ImportRow[]): Promise<KnownMessage[]> {
  const wanted = new Map<string, { appId: number; muid: string }>()
  for (const { appId, muid, parentMuid } of rows) {
    wanted.set(`${appId} ${muid}`, { appId, muid })
    if (parentMuid !== null) wanted.set(`${appId} ${parentMuid}`, { appId, muid: parentMuid })
  }
  const named = [...wanted.values()]
  return tx.query<KnownMessage>(selectKnown, [named.map(({ appId }) => appId), named.map(({ muid }) => muid)])
}

/** Ids for as many messages, rising. */
async function drawIds(tx: Transaction, count: number): Promise<number[]> {
  const [drawn] = await tx.query<{ ids: number[] }>(selectIds, [count])
  return (drawn?.ids ?? []).sort((a, b) => a - b)
}

/** Gives messages their ids, in the order in which they came. */
function number(
  plan: ReadonlyArray<PlannedMessage | ImportRefusal>,
  ids: readonly number[],
): ReadonlyMap<ImportRow, NumberedMessage> {
  const idOf = new Map<ImportRow, number>()
  for (const [place, planned] of plan.entries()) {
    if (typeof planned !== 'string') idOf.set(planned.row, ids[place] as number)
  }
  const numbered = new Map<ImportRow, NumberedMessage>()
  for (const planned of plan) {
    if (typeof planned === 'string') continue
    const { row, conversation, parent } = planned
    const parentId = typeof parent === 'object' && parent !== null ? (idOf.get(parent) as number) : parent
    numbered.set(row, { row, conversation, id: idOf.get(row) as number, parentId })
  }
  return numbered
}

/** In this order, since the writes go out together. */
async function store(tx: Transaction, messages: readonly NumberedMessage[]): Promise<void> {
  const { marks, steps, gaps } = markReceipts(messages)
  await Promise.all([
    insertMessages(tx, messages),
    writeConversations(tx, moveConversations(messages)),
    writeMarks(tx, marks),
    writeSteps(tx, steps),
    writeBridges(tx, gaps),
    writeReactions(tx, messages),
    followThreads(
      tx,
      messages.flatMap(({ row, id, parentId }) => (parentId === null ? [] : [{ appId: row.appId, id }])),
    ),
    ...[...parentsOf(messages)].map(([appId, parentIds]) => recountThreads(tx, appId, parentIds)),
  ])
}
