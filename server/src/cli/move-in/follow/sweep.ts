import { isDeepStrictEqual } from 'node:util'
import type { JsonRecord } from '../../import/records.ts'
import { compareMessages } from '../compare.ts'
import { isAboutNothing, messageFacts, reactorsOf } from '../facts.ts'
import { each, forEach } from '../for-each.ts'
import { readRecord, readSpan, rowsOf } from '../lists.ts'
import type { Remote } from '../remote.ts'
import { isOwnNote } from '../verify.ts'
import type { Hinted } from './hints.ts'
import { bring, takeNew } from './messages.ts'
import { type Endings, rereadGroup, sweepPeople, sweepPerson } from './people.ts'
import type { Sides } from './sides.ts'

/** So many differences are mended together, and so many messages that are missing. */
const batch = 200

/**
 * Compares everything of both sides by its ids, and mends what differs: it finds what leaves no trace in any time.
 * @param isComplete who gave each reaction is compared too, which costs a request for each message that has some
 */
export async function sweep(sides: Sides, isComplete: boolean): Promise<void> {
  const sweepRest = await sweepPeople(sides, isComplete)
  const missing: JsonRecord[] = []
  let wanted: string[] = []
  let gone: JsonRecord[] = []
  const mend = async () => {
    const [ids, rows] = [wanted, gone]
    wanted = []
    gone = []
    await rereadMessages(sides, ids)
    await forEach(each(rows), sides.concurrency, (row) => removeGone(sides, row))
  }
  const { source, target, ids, concurrency } = sides
  const parts = Math.max(1, Math.floor(concurrency / 2))
  await compareMessages({ source, target, ids, parts, now: sides.now() }, async ({ ours, theirs }) => {
    if (isAboutNothing(ours ?? theirs!)) return
    if (ours === undefined) gone.push(theirs!)
    else if (theirs === undefined) missing.push({ id: ours.id, sentAt: ours.sentAt })
    else if (!(await isSame(sides, ours, theirs, isComplete))) wanted.push(String(ours.id))
    if (wanted.length + gone.length >= batch) await mend()
  })
  await mend()
  // Both sides are read in several parts of the time at once. In its order, nothing comes before what it replies to.
  missing.sort(inTime)
  while (missing.length > 0)
    await rereadMessages(
      sides,
      missing.splice(0, batch).map(({ id }) => String(id)),
    )
  const since = await newestSecond(target)
  await sweepRest(() => removeNotes(sides, since))
}

/** The second of the newest message of a side, by its own clock. */
async function newestSecond(side: Remote): Promise<number> {
  const path = '/messages?affix=prepend&limit=1'
  const [newest] = rowsOf(side, path, (await side.get(path)).body)
  return Number(newest?.sentAt ?? 0)
}

/** Removes what the target itself has told since a moment: the source tells of it, too. @param since epoch seconds */
async function removeNotes(sides: Sides, since: number): Promise<void> {
  const notes: JsonRecord[] = []
  const span = { from: since, to: Math.max(since, sides.now()) + 86_400, done: false }
  await readSpan(sides.target, span, '&category=action', async (rows) => void notes.push(...rows.filter(isOwnNote)))
  await forEach(each(notes), sides.concurrency, (row) => removeGone(sides, row))
}

async function isSame(sides: Sides, ours: JsonRecord, theirs: JsonRecord, isComplete: boolean): Promise<boolean> {
  const facts = messageFacts(ours, sides.ids.to, sides.addresses)
  if (!isDeepStrictEqual(facts, messageFacts(theirs))) return false
  if (!isComplete || (facts.reactions as string[]).length === 0) return true
  const [old, young] = await Promise.all([
    reactorsOf(sides.source, String(ours.id)),
    reactorsOf(sides.target, String(theirs.id)),
  ])
  return isDeepStrictEqual([...old.keys()].sort(), [...young.keys()].sort())
}

/** Takes messages of the source as they are now, which may be that they are gone. */
async function rereadMessages(sides: Sides, ids: Iterable<string>): Promise<void> {
  const fresh: JsonRecord[] = []
  await forEach(each(ids), sides.concurrency, async (id) => {
    const row = await rereadMessage(sides, id)
    if (row !== undefined) fresh.push(row)
  })
  await takeNew(sides, fresh.sort(inTime))
}

/** @returns the message, where the target does not have it */
async function rereadMessage(sides: Sides, id: string): Promise<JsonRecord | undefined> {
  const row = await readRecord(sides.source, `/messages/${encodeURIComponent(id)}?withTags=true`)
  const known = sides.ids.to(id)
  if (row === undefined) {
    const there = known === undefined ? undefined : await readRecord(sides.target, `/messages/${known}`)
    if (there !== undefined) await removeGone(sides, there)
  } else if (known !== undefined && (await readRecord(sides.target, `/messages/${known}`)) !== undefined)
    await bring(sides, row, known)
  else return row
  return undefined
}

function inTime(one: JsonRecord, other: JsonRecord): number {
  return Number(one.sentAt) - Number(other.sentAt) || Number(one.id) - Number(other.id)
}

/** Reads again what hints name. */
export async function heed(sides: Sides, { messages, groups, users }: Hinted): Promise<void> {
  const endings: Endings = []
  await forEach(each(groups), sides.concurrency, (guid) => rereadGroup(sides, guid, endings))
  await rereadMessages(sides, messages)
  await forEach(each(endings), sides.concurrency, (end) => end())
  await forEach(each(users), sides.concurrency, (uid) => sweepPerson(sides, uid))
}

/** Removes a message of the target that the source has no more. */
async function removeGone(sides: Sides, row: JsonRecord): Promise<void> {
  const { source, ids, act, count, removes } = sides
  const id = String(row.id)
  const from = ids.from(id)
  if (!removes || (from !== undefined && (await readRecord(source, `/messages/${from}`)) !== undefined)) return
  if (!(await act('DELETE', `/messages/${id}`, { permanent: true }))) return
  if (from !== undefined) count('messages removed that were gone')
  else if (!isOwnNote(row)) count('messages removed that were never there')
}
