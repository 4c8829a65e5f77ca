import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { takeListed } from '@parley/contract'
import { createDigestSet } from '../import/digest.ts'
import { createMuidNames } from '../import/muids.ts'
import type { JsonRecord } from '../import/records.ts'
import { standInOf } from '../import/stand-ins.ts'
import { isAboutNothing, subjectOf } from './facts.ts'
import { readdressed } from './named-files.ts'
import { createNamingOrder, namesIn } from './naming-order.ts'
import { readLines, writeLines } from './ndjson.ts'
import type { Notices } from './notices.ts'
import { type MoveState, sourceFiles } from './state.ts'

export interface Preparing {
  readonly folder: string
  readonly state: MoveState
  readonly notices: Notices
  /** Lists that are left out. */
  readonly without: readonly string[]
  /** Epoch seconds. */
  readonly now: number
}

const systemUid = 'app_system'

/**
 * Makes users.ndjson, groups.ndjson and members.ndjson of the import folder, in the form of docs/import.md. Whoever is named
 * by something and is no user any more becomes one who is deactivated.
 */
export async function preparePeople({ folder, state, notices, now }: Preparing): Promise<void> {
  // Messages of an earlier run may name files that have new addresses by now.
  await rm(path.join(folder, 'messages.ndjson'), { force: true })
  const uids = new Set<string>([systemUid])
  for await (const { uid } of readLines(path.join(folder, sourceFiles.users))) uids.add(String(uid))
  const unknown = new Set<string>()
  const meet = (uid: unknown) => {
    if (typeof uid === 'string' && !uids.has(uid)) unknown.add(uid)
  }
  for await (const row of readMessages(folder, state)) {
    const { sender, receiver, receiverType, reactions } = row
    for (const hand of [sender, row.editedBy, row.deletedBy, row.pinnedBy]) meet(hand)
    if (receiverType === 'user') meet(receiver)
    if (Array.isArray(reactions)) for (const { uid } of reactions) meet(uid)
  }
  await writeLines(path.join(folder, 'members.ndjson'), membersOf(folder, meet))
  await writeLines(path.join(folder, 'groups.ndjson'), groupsOf(folder, notices, meet))
  const users = async function* (): AsyncGenerator<object> {
    yield* readLines(path.join(folder, sourceFiles.users))
    for (const uid of unknown) {
      notices.add('deleted-user', uid)
      yield standInOf(uid, now)
    }
  }
  await writeLines(path.join(folder, 'users.ndjson'), users())
}

/**
 * Makes messages.ndjson. Each record keeps its id in the source, which tells later what became of it.
 * @param addresses new addresses of files by their old ones
 */
export async function prepareMessages(
  { folder, state, notices, without }: Preparing,
  addresses: ReadonlyMap<string, string>,
): Promise<void> {
  const ids = createDigestSet()
  const nameOf = createMuidNames()
  const named = await readNamedIds(folder, state)
  /** Muids of messages that others name. */
  const muids = new Map<string, string>()
  const muidOf = (id: string) => muids.get(id) ?? id
  const records = async function* (): AsyncGenerator<object> {
    for await (const row of namedFirst(readMessages(folder, state), named)) {
      const id = String(row.id)
      if (!ids.add(id)) continue
      const subject = subjectOf(row)
      if (isAboutNothing(row) || (subject !== undefined && !ids.has(subject))) {
        notices.add('action-without-message', id)
        continue
      }
      const isThere = (other: unknown) => other === undefined || ids.has(String(other))
      const [hasParent, hasQuoted] = [isThere(row.parentId), isThere(row.quotedMessageId)]
      if (!hasParent) notices.add('reply-without-parent', id)
      if (!hasQuoted) notices.add('quote-without-message', id)
      const { record } = takeListed('messages', withoutLost(row, hasParent, hasQuoted), muidOf)
      const { kind, muid } = nameOf(record, String(record.muid))
      if (kind === 'shared') notices.add('shared-muid', id)
      if (named.has(id)) muids.set(id, muid)
      yield { ...importable({ ...record, muid }, addresses), ...countingIn(record, without) }
    }
  }
  await writeLines(path.join(folder, 'messages.ndjson'), records())
}

/** Ids of messages that are there and that others reply to, quote or are about: few of all. */
async function readNamedIds(folder: string, state: MoveState): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  const all = createDigestSet()
  for await (const row of readMessages(folder, state)) {
    all.add(String(row.id))
    for (const id of namesIn(row)) named.add(id)
  }
  return new Set([...named].filter((id) => all.has(id)))
}

/** Messages in their order, but for those that name one of a later time: an import takes none before what it names. */
async function* namedFirst(
  rows: AsyncIterable<JsonRecord>,
  named: ReadonlySet<string>,
): AsyncGenerator<JsonRecord, void> {
  const order = createNamingOrder(named)
  for await (const row of rows) yield* order.take(row)
  yield* order.rest()
}

/** All messages that were read, in the order of time. */
async function* readMessages(folder: string, state: MoveState): AsyncGenerator<JsonRecord> {
  for (const { index } of inOrderOfTime(state)) yield* readLines(path.join(folder, sourceFiles.messages(index)))
}

function inOrderOfTime({ spans }: MoveState) {
  return spans.map((span, index) => ({ index, from: span.from })).sort((one, other) => one.from - other.from)
}

/** A message without what it says of messages that are gone. */
export function withoutLost(row: JsonRecord, hasParent: boolean, hasQuoted: boolean): JsonRecord {
  const { parentId, quotedMessageId, ...rest } = row
  return {
    ...rest,
    ...(hasParent && parentId !== undefined && { parentId }),
    ...(hasQuoted && quotedMessageId !== undefined && { quotedMessageId }),
  }
}

/** Members of a listed message that the move takes on other ways, or that the target makes by itself. */
const elsewhere = [
  'parentId',
  'quotedMessageId',
  'conversationId',
  'updatedAt',
  'replyCount',
  'unreadRepliesCount',
  'mentions',
  'savedAt',
  'quotedMessage',
  'readByMeAt',
  'deliveredToMeAt',
]

/**
 * Whether a message counts as unread for those who have not read it. In groups that is told by members' marks, which come with
 * their conversations: where those are left out, all of it counts as read.
 */
export function countingIn({ receiverType }: JsonRecord, without: readonly string[]): { countsAsUnread?: true } {
  return receiverType === 'group' && !without.includes('conversations') ? { countsAsUnread: true } : {}
}

/** A record of an import, with the new addresses of its files. */
export function importable(record: JsonRecord, addresses: ReadonlyMap<string, string>): JsonRecord {
  const kept = Object.fromEntries(Object.entries(record).filter(([name]) => !elsewhere.includes(name)))
  const data = readdressed(record, addresses)
  return data === undefined ? kept : { ...kept, data }
}

async function* membersOf(folder: string, meet: (uid: unknown) => void): AsyncGenerator<object> {
  for await (const { kind, guid, row } of readLines(path.join(folder, sourceFiles.rooms))) {
    if (kind !== 'members' && kind !== 'bans') continue
    const { uid, scope, joinedAt } = row as JsonRecord
    meet(uid)
    const memberId = `${guid}_member_${uid}`
    if (kind === 'bans') yield { memberId, guid, uid, isBanned: true }
    else yield { memberId, guid, uid, scope, joinedAt }
  }
}

async function* groupsOf(folder: string, notices: Notices, meet: (uid: unknown) => void): AsyncGenerator<object> {
  for await (const group of readLines(path.join(folder, sourceFiles.groups))) {
    const { owner, ...rest } = group
    if (owner !== undefined) meet(owner)
    const own = owner === undefined || owner === systemUid ? rest : group
    if (group.type !== 'password') yield own
    else {
      notices.add('group-password', String(group.guid))
      yield { ...own, password: randomBytes(18).toString('base64url') }
    }
  }
}
