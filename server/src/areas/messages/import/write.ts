import type { Database, Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { followThreads } from '../threads/follow.ts'
import { recountThreads } from '../threads/recount.ts'
import { createConversations, lockConversations, partsOf } from '../write/statement.ts'
import { markReceipts, moveConversations, type NumberedMessage, parentsOf } from './effects.ts'
import {
  type ImportRefusal,
  type KnownMessage,
  type LockedConversation,
  type PlannedMessage,
  planImport,
} from './plan.ts'
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
 * Plans for the tables as they will be: without statistics, or with stale ones, the planner would scan a table that is
 * growing fast.
 */
const settings = statement(`
  select set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true),
    set_config('jit', 'off', true)`)

const lock = lockConversations(`c.app_id as "appId", c.key, c.kind, c.first, c.second, c.created_at as "createdAt",
    c.last_sent_at as "lastSentAt", c.last_id as "lastId", c.listed_sent_at as "listedSentAt", c.listed_id as "listedId"`)

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
  select nextval('message_ids') as id
  from generate_series(1, $1)`)

/** Checks and stores a batch of imported messages in one transaction. @returns what became of each row, in order */
export function writeImport(database: Database, rows: readonly ImportRow[]): Promise<ImportResult[]> {
  const now = Math.floor(Date.now() / 1000)
  return database.transaction(async (tx) => {
    await tx.query(settings)
    const conversations = await lockAll(tx, rows, now)
    const known = await readKnown(tx, rows)
    const plan = planImport(rows, conversations, known)
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

/** Makes the one-to-one conversations that are missing, and locks all, in the order in which everybody does. */
async function lockAll(tx: Transaction, rows: readonly ImportRow[], now: number): Promise<LockedConversation[]> {
  const distinct = [...new Map(rows.map((row) => [`${row.appId} ${row.kind} ${partsOf(row).join(' ')}`, row])).values()]
  const pairs = distinct.filter(({ kind }) => kind === 1)
  const columns = (of: readonly ImportRow[]) => ({
    appIds: of.map(({ appId }) => appId),
    kinds: of.map(({ kind }) => kind),
    firsts: of.map((row) => partsOf(row)[0]),
    seconds: of.map((row) => partsOf(row)[1]),
  })
  if (pairs.length > 0) {
    const { appIds, firsts, seconds } = columns(pairs)
    // With those of deactivated users: what they wrote and got is history too.
    await tx.query(createConversations, [appIds, firsts, seconds, now, true])
  }
  const { appIds, kinds, firsts, seconds } = columns(distinct)
  return tx.query<LockedConversation>(lock, [appIds, kinds, firsts, seconds])
}

async function readKnown(tx: Transaction, rows: readonly ImportRow[]): Promise<KnownMessage[]> {
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
  const drawn = await tx.query<{ id: number }>(drawIds, [planned.length])
  const ids = drawn.map(({ id }) => id).sort((a, b) => a - b)
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
