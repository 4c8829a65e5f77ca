import { plainArray } from '../../../store/arrays.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { ImportRow } from './row.ts'

/**
 * An app without any message, not even the bare position of one, keeps the ids that come with its history from now on. The first
 * record that has one begins it, even one that cannot be taken: which request of an import is stored first is nobody's choice.
 */
const beginToKeep = statement(`
  insert into kept_message_ids (app_id, since)
  select a.app_id, $2
  from unnest($1::int[]) as a(app_id)
  where not exists (select from messages m where m.app_id = a.app_id)
  order by a.app_id
  on conflict do nothing`)

const selectKeeping = statement(`
  select app_id as "appId"
  from kept_message_ids
  where app_id = any($1::int[])`)

const selectUsed = statement(`
  select m.app_id as "appId", m.id
  from unnest($1::int[], $2::bigint[]) as wanted(app_id, id)
  join messages m on m.app_id = wanted.app_id and m.id = wanted.id`)

/** Any constant will do, as long as every version of the service uses the same. */
const sequenceLock = 7_206_951_060

const selectBehind = statement('select last_value from message_ids where last_value < $1')

const holdSequence = statement('select pg_advisory_xact_lock($1)')

/**
 * Only one at a time does this, since who came second could set the sequence back. Sends draw without asking, so it is set
 * further ahead than they can draw between the look and the step; that many ids are never used.
 */
const aheadOf = 100_000
const passSequence = statement(`
  select setval('message_ids', $1::bigint + ${aheadOf})
  from message_ids
  where last_value < $1`)

/**
 * Which of the messages of a batch keep the id that they had in their previous system. Ids that are drawn afterwards lie
 * beyond all of them, so that no message is ever sent under one. Another batch, or a message that is being sent, may take one
 * at the same time: the primary key lets one of the two in, and the batch is tried again.
 * @returns the ids of those that keep theirs; the others need new ones
 */
export async function takeIds(
  tx: Transaction,
  rows: readonly ImportRow[],
  now: number,
): Promise<ReadonlyMap<ImportRow, number>> {
  const withId = rows.filter(({ hasId }) => hasId)
  if (withId.length === 0) return new Map()
  const apps = plainArray([...new Set(withId.map(({ appId }) => appId))])
  await tx.query(beginToKeep, [apps, now])
  const given = withId.filter(({ givenId }) => givenId !== null)
  if (given.length === 0) return new Map()
  const keeping = await tx.query<{ appId: number }>(selectKeeping, [apps])
  const wanted = given.filter(({ appId }) => keeping.some((app) => app.appId === appId))
  if (wanted.length === 0) return new Map()
  await passIds(tx, Math.max(...wanted.map(({ givenId }) => givenId as number)))
  const used = await tx.query<{ appId: number; id: number }>(selectUsed, [
    plainArray(wanted.map(({ appId }) => appId)),
    plainArray(wanted.map(({ givenId }) => givenId)),
  ])
  const names = new Set(used.map(({ appId, id }) => `${appId} ${id}`))
  const taken = new Map<ImportRow, number>()
  for (const row of wanted) {
    const name = `${row.appId} ${row.givenId}`
    if (!names.has(name)) taken.set(row, row.givenId as number)
    names.add(name)
  }
  return taken
}

/** Has ids drawn beyond one from now on. In the transaction that takes it: it has a number already, so the search waits for it. */
export async function passIds(tx: Transaction, id: number): Promise<void> {
  const [isBehind] = await tx.query(selectBehind, [id])
  if (isBehind === undefined) return
  await tx.query(holdSequence, [sequenceLock])
  await tx.query(passSequence, [id])
}
