import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonRecord } from '../import/records.ts'
import { readAll, readSpan } from './lists.ts'
import { readLines } from './ndjson.ts'
import type { Remote } from './remote.ts'
import { forEach } from './settle.ts'

export interface Verifying {
  readonly source: Remote
  readonly target: Remote
  readonly folder: string
  readonly without: readonly string[]
  readonly concurrency: number
  /** Epoch seconds. */
  readonly now: number
}

/** What both sides have of one conversation, or of one kind of records. */
interface Compared {
  readonly name: string
  source: number
  target: number
  /** Digests of all records, whatever their order. */
  sourceDigest: bigint
  targetDigest: bigint
}

export interface Difference {
  readonly where: string
  readonly what: string
  /** Names of the members that differ. */
  readonly fields?: readonly string[]
}

export interface Verdict {
  readonly isEqual: boolean
  readonly differences: readonly Difference[]
  readonly compared: number
}

const mostNamed = 1000

/**
 * Reads both sides once more and compares them, record by record. Writes verify.json, and verify.md for people who sign.
 * Nothing that the move remembers is trusted, but for which message became which.
 */
export async function verify(verifying: Verifying): Promise<Verdict> {
  const { source, target, folder, now } = verifying
  const tables = new Map<string, Compared>()
  const differences: Difference[] = []
  let count = 0
  const differ = (difference: Difference) => {
    count += 1
    if (differences.length < mostNamed) differences.push(difference)
  }
  const tableOf = (name: string): Compared => {
    const known = tables.get(name) ?? { name, source: 0, target: 0, sourceDigest: 0n, targetDigest: 0n }
    tables.set(name, known)
    return known
  }
  /** Compares records by their keys: what one side lacks, and what differs. */
  const compareSets = (
    table: string,
    ours: ReadonlyMap<string, JsonRecord>,
    theirs: ReadonlyMap<string, JsonRecord>,
  ) => {
    const row = tableOf(table)
    for (const [key, record] of ours) {
      row.source += 1
      row.sourceDigest = add(row.sourceDigest, [key, record])
      const other = theirs.get(key)
      if (other === undefined) differ({ where: `${table} ${key}`, what: 'is missing in the new service' })
      else if (!isDeepStrictEqual(record, other))
        differ({ where: `${table} ${key}`, what: 'differs', fields: fieldsThatDiffer(record, other) })
    }
    for (const [key, record] of theirs) {
      row.target += 1
      row.targetDigest = add(row.targetDigest, [key, record])
      if (!ours.has(key)) differ({ where: `${table} ${key}`, what: 'is not in the old service' })
    }
  }

  const [users, newUsers] = await Promise.all([readUsers(source), readUsers(target)])
  // Stand-ins for people who are no users any more.
  for (const [uid, user] of newUsers)
    if (!users.has(uid) && user.name === 'Deleted user' && user.isDeactivated === true) newUsers.delete(uid)
  compareSets('users', users, newUsers)
  const [groups, newGroups] = await Promise.all([readGroups(source), readGroups(target)])
  compareSets('groups', groups, newGroups)
  await forEach(each(groups.keys()), verifying.concurrency, async (guid) => {
    const [ours, theirs] = await Promise.all([readRoom(source, guid), readRoom(target, guid)])
    compareSets('members and bans', ours, theirs)
  })
  if (!verifying.without.includes('friends') || !verifying.without.includes('blocks'))
    await forEach(each(users.keys()), verifying.concurrency, async (uid) => {
      const [ours, theirs] = await Promise.all(
        [source, target].map((side) => readRelations(side, uid, verifying.without)),
      )
      compareSets('friends and blocks', ours!, theirs!)
    })

  const [messages, newMessages] = await Promise.all([
    readMessages(source, await namesOfSource(folder), await addressesOf(folder, target.url), now),
    readMessages(target, new Map(), new Map(), now, true),
  ])
  for (const [key, { conversation, record }] of messages) {
    const row = tableOf(`conversation ${conversation}`)
    row.source += 1
    row.sourceDigest = add(row.sourceDigest, [key, record])
    const other = newMessages.get(key)
    if (other === undefined)
      differ({ where: `message ${key} of ${conversation}`, what: 'is missing in the new service' })
    else if (!isDeepStrictEqual(record, other.record))
      differ({
        where: `message ${key} of ${conversation}`,
        what: 'differs',
        fields: fieldsThatDiffer(record, other.record),
      })
  }
  for (const [key, { conversation, record }] of newMessages) {
    const row = tableOf(`conversation ${conversation}`)
    row.target += 1
    row.targetDigest = add(row.targetDigest, [key, record])
    if (!messages.has(key)) differ({ where: `message ${key} of ${conversation}`, what: 'is not in the old service' })
  }

  const rows = [...tables.values()].map((row) => ({
    name: row.name,
    source: row.source,
    target: row.target,
    sourceDigest: row.sourceDigest.toString(16),
    targetDigest: row.targetDigest.toString(16),
    isEqual: row.source === row.target && row.sourceDigest === row.targetDigest,
  }))
  differences.sort((one, other) => (one.where < other.where ? -1 : 1))
  const isEqual = count === 0 && rows.every((row) => row.isEqual)
  const report = {
    old: source.url,
    new: target.url,
    at: new Date(now * 1000).toISOString(),
    isEqual,
    compared: rows,
    differences: count,
    named: differences,
    notCompared,
  }
  await writeFile(path.join(folder, 'verify.json'), `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 })
  await writeFile(path.join(folder, 'verify.md'), toMarkdown(report), { mode: 0o600 })
  return { isEqual, differences, compared: rows.length }
}

/** What is not compared, and why; it stands in every report. */
export const notCompared = [
  'Receipts and unread counts of groups: the lists of the old service do not tell them.',
  'Who gave a reaction: reactions are compared by their counts.',
  'Quotes, saved messages, and tags and pins of conversations.',
  'Messages that tell of an edit or a deletion; the edited and deleted messages themselves are compared.',
  'The second of an edit or a deletion; that there was one is compared.',
  'The content of files: what messages say of them is compared, with their size.',
]

export interface ComparedMessage {
  /** Its id on this side. */
  readonly id: string
  readonly conversation: string
  readonly record: JsonRecord
}

/** All messages of a side, by the muid that they have in the new service. */
export async function readMessages(
  side: Remote,
  names: ReadonlyMap<string, string>,
  addresses: ReadonlyMap<string, string>,
  now: number,
  isNew = false,
): Promise<Map<string, ComparedMessage>> {
  const keys = new Map<string, string>()
  const found = new Map<string, ComparedMessage>()
  await readSpan(side, { from: 0, to: now + 60, done: false }, '&withTags=true', async (rows) => {
    for (const row of rows) {
      const id = String(row.id)
      const key = names.get(id) ?? (typeof row.muid === 'string' ? row.muid : id)
      keys.set(id, key)
      if (row.category === 'action' && row.type === 'message') continue
      // The new service wrote it itself, when a move told it of somebody who had left.
      if (isNew && row.category === 'action' && row.muid === undefined) continue
      const parent = row.parentId === undefined ? null : (keys.get(String(row.parentId)) ?? null)
      found.set(key, { id, conversation: String(row.conversationId), record: comparable(row, parent, addresses) })
    }
  })
  return found
}

/** What is compared of a message: nothing that a service makes by itself. */
export function comparable(row: JsonRecord, parent: string | null, addresses: ReadonlyMap<string, string>): JsonRecord {
  const isDirect = row.receiverType === 'user'
  const counts = Array.isArray(row.reactions) ? (row.reactions as JsonRecord[]) : []
  return {
    sender: row.sender,
    receiver: row.receiver,
    receiverType: row.receiverType,
    category: row.category,
    type: row.type,
    sentAt: row.sentAt,
    parent,
    tags: [...((row.tags as string[] | undefined) ?? [])].sort(),
    isEdited: row.editedAt !== undefined,
    isDeleted: row.deletedAt !== undefined,
    isPinned: row.pinnedAt !== undefined,
    isDelivered: isDirect && row.deliveredAt !== undefined,
    isRead: isDirect && row.readAt !== undefined,
    reactions: counts.map(({ reaction, count }) => `${reaction} ${count}`).sort(),
    data: contentOf(row, addresses),
  }
}

/** What a message says. Entities tell of users as they are now. */
export function contentOf({ category, data }: JsonRecord, addresses: ReadonlyMap<string, string>): JsonRecord {
  const {
    entities,
    mentions: _,
    reactions: __,
    moderation: ___,
    url: ____,
    attachments,
    resource: _____,
    ...rest
  } = (data ?? {}) as JsonRecord
  if (category === 'action') {
    const { by, on } = (entities ?? {}) as { by?: JsonRecord; on?: JsonRecord }
    const uidOf = (side: JsonRecord | undefined) => (side?.entity as JsonRecord | null | undefined)?.uid ?? null
    return { action: rest.action, by: uidOf(by), on: uidOf(on) }
  }
  const files = Array.isArray(attachments) ? attachments.filter(isJsonObject) : []
  return {
    ...rest,
    ...(files.length > 0 && {
      attachments: files.map((file) => ({
        ...file,
        url: addresses.get(String(file.url)) ?? file.url,
        ...(file.size !== undefined && { size: String(file.size) }),
      })),
    }),
  }
}

async function namesOfSource(folder: string): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for await (const { id, muid } of readLines(path.join(folder, 'muids.ndjson'))) names.set(String(id), String(muid))
  return names
}

async function addressesOf(folder: string, url: string): Promise<Map<string, string>> {
  const addresses = new Map<string, string>()
  for await (const row of readLines(path.join(folder, 'uploaded.ndjson')))
    if (row.to === url) addresses.set(String(row.url), String(row.address))
  return addresses
}

export async function readUsers(side: Remote): Promise<Map<string, JsonRecord>> {
  const users = await readAll(side, '/users?withTags=true&withDeactivated=true', ({ uid }) => uid)
  return new Map(
    users.map((user) => [
      String(user.uid),
      {
        ...pick(user, ['name', 'avatar', 'link', 'role', 'metadata', 'createdAt']),
        tags: [...((user.tags as string[] | undefined) ?? [])].sort(),
        isDeactivated: user.deactivatedAt !== undefined,
      },
    ]),
  )
}

export async function readGroups(side: Remote): Promise<Map<string, JsonRecord>> {
  const groups = await readAll(side, '/groups?withTags=true', ({ guid }) => guid)
  return new Map(
    groups.map((group) => [
      String(group.guid),
      {
        ...pick(group, ['name', 'type', 'icon', 'owner', 'description', 'metadata', 'createdAt', 'membersCount']),
        tags: [...((group.tags as string[] | undefined) ?? [])].sort(),
      },
    ]),
  )
}

export async function readRoom(side: Remote, guid: string): Promise<Map<string, JsonRecord>> {
  const at = `/groups/${encodeURIComponent(guid)}`
  const [members, bans] = await Promise.all(
    ['members', 'bannedusers'].map((list) => readAll(side, `${at}/${list}`, ({ uid }) => uid, { missing: [404] })),
  )
  return new Map([
    ...members!.map(({ uid, scope, joinedAt }) => [`${guid} ${uid}`, { scope, joinedAt }] as const),
    ...bans!.map(({ uid }) => [`${guid} ${uid} banned`, {}] as const),
  ])
}

export async function readRelations(
  side: Remote,
  uid: string,
  without: readonly string[],
): Promise<Map<string, JsonRecord>> {
  const at = `/users/${encodeURIComponent(uid)}`
  const read = (kind: string, list: string) =>
    without.includes(kind) ? [] : readAll(side, `${at}/${list}`, (row) => row.uid, { missing: [404] })
  const [friends, blocks] = await Promise.all([
    read('friends', 'friends'),
    read('blocks', 'blockedusers?direction=blockedByMe'),
  ])
  return new Map([
    ...friends.map((row) => [`${uid} friend ${row.uid}`, {}] as const),
    ...blocks.map((row) => [`${uid} blocks ${row.uid}`, {}] as const),
  ])
}

function pick(record: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(names.map((name) => [name, record[name] ?? null]))
}

async function* each<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}

function fieldsThatDiffer(one: JsonRecord, other: JsonRecord): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].filter((name) => !isDeepStrictEqual(one[name], other[name]))
}

/** Adds a record to a digest that does not depend on the order. */
function add(digest: bigint, record: unknown): bigint {
  const bytes = createHash('sha256').update(canonical(record)).digest()
  return BigInt.asUintN(128, digest + bytes.readBigUInt64BE(0) * 2n ** 64n + bytes.readBigUInt64BE(8))
}

/** JSON with members in one order: services may store them in another. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}

interface Report {
  readonly old: string
  readonly new: string
  readonly at: string
  readonly isEqual: boolean
  readonly compared: ReadonlyArray<{
    name: string
    source: number
    target: number
    sourceDigest: string
    isEqual: boolean
  }>
  readonly differences: number
  readonly named: readonly Difference[]
}

function toMarkdown(report: Report): string {
  const conversations = report.compared.filter(({ name }) => name.startsWith('conversation '))
  const sum = (side: 'source' | 'target') => conversations.reduce((total, row) => total + row[side], 0)
  const others = report.compared.filter((row) => !conversations.includes(row))
  const line = (row: Report['compared'][number]) =>
    `| ${row.name.replaceAll('|', '\\|')} | ${row.source} | ${row.target} | ${row.isEqual ? 'yes' : '**no**'} | \`${row.sourceDigest.slice(0, 16)}\` |\n`
  const differing = conversations.filter(({ isEqual }) => !isEqual)
  return [
    '# Comparison of two services\n\n',
    `- Old: ${report.old}\n- New: ${report.new}\n- At: ${report.at}\n`,
    `- Result: **${report.isEqual ? 'equal' : `${report.differences} differences`}**\n\n`,
    '| | old | new | equal | digest |\n|---|---|---|---|---|\n',
    ...others.map(line),
    `| messages of ${conversations.length} conversations | ${sum('source')} | ${sum('target')} | ${differing.length === 0 ? 'yes' : `**${differing.length} conversations differ**`} | |\n`,
    ...differing.slice(0, 100).map(line),
    '\nEach record was read anew from both services and compared member by member. verify.json has every conversation.\n',
    ...(report.named.length === 0 ? [] : ['\n## Differences\n\n']),
    ...report.named
      .slice(0, 200)
      .map(
        ({ where, what, fields }) => `- ${where}: ${what}${fields === undefined ? '' : ` (${fields.join(', ')})`}\n`,
      ),
    '\n## Not compared\n\n',
    ...notCompared.map((text) => `- ${text}\n`),
    '\n## Signed\n\n| name | date | signature |\n|---|---|---|\n| | | |\n| | | |\n',
  ].join('')
}
