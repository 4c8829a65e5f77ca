import path from 'node:path'
import { isJsonObject, type JsonRecord } from '../import/records.ts'
import {
  readAppPins,
  readFollowedThreads,
  readKeys,
  readPermissions,
  readRoles,
  readSaved,
  readTokens,
} from './facts.ts'
import type { Journal } from './journal.ts'
import { readAll, readReactions, readSpan, rowsOf, type Span } from './lists.ts'
import { readModeration } from './moderation.ts'
import { readLines } from './ndjson.ts'
import { changeOf, readNotifications, readSettings, untouched } from './notifications.ts'
import type { Remote } from './remote.ts'
import { type MoveState, sourceFiles } from './state.ts'

/** Lists of each user that can be left out with --without: they are a request for each user. */
export const listsOfUsers = [
  ...['friends', 'blocks', 'conversations', 'resets', 'saves', 'threads', 'tokens', 'notifications'],
] as const
export type ListOfUsers = (typeof listsOfUsers)[number]

export interface Collecting {
  readonly source: Remote
  readonly journal: Journal<MoveState>
  readonly folder: string
  readonly concurrency: number
  readonly without: readonly string[]
  /** Epoch seconds. */
  now(): number
}

/** Reads everything that the lists of the source give into the folder; goes on where an earlier run has ended. */
export async function collect(collecting: Collecting): Promise<void> {
  await collectOnce(collecting, 'roles', sourceFiles.roles, readRoles)
  await collectOnce(collecting, 'app', sourceFiles.app, readApp)
  await collectOnce(collecting, 'users', sourceFiles.users, (source) =>
    readAll(source, '/users?withTags=true&withDeactivated=true', ({ uid }) => uid),
  )
  await collectOnce(collecting, 'groups', sourceFiles.groups, (source) =>
    readAll(source, '/groups?withTags=true', ({ guid }) => guid),
  )
  await collectRooms(collecting)
  await collectMessages(collecting)
  await collectPeople(collecting)
}

async function collectOnce(
  { source, journal }: Collecting,
  name: string,
  file: string,
  read: (source: Remote) => Promise<readonly object[]>,
): Promise<void> {
  const { state } = journal
  if (state.done.includes(name)) return
  const rows = await read(source)
  await journal.append(file, rows, () => {
    state.done.push(name)
    count(state, name, rows.length)
  })
}

async function readApp(source: Remote): Promise<JsonRecord[]> {
  const keys = await readKeys(source)
  const rows = await readAppPins(source)
  return [
    ...keys.map((key) => ({ kind: 'apiKey', key })),
    { kind: 'pinnedConversations', rows },
    { kind: 'notificationSettings', row: await readSettings(source) },
    ...(await readModeration(source)),
  ]
}

const atOnce = 50

async function collectRooms({ source, journal, folder }: Collecting): Promise<void> {
  const { state } = journal
  await journal.save()
  const guids: string[] = []
  for await (const group of readLines(path.join(folder, sourceFiles.groups))) guids.push(String(group.guid))
  while (state.rooms < guids.length) {
    const batch = guids.slice(state.rooms, state.rooms + atOnce)
    const rows = (await Promise.all(batch.map((guid) => readRoom(source, guid)))).flat()
    await journal.append(sourceFiles.rooms, rows, () => {
      state.rooms += batch.length
      for (const { kind } of rows) count(state, kind, 1)
    })
  }
}

async function readRoom(source: Remote, guid: string): Promise<({ kind: string } & JsonRecord)[]> {
  const at = `/groups/${encodeURIComponent(guid)}`
  const gone = { missing: [404] }
  const [members, bans, ...permissions] = await Promise.all([
    readAll(source, `${at}/members`, ({ uid }) => uid, gone),
    readAll(source, `${at}/bannedusers`, ({ uid }) => uid, gone),
    ...['admin', 'moderator', 'participant'].map(async (scope) => ({
      scope,
      permissions: await readPermissions(source, `${at}/scopes/${scope}/permissions`),
    })),
  ])
  return [
    ...members.map((row) => ({ kind: 'members', guid, row })),
    ...bans.map((row) => ({ kind: 'bans', guid, row })),
    ...permissions
      .filter((scope) => Object.keys(scope.permissions).length > 0)
      .map((scope) => ({ kind: 'scopePermissions', guid, ...scope })),
  ]
}

async function collectPeople({ source, journal, folder, without }: Collecting): Promise<void> {
  const { state } = journal
  await journal.save()
  const people: { uid: string; isActive: boolean }[] = []
  for await (const user of readLines(path.join(folder, sourceFiles.users)))
    people.push({ uid: String(user.uid), isActive: !user.deactivatedAt })
  if (state.people === people.length) return
  const ends = without.includes('conversations') ? undefined : await readEnds(folder, state)
  const settings = without.includes('notifications') ? undefined : await settingsIn(folder)
  while (state.people < people.length) {
    const batch = people.slice(state.people, state.people + atOnce)
    const rows = (
      await Promise.all(batch.map((person) => readPerson(source, person, { without, ends, settings })))
    ).flat()
    await journal.append(sourceFiles.people, rows, () => {
      state.people += batch.length
      for (const { kind } of rows) count(state, kind, 1)
    })
  }
}

/** Notification settings of the app, as they were read; undefined where it has none. */
async function settingsIn(folder: string): Promise<JsonRecord | undefined> {
  for await (const { kind, row } of readLines(path.join(folder, sourceFiles.app)))
    if (kind === 'notificationSettings' && isJsonObject(row)) return row
  return undefined
}

interface ReadingPeople {
  readonly without: readonly string[]
  readonly ends: Ends | undefined
  /** What holds where somebody chose nothing about their notifications; undefined: those are not read. */
  readonly settings: JsonRecord | undefined
}

async function readPerson(
  source: Remote,
  { uid, isActive }: { uid: string; isActive: boolean },
  { without, ends, settings }: ReadingPeople,
): Promise<({ kind: ListOfUsers | 'refused' } & JsonRecord)[]> {
  const at = `/users/${encodeURIComponent(uid)}`
  const read = async <Kind extends ListOfUsers>(kind: Kind, ...args: Parameters<typeof readAll>) =>
    without.includes(kind) ? [] : (await readAll(...args)).map((row) => ({ kind, uid, row }))
  const uidOf = (row: JsonRecord) => row.uid
  const gone = { missing: [404] }
  let isRefused = false
  const onMissing = (status: number) => {
    isRefused ||= status === 403
  }
  // A role may deny its users their own lists.
  const own = { as: uid, missing: [403, 404], onMissing }
  const withMarks = (rows: { kind: 'conversations'; uid: string; row: JsonRecord }[]) =>
    Promise.all(
      rows.map(async ({ row, ...rest }) => {
        ends?.unlisted.get(uid)?.delete(String(row.conversationId))
        return { ...rest, row: await readSide(source, uid, row, without.includes('resets') ? undefined : ends) }
      }),
    )
  const lists = await Promise.all([
    read('friends', source, `${at}/friends`, uidOf, gone),
    read('blocks', source, `${at}/blockedusers?direction=blockedByMe`, uidOf, gone),
    isActive && !without.includes('tokens')
      ? (await readTokens(source, uid)).map((row) => ({ kind: 'tokens' as const, uid, row }))
      : [],
    // Nobody acts for a user who is deactivated.
    isActive
      ? read('conversations', source, '/conversations?withTags=true', ({ conversationId }) => conversationId, own).then(
          withMarks,
        )
      : [],
    isActive && !without.includes('saves')
      ? (await readSaved(source, uid)).map(({ id, savedAt }) => ({ kind: 'saves' as const, uid, row: { id, savedAt } }))
      : [],
    isActive && !without.includes('threads')
      ? (await readFollowedThreads(source, uid)).map((row) => ({ kind: 'threads' as const, uid, row }))
      : [],
    isActive && settings !== undefined ? readChosen(source, uid, settings) : [],
  ])
  const rows: ({ kind: ListOfUsers | 'refused' } & JsonRecord)[] = lists.flat()
  if (isRefused) rows.push({ kind: 'refused', uid, row: {} })
  else if (isActive && !without.includes('conversations'))
    for (const conversationId of ends?.unlisted.get(uid) ?? []) {
      const end = ends?.byConversation.get(conversationId)
      if (!without.includes('resets')) rows.push({ kind: 'resets', uid, row: { ...end } })
      // They see it again, but nothing in it is new to them.
      else if (end?.guid !== undefined) rows.push({ kind: 'conversations', uid, row: readToEnd(end) })
    }
  return rows
}

/** The side of a member who has read all that a group has. */
function readToEnd({ guid, last }: End): JsonRecord {
  return { conversationType: 'group', conversationWith: { guid }, lastRead: last }
}

/** What somebody chose about their notifications; nothing where all is as the app says. */
async function readChosen(source: Remote, uid: string, settings: JsonRecord) {
  const row = await readNotifications(source, uid)
  const isChosen = row !== undefined && changeOf(untouched(settings), row) !== undefined
  return isChosen ? [{ kind: 'notifications' as const, uid, row }] : []
}

interface End {
  /** Id of the first message. */
  readonly first: string
  last: string
  readonly receiverType: unknown
  /** Of one-to-one conversations. */
  readonly people: readonly string[]
  readonly guid: string | undefined
}

/** Where conversations begin and end, and which of them are not met yet in the list of whom they are of. */
interface Ends {
  readonly byConversation: ReadonlyMap<string, End>
  /** Ids of conversations by uid. Who does not list one has cleared it. */
  readonly unlisted: ReadonlyMap<string, Set<string>>
}

async function readEnds(folder: string, { spans }: MoveState): Promise<Ends> {
  const byConversation = new Map<string, End>()
  const unlisted = new Map<string, Set<string>>()
  const add = (uid: string, id: string) => {
    const ids = unlisted.get(uid) ?? new Set()
    unlisted.set(uid, ids.add(id))
  }
  const inOrder = spans.map(({ from }, index) => ({ from, index })).sort((one, other) => one.from - other.from)
  for (const { index } of inOrder)
    for await (const row of readLines(path.join(folder, sourceFiles.messages(index)))) {
      const [id, name] = [String(row.id), String(row.conversationId)]
      const known = byConversation.get(name)
      if (known !== undefined) {
        known.last = id
        continue
      }
      const isGroup = row.receiverType === 'group'
      const people = isGroup ? [] : [...new Set([String(row.sender), String(row.receiver)])]
      const guid = isGroup ? String(row.receiver) : undefined
      byConversation.set(name, { first: id, last: id, receiverType: row.receiverType, people, guid })
      for (const uid of people) add(uid, name)
    }
  for await (const { kind, guid, row } of readLines(path.join(folder, sourceFiles.rooms)))
    if (kind === 'members' && byConversation.has(`group_${guid}`)) add(String((row as JsonRecord).uid), `group_${guid}`)
  return { byConversation, unlisted }
}

/**
 * What is kept of a conversation in a user's list. Where their marks are is told by the first message that they have not
 * read, and by the one before it; last messages are in the scan of messages.
 */
async function readSide(
  source: Remote,
  uid: string,
  conversation: JsonRecord,
  ends: Ends | undefined,
): Promise<JsonRecord> {
  const { lastMessage, conversationWith, ...row } = conversation
  const { uid: peer, guid } = (conversationWith ?? {}) as JsonRecord
  const known = ends?.byConversation.get(String(row.conversationId))
  const at = `/messages?conversationId=${encodeURIComponent(String(row.conversationId))}&limit=1`
  const rowsAt = async (filters: string, as: { as?: string } = { as: uid }) => {
    const { status, body } = await source.get(`${at}${filters}`, { ...as, expected: [400, 403, 404] })
    return status === 200 ? rowsOf(source, at, body) : undefined
  }
  const first = async (...asked: Parameters<typeof rowsAt>): Promise<unknown> => (await rowsAt(...asked))?.[0]?.id
  const visible = known === undefined ? undefined : await first('&affix=append')
  const isReset = visible !== undefined && visible !== known?.first
  const reset = isReset ? await first(`&affix=prepend&id=${visible}`, {}) : undefined
  const side = { ...row, conversationWith: { uid: peer, guid }, ...(reset !== undefined && { reset }) }
  const unread = Number(row.unreadMessageCount) > 0 ? await rowsAt('&unread=true&affix=append') : []
  if (unread === undefined) return side
  // Also where they have read it since their list was read.
  if (unread.length === 0) return { ...side, lastRead: (lastMessage as JsonRecord | undefined)?.id }
  const firstUnread = unread[0]?.id
  const lastRead = row.conversationType === 'group' ? await first(`&affix=prepend&id=${firstUnread}`) : undefined
  return { ...side, firstUnread, ...(lastRead !== undefined && { lastRead }) }
}

/** Parts of the time that are shorter, in seconds, are not divided further. */
const shortestSpan = 600

/** Reads all messages, several parts of the time at once. Who is through with a part takes the second half of another. */
async function collectMessages({ source, journal, concurrency, now }: Collecting): Promise<void> {
  const { state } = journal
  const { spans } = state
  if (spans.length === 0) {
    const path = '/messages?affix=append&limit=1'
    const [first] = rowsOf(source, path, (await source.get(path)).body)
    spans.push({ from: Number(first?.sentAt ?? 0), to: now(), done: first === undefined })
  }
  const busy = new Set<Span>()
  /** The time of the last message of each part that is on its way; the cursor follows when it is written. */
  const reached = new Map<Span, number>()
  const next = (): Span | undefined => {
    const waiting = spans.find((span) => !span.done && !busy.has(span))
    if (waiting !== undefined) return waiting
    const left = (span: Span) => span.to - (reached.get(span) ?? span.cursor?.sentAt ?? span.from)
    const [longest] = [...busy].sort((one, other) => left(other) - left(one))
    if (longest === undefined || left(longest) < shortestSpan) return undefined
    const middle = longest.to - Math.floor(left(longest) / 2)
    const half: Span = { from: middle + 1, to: longest.to, done: false }
    longest.to = middle
    spans.push(half)
    return half
  }
  const work = async () => {
    for (let span = next(); span !== undefined; span = next()) {
      busy.add(span)
      await readInto(span)
      busy.delete(span)
    }
  }
  const readInto = (span: Span) =>
    readSpan(source, span, '&withTags=true', async (rows, cursor) => {
      if (rows.length > 0) reached.set(span, Number(rows.at(-1)?.sentAt))
      const whole = await withReactions(source, rows)
      await journal.append(sourceFiles.messages(spans.indexOf(span)), whole, () => {
        if (cursor === undefined) span.done = true
        else span.cursor = cursor
        count(state, 'messages', whole.length)
      })
    })
  // Half of the requests at once ask for reactions of pages.
  await Promise.all(Array.from({ length: concurrency }, work))
}

/** Puts those who reacted in place of the counts; messages without reactions stay as they are. */
export function withReactions(source: Remote, rows: readonly JsonRecord[]): Promise<JsonRecord[]> {
  return Promise.all(
    rows.map(async (row) => {
      const counts = row.reactions ?? (row.data as JsonRecord | undefined)?.reactions
      if (!Array.isArray(counts) || counts.length === 0) return row
      const expected = counts.reduce((sum, { count }: JsonRecord) => sum + (Number(count) || 0), 0)
      const reactions = await readReactions(source, String(row.id), expected)
      return {
        ...row,
        reactions: (reactions ?? []).map(({ reaction, uid, reactedAt }) => ({ reaction, uid, reactedAt })),
      }
    }),
  )
}

function count(state: MoveState, name: string, by: number): void {
  state.counts[name] = (state.counts[name] ?? 0) + by
}
