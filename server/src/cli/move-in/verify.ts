import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { JsonRecord } from '../import/records.ts'
import { compareLists, compareMessages, type Found, type Keyed } from './compare.ts'
import { addDigest, digestOf } from './digests.ts'
import {
  chosen,
  groupsOf,
  isAboutNothing,
  isStandIn,
  messageFacts,
  reactorsOf,
  readAppPins,
  readPerson,
  readRoles,
  readRoom,
  readScopes,
  usersOf,
} from './facts.ts'
import { forEach } from './for-each.ts'
import type { IdMap } from './id-map.ts'
import { knownTo, readSettings } from './notifications.ts'
import type { Remote } from './remote.ts'

export interface Verifying {
  readonly source: Remote
  readonly target: Remote
  readonly ids: IdMap
  readonly folder: string
  /** New addresses of files by their old ones. */
  readonly addresses: ReadonlyMap<string, string>
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
  const { source, target, ids, folder, addresses, without, concurrency, now } = verifying
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
  /** @param count -1 takes back what was booked */
  const book = (table: string, side: 'ours' | 'theirs', digest: bigint, count: 1 | -1 = 1) => {
    const row = tableOf(table)
    const change = count === 1 ? digest : -digest
    if (side === 'ours') {
      row.source += count
      row.sourceDigest = addDigest(row.sourceDigest, change)
    } else {
      row.target += count
      row.targetDigest = addDigest(row.targetDigest, change)
    }
  }
  const note = (where: string, ours: JsonRecord | undefined, theirs: JsonRecord | undefined) => {
    if (theirs === undefined) differ({ where, what: 'is missing in the new service' })
    else if (ours === undefined) differ({ where, what: 'is not in the old service' })
    else if (!isDeepStrictEqual(ours, theirs)) differ({ where, what: 'differs', fields: namesThatDiffer(ours, theirs) })
  }
  const compare = async (table: string, read: (side: Remote) => Keyed, isExpected = (_: Found) => false) => {
    tableOf(table)
    const found = await compareLists(
      () => read(source),
      () => read(target),
      (side, _, digest) => book(table, side, digest),
    )
    for (const difference of found) {
      const { key, ours, theirs } = difference
      if (!isExpected(difference)) note(`${table} ${key}`, ours, theirs)
      else {
        if (ours !== undefined) book(table, 'ours', digestOf([key, ours]), -1)
        if (theirs !== undefined) book(table, 'theirs', digestOf([key, theirs]), -1)
      }
    }
  }

  // Stand-ins for people who are no users any more.
  await compare('users', usersOf, ({ ours, theirs }) => ours === undefined && isStandIn(theirs))
  await compare('groups', groupsOf)
  await compare('roles', async function* (side) {
    for (const { role, permissions, restricted } of await readRoles(side))
      yield [String(role.role), { name: role.name, permissions, restricted: [...restricted].sort() }]
  })
  await compare('conversations pinned for everybody', async function* (side) {
    for (const { conversationId, conversationType } of await readAppPins(side))
      if (conversationType === 'group') yield [String(conversationId), {}]
  })
  const settings = without.includes('notifications') ? [] : await Promise.all([source, target].map(readSettings))
  const [ours, theirs] = settings
  if (ours !== undefined && theirs !== undefined)
    await compare('notification settings', async function* (side) {
      // What the new service does not know is no difference.
      yield ['of the app', side === source ? knownTo(theirs, ours) : theirs]
    })
  await forEach(keysOf(groupsOf(source)), concurrency, async (guid) => {
    await compare('members and bans', async function* (side) {
      for (const [key, record] of await readRoom(side, guid)) yield [`${guid} ${key}`, record]
    })
    await compare('permissions of groups', async function* (side) {
      for (const [key, record] of await readScopes(side, guid)) yield [`${guid} ${key}`, record]
    })
  })
  // A service may tell nothing about notifications, or nothing of those who are deactivated.
  const isUnreported = ({ key, ours, theirs }: Found) =>
    key.endsWith(` ${chosen}`) && (ours === undefined || theirs === undefined)
  await forEach(keysOf(usersOf(source)), concurrency, async (uid) => {
    await compare(
      'lists of users',
      async function* (side) {
        const idOf = side === source ? ids.to : undefined
        for (const [key, record] of await readPerson(side, uid, without, idOf, true)) yield [`${uid} ${key}`, record]
      },
      isUnreported,
    )
  })

  await compareMessages({ source, target, ids, parts: Math.max(1, Math.floor(concurrency / 2)), now }, async (pair) => {
    const { ours, theirs } = pair
    const row = (ours ?? theirs) as JsonRecord
    if (isAboutNothing(row) || (ours === undefined && isOwnNote(row))) return
    const key = String(ours === undefined ? theirs?.id : (ids.to(String(ours.id)) ?? `of the old service ${ours.id}`))
    const table = `conversation ${row.conversationId}`
    const old = ours && (await wholeFacts(source, ours, messageFacts(ours, ids.to, addresses)))
    const young = theirs && (await wholeFacts(target, theirs, messageFacts(theirs)))
    if (old !== undefined) book(table, 'ours', digestOf([key, old]))
    if (young !== undefined) book(table, 'theirs', digestOf([key, young]))
    note(`message ${key} of ${row.conversationId}`, old, young)
  })

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
const notCompared = [
  'Receipts of groups: the lists of the old service do not tell who received and read a message.',
  'Messages that tell of the deletion of a message that is gone.',
  'The second of an edit or a deletion; that there was one is compared.',
  'The content of files: what messages say of them is compared, with their size.',
]

/** The facts of a message with the people who reacted in place of counts. */
async function wholeFacts(side: Remote, { id }: JsonRecord, facts: JsonRecord): Promise<JsonRecord> {
  if ((facts.reactions as string[]).length === 0) return facts
  return { ...facts, reactions: [...(await reactorsOf(side, String(id))).keys()].sort() }
}

/** The new service wrote it when a move told it of somebody who had left. */
export function isOwnNote(row: JsonRecord | undefined): boolean {
  return row?.category === 'action' && row.muid === undefined
}

async function* keysOf(records: Keyed): AsyncGenerator<string> {
  for await (const [key] of records) yield key
}

function namesThatDiffer(one: JsonRecord, other: JsonRecord): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].filter((name) => !isDeepStrictEqual(one[name], other[name]))
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
