import type { Database, Transaction } from '../../../store/database.ts'
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
  | { readonly id: number; readonly conversation: number; readonly parentId: number | null }
  | { readonly refusal: ImportRefusal }
  /** The database does not take this row. */
  | { readonly refusal: 'ERR_EXCEPTION'; readonly cause: unknown }

/**
 * Planned anew each time, for as many rows as there are (a plan for any number would loop through thousands by
 * thousands), and by index whatever the statistics say of tables that are growing fast.
 */
const settings = statement(`
  select set_config('plan_cache_mode', 'force_custom_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('random_page_cost', '1.1', true),
    set_config('jit', 'off', true)`)

/** Sent and imported messages have an index of their own each. */
const selectKnown = statement(`
  select m.app_id as "appId", m.muid, m.id, m.conversation, m.parent_id as "parentId"
  from unnest($1::int[], $2::text[]) as wanted(app_id, muid)
  join messages m on m.app_id = wanted.app_id and m.muid = wanted.muid and m.imported
  union all
  select m.app_id as "appId", m.muid, m.id, m.conversation, m.parent_id as "parentId"
  from unnest($1::int[], $2::text[]) as wanted(app_id, muid)
  join messages m on m.app_id = wanted.app_id and m.muid = wanted.muid and not m.imported`)

const drawIds = statement(`
  select array_agg(nextval('message_ids')) as ids
  from generate_series(1, $1)`)

/** Checks and stores a batch of imported messages in one transaction. @returns what became of each row, in order */
export function writeImport(
  database: Database,
  known: KnownPairs,
  rows: readonly ImportRow[],
): Promise<ImportResult[]> {
  const now = Math.floor(Date.now() / 1000)
  return database.transaction(async (tx) => {
    await tx.query(settings)
    const conversations = await lockAll(tx, known, rows, now)
    const plan = planImport(rows, conversations, await readStored(tx, rows))
    const numbered = await number(
      tx,
      plan.filter((planned) => typeof planned !== 'string'),
    )
    if (numbered.size > 0) await store(tx, [...numbered.values()])
    return plan.map((planned): ImportResult => {
      if (typeof planned === 'string') return { refusal: planned }
      const { id, conversation, parentId } = numbered.get(planned.row) as NumberedMessage
      return { id, conversation: conversation.key, parentId }
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

/** Gives messages their ids, rising in the order in which they came. */
async function number(
  tx: Transaction,
  planned: readonly PlannedMessage[],
): Promise<ReadonlyMap<ImportRow, NumberedMessage>> {
  if (planned.length === 0) return new Map()
  const [drawn] = await tx.query<{ ids: number[] }>(drawIds, [planned.length])
  const ids = (drawn?.ids ?? []).sort((a, b) => a - b)
  const idOf = new Map(planned.map(({ row }, place) => [row, ids[place] as number]))
  return new Map(
    planned.map(({ row, conversation, parent }) => {
      const parentId = typeof parent === 'object' && parent !== null ? (idOf.get(parent) as number) : parent
      return [row, { row, conversation, id: idOf.get(row) as number, parentId }]
    }),
  )
}

async function store(tx: Transaction, messages: readonly NumberedMessage[]): Promise<void> {
  const { marks, steps, gaps } = markReceipts(messages)
  await insertMessages(tx, messages)
  await writeConversations(tx, moveConversations(messages))
  await writeMarks(tx, marks)
  await writeSteps(tx, steps)
  await writeBridges(tx, gaps)
  await writeReactions(tx, messages)
  await followThreads(
    tx,
    messages.flatMap(({ row, id, parentId }) => (parentId === null ? [] : [{ appId: row.appId, id }])),
  )
  for (const [appId, parentIds] of parentsOf(messages)) await recountThreads(tx, appId, parentIds)
}
