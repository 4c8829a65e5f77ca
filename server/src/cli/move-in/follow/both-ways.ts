import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { takeListed } from '@parley/contract'
import type { JsonRecord } from '../../import/records.ts'
import { digestOf } from '../digests.ts'
import { contentOf, reactorsOf } from '../facts.ts'
import type { Journal } from '../journal.ts'
import { readRecord } from '../lists.ts'
import { readLines } from '../ndjson.ts'
import { importable } from '../prepare.ts'
import type { MoveState } from '../state.ts'
import type { Sides } from './sides.ts'

/**
 * After the cut-over people write on both sides. What both had of a message when they were last the same tells which of them has
 * changed since, so that nothing that was changed on one side is undone by the other, and nothing circles.
 */
export interface Agreement {
  /** Undefined, as `isPinned`, where one side has refused to become as the other. */
  readonly content: string | undefined
  readonly isPinned: boolean | undefined
  /** `<reaction> <uid>` */
  readonly reactions: readonly string[]
}

/** What both sides agreed on, by the id in the source, for messages that were touched since the cut-over. */
export interface Agreements {
  get(id: string): Agreement | undefined
  set(id: string, agreement: Agreement): Promise<void>
}

const file = 'agreements.ndjson'

export async function openAgreements(folder: string, journal: Journal<MoveState>): Promise<Agreements> {
  const known = new Map<string, Agreement>()
  for await (const { id, content, isPinned, reactions } of readLines(path.join(folder, file)))
    known.set(String(id), {
      content: content === undefined ? undefined : String(content),
      isPinned: isPinned === undefined ? undefined : isPinned === true,
      reactions: Array.isArray(reactions) ? reactions.map(String) : [],
    })
  return {
    get: (id) => known.get(id),
    async set(id, agreement) {
      if (isDeepStrictEqual(known.get(id), agreement)) return
      known.set(id, agreement)
      await journal.append(file, [{ id, ...agreement }])
    },
  }
}

/**
 * Brings a message to the same state on both sides. What differs from what they last agreed on has changed there; where both
 * have changed, or nobody knows, the later one is right. What a side refuses is not agreed on: it would be undone on the other.
 * @param cutOver epoch seconds; until then both sides were the same
 */
export async function reconcile(sides: Sides, agreements: Agreements, id: string, cutOver: number): Promise<void> {
  const { source, target, ids, act, actInSource, count } = sides
  const there = ids.to(id)
  if (there === undefined) return
  const [ours, theirs] = await Promise.all([
    readRecord(source, `/messages/${id}?withTags=true`),
    readRecord(target, `/messages/${there}?withTags=true`),
  ])
  const [at, atThere] = [`/messages/${id}`, `/messages/${there}`]
  if (ours === undefined || theirs === undefined) return
  if (ours.deletedAt !== undefined || theirs.deletedAt !== undefined) {
    if (ours.deletedAt === undefined) await actInSource('DELETE', at, {}, theirs.deletedBy)
    if (theirs.deletedAt === undefined && (await act('DELETE', atThere, {}, ours.deletedBy))) count('deleted messages')
    return
  }
  const known = agreements.get(id)
  const addresses = sides.addresses
  const says = (row: JsonRecord, files: ReadonlyMap<string, string>) =>
    digestOf([contentOf(row, files), [...((row.tags as string[] | undefined) ?? [])].sort()]).toString(16)
  const [content, contentThere] = [says(ours, addresses), says(theirs, new Map())]
  let agreed: string | undefined = content
  if (content !== contentThere && ours.category !== 'action') {
    const isLater = Number(ours.editedAt ?? 0) >= Number(theirs.editedAt ?? 0)
    const isRight = known?.content === contentThere || (known?.content !== content && isLater)
    const row = isRight ? ours : theirs
    const { data } = importable(takeListed('messages', row).record, isRight ? addresses : new Map())
    const body = { data, tags: row.tags ?? [] }
    const answer = isRight
      ? await act('PUT', atThere, body, row.sender)
      : await actInSource('PUT', at, body, row.sender)
    if (isRight && answer !== undefined) count('edited messages')
    agreed = answer === undefined ? known?.content : isRight ? content : contentThere
  }
  const [pinned, pinnedThere] = [ours.pinnedAt !== undefined, theirs.pinnedAt !== undefined]
  let isPinned: boolean | undefined = pinned
  if (pinned !== pinnedThere) {
    // Who has it pinned since the cut-over has pinned it; otherwise the other has taken it off.
    const isNew = known?.isPinned === undefined ? Number(ours.pinnedAt ?? theirs.pinnedAt) >= cutOver : !known.isPinned
    const isRight = isNew === pinned
    const by = isRight ? ours.pinnedBy : theirs.pinnedBy
    const method = isNew ? 'POST' : 'DELETE'
    const answer = isRight
      ? await act(method, `${atThere}/pin`, {}, by)
      : await actInSource(method, `${at}/pin`, {}, by)
    isPinned = answer === undefined ? known?.isPinned : isNew
  }
  const reactions = await reconcileReactions(sides, { id, there, known, cutOver })
  await agreements.set(id, { content: agreed, isPinned, reactions })
}

async function reconcileReactions(
  sides: Sides,
  of: {
    readonly id: string
    readonly there: string
    readonly known: Agreement | undefined
    readonly cutOver: number
  },
): Promise<string[]> {
  const { act, actInSource, count } = sides
  const [ours, theirs] = await Promise.all([reactorsOf(sides.source, of.id), reactorsOf(sides.target, of.there)])
  const path = (id: string, reaction: string) => `/messages/${id}/reactions/${encodeURIComponent(reaction)}`
  const agreed: string[] = []
  for (const [key, { reaction, uid, reactedAt }] of new Map([...ours, ...theirs])) {
    const isInBoth = ours.has(key) && theirs.has(key)
    const isNew = of.known === undefined ? reactedAt >= of.cutOver : !of.known.reactions.includes(key)
    if (isInBoth) {
      agreed.push(key)
      continue
    }
    // One side has it: it was given there, or taken back on the other.
    const isOurs = ours.has(key)
    const method = isNew ? 'POST' : 'DELETE'
    const answer =
      isNew === isOurs
        ? await act(method, path(of.there, reaction), {}, uid)
        : await actInSource(method, path(of.id, reaction), {}, uid, isNew ? [uid] : [])
    const isDone = answer !== undefined
    if (isDone && isNew === isOurs) count(isNew ? 'reactions' : 'removed reactions')
    // What could not be taken back stays agreed, so that it is not given to the other side again.
    if (isNew === isDone) agreed.push(key)
  }
  return agreed.sort()
}
