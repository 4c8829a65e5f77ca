import type { Channel } from '../../../store/channel.ts'
import type { Transaction } from '../../../store/database.ts'
import { hurry } from '../../../store/held.ts'
import type { Secrets } from '../../../store/secrets.ts'
import { statement } from '../../../store/statement.ts'
import { addEntries } from '../search/entries.ts'
import { followThreads } from '../threads/follow.ts'
import { recountThreads } from '../threads/recount.ts'
import { type KnownPairs, lockAll } from './conversations.ts'
import { markReceipts, moveConversations, type NumberedMessage, parentsOf } from './effects.ts'
import { forgetErased } from './hands.ts'
import { takeIds } from './ids.ts'
import { readKnown } from './known.ts'
import { type ImportRefusal, idsByMuid, type PlannedMessage, planImport } from './plan.ts'
import type { ImportRow } from './row.ts'
import {
  insertMessages,
  portionsOf,
  writeBridges,
  writeConversations,
  writeKept,
  writeMarks,
  writeReactions,
  writeSteps,
} from './statements.ts'
import { holdNamed } from './users.ts'

/** What became of a row. */
export type ImportResult =
  | {
      readonly id: number
      readonly parentId: number | null
      readonly quotedId: number | null
      /** As it is stored: without whoever was erased. */
      readonly row: ImportRow
    }
  /** `holder` is the id of the message that is there already. */
  | { readonly refusal: ImportRefusal; readonly holder?: number | undefined }
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

/** The same until a transaction ends, as far as its connection has them otherwise. */
const settingsWithin = statement(`
  select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true)`)

const selectIds = statement(`
  select array_agg(nextval('message_ids')) as ids
  from generate_series(1, $1)`)

/**
 * Checks and stores a batch of imported messages in one transaction, in few round trips.
 * @param isHurried something is held for long: this waits less for what may be held, too
 * @returns what became of each row, in order
 */
export function writeImport(
  channel: Channel,
  secrets: Secrets,
  known: KnownPairs,
  rows: readonly ImportRow[],
  isHurried: boolean,
): Promise<ImportResult[]> {
  return channel.interact(async (tx) => {
    if (!isHurried) return writeIn(tx, secrets, known, rows)
    const [, results] = await Promise.all([tx.query(hurry), writeIn(tx, secrets, known, rows)])
    return results
  })
}

/** The same in a transaction that goes on, after what it made for these rows. */
export async function writeImportWithin(
  tx: Transaction,
  secrets: Secrets,
  known: KnownPairs,
  rows: readonly ImportRow[],
): Promise<ImportResult[]> {
  await tx.query(settingsWithin)
  return writeIn(tx, secrets, known, rows)
}

async function writeIn(
  tx: Transaction,
  secrets: Secrets,
  known: KnownPairs,
  rows: readonly ImportRow[],
): Promise<ImportResult[]> {
  const now = Math.floor(Date.now() / 1000)
  const bringsIds = rows.some(({ hasId }) => hasId)
  // In this order: an erasure locks its user first, and then conversations.
  const [held, conversations, stored, drawn] = await Promise.all([
    holdNamed(tx, rows),
    lockAll(tx, known, rows, now),
    readKnown(tx, rows),
    bringsIds ? [] : drawIds(tx, rows.length),
  ])
  const plan = planImport(rows, conversations, stored, held.admits)
  const asStored = await forgetErased(tx, secrets, rows, held.has)
  const numbered = number(plan, bringsIds ? await giveIds(tx, plan, now) : drawn, asStored)
  if (numbered.size > 0) await store(tx, [...numbered.values()])
  const holderOf = plan.includes('ERR_IMPORT_MUID_ALREADY_EXISTS') ? idsByMuid(stored) : undefined
  return plan.map((planned, place): ImportResult => {
    if (planned === 'ERR_IMPORT_MUID_ALREADY_EXISTS')
      return { refusal: planned, holder: holderOf?.(rows[place] as ImportRow) }
    if (typeof planned === 'string') return { refusal: planned }
    const { id, parentId, quotedId, row } = numbered.get(planned.row) as NumberedMessage
    return { id, parentId, quotedId, row }
  })
}

/** Ids for as many messages, rising. */
async function drawIds(tx: Transaction, count: number): Promise<number[]> {
  if (count === 0) return []
  const [drawn] = await tx.query<{ ids: number[] }>(selectIds, [count])
  return (drawn?.ids ?? []).sort((a, b) => a - b)
}

/** Ids for what is planned, by its place: those that messages bring along where they can be taken, else drawn ones, rising. */
async function giveIds(
  tx: Transaction,
  plan: ReadonlyArray<PlannedMessage | ImportRefusal>,
  now: number,
): Promise<number[]> {
  const rows = plan.flatMap((planned) => (typeof planned === 'string' ? [] : planned.row))
  const taken = await takeIds(tx, rows, now)
  const drawn = await drawIds(tx, rows.length - taken.size)
  let next = 0
  return plan.map((planned) => {
    if (typeof planned === 'string') return 0
    return taken.get(planned.row) ?? (drawn[next++] as number)
  })
}

/** Gives messages their ids, in the order in which they came. */
function number(
  plan: ReadonlyArray<PlannedMessage | ImportRefusal>,
  ids: readonly number[],
  asStored: (row: ImportRow) => ImportRow,
): ReadonlyMap<ImportRow, NumberedMessage> {
  const idOf = new Map<ImportRow, number>()
  for (const [place, planned] of plan.entries()) {
    if (typeof planned !== 'string') idOf.set(planned.row, ids[place] as number)
  }
  // What is quoted may have been refused itself.
  const toId = (named: number | ImportRow | null): number | null =>
    typeof named === 'object' && named !== null ? (idOf.get(named) ?? null) : named
  const numbered = new Map<ImportRow, NumberedMessage>()
  for (const planned of plan) {
    if (typeof planned === 'string') continue
    const { row, conversation, parent, subject, quoted } = planned
    const others = { parentId: toId(parent), subjectId: toId(subject), quotedId: toId(quoted) }
    numbered.set(row, { row: asStored(row), conversation, id: idOf.get(row) as number, ...others })
  }
  return numbered
}

/** In this order, since the writes go out together; what is too much to go out at once goes before. */
async function store(tx: Transaction, messages: readonly NumberedMessage[]): Promise<void> {
  const { marks, steps, gaps } = markReceipts(messages)
  const portions = portionsOf(messages)
  for (const portion of portions.slice(0, -1)) await insertMessages(tx, portion)
  await Promise.all([
    insertMessages(tx, portions.at(-1) ?? []),
    writeConversations(tx, moveConversations(messages)),
    writeMarks(tx, marks),
    writeSteps(tx, steps),
    writeBridges(tx, gaps),
    writeReactions(tx, messages),
    writeKept(tx, messages),
    addEntries(tx, messages.filter(isOutOfTurn).map(sayingOf)),
    followThreads(
      tx,
      messages.flatMap(({ row, id, parentId }) => (parentId === null ? [] : [{ appId: row.appId, id }])),
    ),
    ...[...parentsOf(messages)].map(([appId, parentIds]) => recountThreads(tx, appId, parentIds)),
  ])
}

/** The writer of the search index goes by ids as they are drawn: it may be beyond those that messages brought along. */
function isOutOfTurn({ row, id }: NumberedMessage): boolean {
  return id === row.givenId && row.deletedAt === null && row.category !== 'action'
}

function sayingOf({ row, id, conversation }: NumberedMessage) {
  return { appId: row.appId, id, conversation: conversation.key, data: JSON.parse(row.data) as Record<string, unknown> }
}
