import { isDeepStrictEqual } from 'node:util'
import { takeListed } from '@parley/contract'
import { linksOf, type Reference } from '../../../areas/data-import/index.ts'
import type { JsonRecord } from '../../import/records.ts'
import { withReactions } from '../collect.ts'
import { isAboutNothing, messageFacts, reactorsOf, subjectOf } from '../facts.ts'
import { each, forEach } from '../for-each.ts'
import { readSpan } from '../lists.ts'
import { filesOf } from '../named-files.ts'
import { createNamingOrder } from '../naming-order.ts'
import { countingIn, importable, withoutLost } from '../prepare.ts'
import { takeGroup, takePerson } from './people.ts'
import type { Sides } from './sides.ts'

const batch = 200

/**
 * Imports messages that are new, with the people and groups that are new with them.
 * @param rows in the order of time
 * @returns the ids of those that were refused
 */
export async function takeNew(sides: Sides, rows: readonly JsonRecord[]): Promise<ReadonlySet<string>> {
  const refusedIds = new Set<string>()
  const order = createNamingOrder(new Set(rows.map(({ id }) => String(id))))
  const whole = await withReactions(sides.source, [...rows.flatMap(order.take), ...order.rest()])
  await sides.copyFiles(whole.flatMap(filesOf))
  for (let at = 0; at < whole.length; at += batch) {
    const named = await Promise.all(whole.slice(at, at + batch).map((row) => nameMessage(sides, row, whole)))
    const records = named.filter((record) => record !== undefined)
    const missed = await importMessages(sides, records)
    await takeCast(sides, missed)
    const refused = missed.length === 0 ? [] : await importMessages(sides, missed)
    for (const { row, code } of refused) {
      sides.refusedMessages.set(String(row.id), String(code))
      refusedIds.add(String(row.id))
    }
  }
  return refusedIds
}

interface Named {
  readonly row: JsonRecord
  readonly record: JsonRecord & { readonly muid: string }
}

/** A message as an import takes it; undefined for one that tells of a message that is gone. */
async function nameMessage(sides: Sides, row: JsonRecord, beside: readonly JsonRecord[]): Promise<Named | undefined> {
  const muids = new Map<string, string>()
  const learn = async (id: string): Promise<boolean> => {
    const [near] = beside.filter((other) => String(other.id) === id)
    const muid = near === undefined ? await muidInTarget(sides, id) : muidOf(near)
    if (muid !== undefined) muids.set(id, muid)
    return muid !== undefined
  }
  const isThere = async (id: unknown) => id === undefined || learn(String(id))
  const [hasParent, hasQuoted] = [await isThere(row.parentId), await isThere(row.quotedMessageId)]
  const subject = subjectOf(row)
  if (isAboutNothing(row) || (subject !== undefined && !(await learn(subject)))) return undefined
  if (!hasParent) sides.notices.add('reply-without-parent', String(row.id))
  if (!hasQuoted) sides.notices.add('quote-without-message', String(row.id))
  const { record } = takeListed('messages', withoutLost(row, hasParent, hasQuoted), (id) => muids.get(id) ?? id)
  const counting = countingIn(record, sides.without)
  return { row, record: { ...importable(record, sides.addresses), ...counting, muid: muidOf(row) } }
}

function muidOf({ muid, id }: JsonRecord): string {
  return typeof muid === 'string' ? muid : String(id)
}

async function muidInTarget({ target, ids }: Sides, id: string): Promise<string | undefined> {
  const known = ids.to(id)
  if (known === undefined) return undefined
  const { status, body } = await target.get(`/messages/${known}`, { expected: [404] })
  return status === 200 ? muidOf(body.data as JsonRecord) : undefined
}

type Refused = Named & { readonly code: string | undefined }

/** @returns those that were refused, and why */
async function importMessages(sides: Sides, named: readonly Named[]): Promise<Refused[]> {
  // An answer names records by their muid, which not even one request has to itself: repeats come after it, one by one.
  const firsts = new Map<string, Named>()
  const repeats: Named[] = []
  for (const one of named) {
    if (firsts.has(one.record.muid)) repeats.push(one)
    else firsts.set(one.record.muid, one)
  }
  const outcomes = await sides.importInto(
    'messages',
    [...firsts.values()].map(({ record }) => record),
  )
  const refused: Refused[] = []
  const pairs: { from: string; to: string }[] = []
  for (const { row, record } of firsts.values()) {
    const outcome = outcomes[record.muid]
    if (outcome?.success) pairs.push({ from: String(row.id), to: String(outcome.data?.id) })
    else if (outcome?.error?.code !== 'ERR_IMPORT_MUID_ALREADY_EXISTS')
      refused.push({ row, record, code: outcome?.error?.code })
    else {
      const { to, code } = await takeTaken(sides, { row, record })
      if (to === undefined) refused.push({ row, record, code })
      else pairs.push({ from: String(row.id), to })
    }
  }
  sides.count('new messages', pairs.length)
  await sides.addIds(pairs)
  for (const { row, record } of repeats) {
    const { to, code } = await takeTaken(sides, { row, record })
    if (to === undefined) {
      refused.push({ row, record, code })
      continue
    }
    sides.count('new messages')
    await sides.addIds([{ from: String(row.id), to }])
  }
  return refused
}

/**
 * Finds what was imported under a muid by a run that was killed before it could remember it. Where it is another message,
 * since muids of the source are not unique, this one gets a muid of its own.
 */
async function takeTaken(
  sides: Sides,
  { row, record }: Named,
): Promise<{ readonly to?: string; readonly code?: string | undefined }> {
  const second = Number(row.sentAt)
  let found: string | undefined
  const own = `${record.muid.slice(0, 200)}~${row.id}`
  await readSpan(sides.target, { from: second, to: second, done: false }, '', async (rows) => {
    for (const other of rows) {
      const isSame =
        other.muid === own || (other.muid === record.muid && sides.ids.from(String(other.id)) === undefined)
      if (isSame && other.sender === row.sender && other.receiver === row.receiver) found = String(other.id)
    }
  })
  if (found !== undefined) return { to: found }
  const { [own]: outcome } = await sides.importInto('messages', [{ ...record, muid: own }])
  if (!outcome?.success) return { code: outcome?.error?.code }
  sides.notices.add('shared-muid', String(row.id))
  return { to: String(outcome.data?.id) }
}

/** Users and groups that an import of messages counts on, which the target may not know yet: also those who only reacted. */
async function takeCast(sides: Sides, messages: readonly Named[]): Promise<void> {
  const needed = messages.flatMap(({ record }) => linksOf('messages', record).needed)
  const namesOf = (kind: Reference['collection']) =>
    new Set(needed.filter(({ collection }) => collection === kind).map(({ id }) => id))
  await forEach(each(namesOf('users')), sides.concurrency, (uid) => takePerson(sides, uid))
  await forEach(each(namesOf('groups')), sides.concurrency, (guid) => takeGroup(sides, guid))
}

/** Brings a message of the target into the state that it has in the source. */
export async function bring(sides: Sides, row: JsonRecord, id: string): Promise<void> {
  const { target, act, count } = sides
  const { status, body } = await target.get(`/messages/${id}?withTags=true`, { expected: [404] })
  if (status === 404) return
  const there = body.data as JsonRecord
  const [ours, theirs] = [messageFacts(row, sides.ids.to, sides.addresses), messageFacts(there)]
  const differs = (name: string) => !isDeepStrictEqual(ours[name], theirs[name])
  const at = `/messages/${id}`
  if (ours.isDeleted === true) {
    if (theirs.isDeleted === true) {
      await bringReactions(sides, row, id, { mayGive: false })
      return
    }
    // What it said after the edit is gone; that it was edited is not.
    if (differs('isEdited') && row.category !== 'action') {
      await act('PUT', at, { data: takeListed('messages', there).record.data }, row.sender)
    }
    // A message keeps what it got before; afterwards it takes none.
    await bringReactions(sides, row, id)
    if (await act('DELETE', at, {}, row.deletedBy)) count('deleted messages')
    return
  }
  if (row.category !== 'action' && (differs('data') || differs('tags'))) {
    const { data } = importable(takeListed('messages', row).record, sides.addresses)
    if (await act('PUT', at, { data, tags: row.tags ?? [] }, row.sender)) count('edited messages')
  }
  await bringReactions(sides, row, id)
  if (differs('isPinned')) {
    const isDone =
      ours.isPinned === true ? await act('POST', `${at}/pin`, {}, row.pinnedBy) : await act('DELETE', `${at}/pin`, {})
    if (isDone) count(ours.isPinned === true ? 'pins' : 'removed pins')
  }
  const mark =
    ours.isRead === true && theirs.isRead === false
      ? 'read'
      : ours.isDelivered === true && theirs.isDelivered === false
        ? 'delivered'
        : undefined
  const conversation = `/users/${encodeURIComponent(String(row.sender))}/conversation`
  if (mark !== undefined && (await act('POST', `${conversation}/${mark}`, { messageId: id }, row.receiver)))
    count('receipts')
}

/** @param options.mayGive not to a message that is deleted; taken back they may be from that, too */
async function bringReactions(sides: Sides, row: JsonRecord, id: string, { mayGive = true } = {}): Promise<void> {
  const { source, target, act, count } = sides
  const [ours, theirs] = await Promise.all([reactorsOf(source, String(row.id)), reactorsOf(target, id)])
  const at = (reaction: string) => `/messages/${id}/reactions/${encodeURIComponent(reaction)}`
  for (const [key, { reaction, uid }] of ours)
    if (mayGive && !theirs.has(key) && (await act('POST', at(reaction), {}, uid))) count('reactions')
  for (const [key, { reaction, uid }] of theirs)
    if (!ours.has(key) && (await act('DELETE', at(reaction), {}, uid))) count('removed reactions')
}
