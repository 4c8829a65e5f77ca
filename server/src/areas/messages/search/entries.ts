import { setImmediate as nextTurn } from 'node:timers/promises'
import { notHeldIn } from '../../../chat/sight/participation.ts'
import { plainArray, textArray } from '../../../store/arrays.ts'
import type { Channel, Query } from '../../../store/channel.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { searchedText } from './fold.ts'
import { vectorOf } from './grams.ts'

/** A message as far as it is searched. */
interface Saying {
  readonly appId: number
  readonly id: number
  readonly conversation: number
  readonly data: Readonly<Record<string, unknown>>
}

/** What may be found of a message. */
interface Entry {
  readonly appId: number
  readonly id: number
  readonly conversation: number
  readonly body: string
  readonly grams: string
}

function entryOf({ appId, id, conversation, data }: Saying): Entry {
  const body = searchedText(data)
  return { appId, id, conversation, body, grams: vectorOf(appId, conversation, body) }
}

/** Ids are drawn for all apps together; each app's messages are found by its key. What moderation holds is in no search. */
const selectSayings = statement(`
  select m.app_id as "appId", m.id, m.conversation, m.data
  from apps a
  cross join lateral (
    select app_id, id, conversation, data
    from messages
    where app_id = a.app_id
    and id > $1
    and id <= $2
    and deleted_at is null
    and category <> 'action'
    and ${notHeldIn('messages')}
    offset 0
  ) m`)

const selectNextId = statement(`
  select min(m.id) as "nextId"
  from apps a
  cross join lateral (
    select id
    from messages
    where app_id = a.app_id
    and id > $1
    order by id
    limit 1
  ) m`)

const advance = statement(`
  update search_progress
  set indexed_id = $2
  where indexed_id = $1`)

/** A message that was changed meanwhile has an entry, if an empty one, which stays. */
const insert = statement(`
  insert into search_entries (app_id, message_id, conversation, body, grams)
  select r.app_id, r.id, r.conversation, r.body, r.grams::tsvector
  from unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) as r(app_id, id, conversation, body, grams)
  order by r.app_id, r.id
  on conflict (app_id, message_id) do nothing`)

/** Empty entries keep the writer from adding what has gone; up to here it will not come again. */
const clear = statement(`
  delete from search_entries
  where body = ''
  and message_id <= $1`)

const batchIds = 2000
/** Entries are made in pieces, so that requests need not wait for a whole batch. */
const pieceLength = 100

/**
 * Adds the entries of the next messages in the order of their ids, as one transaction.
 * @param visibleUpTo up to here no message can come to light any more
 * @returns the id up to which every message has its entry then
 */
export async function addNextEntries(channel: Channel, indexedId: number, visibleUpTo: number): Promise<number> {
  if (visibleUpTo <= indexedId) return indexedId
  let upTo = Math.min(indexedId + batchIds, visibleUpTo)
  const { rows } = await channel.query({ ...selectSayings, values: [indexedId, upTo] })
  // Where ids were left out, the next message may be far away.
  if (rows.length === 0 && upTo < visibleUpTo)
    upTo = Math.min(await readIdBefore(channel, upTo, visibleUpTo), visibleUpTo)
  const entries = await makeEntries(rows as Saying[])
  const queries: Query[] = [{ ...advance, values: [indexedId, upTo] }]
  if (entries.length > 0) queries.push({ ...insert, values: valuesOf(entries) })
  queries.push({ ...clear, values: [upTo] })
  await channel.transaction(queries)
  return upTo
}

function valuesOf(entries: readonly Entry[]): string[] {
  return [
    plainArray(entries.map(({ appId }) => appId)),
    plainArray(entries.map(({ id }) => id)),
    plainArray(entries.map(({ conversation }) => conversation)),
    textArray(entries.map(({ body }) => body)),
    textArray(entries.map(({ grams }) => grams)),
  ]
}

/** Adds entries of messages whose ids were not drawn, in the transaction that stores them: the writer may be beyond them. */
export async function addEntries(tx: Transaction, sayings: readonly Saying[]): Promise<void> {
  const entries = sayings.map(entryOf).filter(({ body }) => body !== '')
  if (entries.length > 0) await tx.query(insert, valuesOf(entries))
}

async function readIdBefore(channel: Channel, id: number, visibleUpTo: number): Promise<number> {
  const { rows } = await channel.query({ ...selectNextId, values: [id] })
  const { nextId } = rows[0] as { nextId: number | null }
  return nextId === null ? visibleUpTo : nextId - 1
}

async function makeEntries(sayings: readonly Saying[]): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let start = 0; start < sayings.length; start += pieceLength) {
    if (start > 0) await nextTurn()
    entries.push(...sayings.slice(start, start + pieceLength).map(entryOf))
  }
  return entries.filter(({ body }) => body !== '')
}

const replace = statement(`
  insert into search_entries (app_id, message_id, conversation, body, grams)
  values ($1, $2, $3, $4, $5::tsvector)
  on conflict (app_id, message_id) do update
  set conversation = excluded.conversation,
    body = excluded.body,
    grams = excluded.grams`)

/** Writes what is found of a message from now on, in the transaction that changes it; the old text has gone by then. */
export async function replaceEntry(tx: Transaction, saying: Saying): Promise<void> {
  const { appId, id, conversation, body, grams } = entryOf(saying)
  if (body !== '') await tx.query(replace, [appId, id, conversation, body, grams])
}
