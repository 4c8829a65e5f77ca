import path from 'node:path'
import type { JsonRecord } from '../import/records.ts'
import type { Journal } from './journal.ts'
import { readAll, readReactions, readSpan, rowsOf, type Span } from './lists.ts'
import { readLines } from './ndjson.ts'
import type { Remote } from './remote.ts'
import { type MoveState, sourceFiles } from './state.ts'

/** Lists of each user that can be left out with --without: they are a request for each user. */
export const listsOfUsers = ['friends', 'blocks', 'conversations', 'saves', 'tokens'] as const
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
  read: (source: Remote) => Promise<JsonRecord[]>,
): Promise<void> {
  const { state } = journal
  if (state.done.includes(name)) return
  const rows = await read(source)
  await journal.append(file, rows, () => {
    state.done.push(name)
    count(state, name, rows.length)
  })
}

async function readRoles(source: Remote): Promise<JsonRecord[]> {
  const roles = await readAll(source, '/roles', ({ role }) => role)
  return Promise.all(
    roles.map(async (role) => {
      const at = `/roles/${encodeURIComponent(String(role.role))}`
      const [permissions, restricted] = await Promise.all([
        readPermissions(source, `${at}/permissions`),
        readAll(source, `${at}/restrictedfeatures`, ({ key }) => key, { missing: [404] }),
      ])
      return { role, permissions, restricted: restricted.map(({ key }) => key) }
    }),
  )
}

/** Permissions that were set, not those that hold by default. */
async function readPermissions(source: Remote, path: string): Promise<JsonRecord> {
  const all = await readAll(source, path, ({ id }) => id, { missing: [404] })
  return Object.fromEntries(all.filter(({ value }) => value !== undefined).map(({ id, value }) => [String(id), value]))
}

async function readApp(source: Remote): Promise<JsonRecord[]> {
  const keys = await readAll(source, '/apikeys', ({ apiKey }) => apiKey, { missing: [403, 404] })
  const pinned = await source.get('/conversations/pinned', { expected: [400, 404] })
  const rows = pinned.status === 200 ? rowsOf(source, '/conversations/pinned', pinned.body) : []
  return [...keys.map((key) => ({ kind: 'apiKey', key })), { kind: 'pinnedConversations', rows }]
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
  while (state.people < people.length) {
    const batch = people.slice(state.people, state.people + atOnce)
    const rows = (await Promise.all(batch.map((person) => readPerson(source, person, without)))).flat()
    await journal.append(sourceFiles.people, rows, () => {
      state.people += batch.length
      for (const { kind } of rows) count(state, kind, 1)
    })
  }
}

async function readPerson(
  source: Remote,
  { uid, isActive }: { uid: string; isActive: boolean },
  without: readonly string[],
): Promise<({ kind: ListOfUsers } & JsonRecord)[]> {
  const at = `/users/${encodeURIComponent(uid)}`
  const read = async <Kind extends ListOfUsers>(kind: Kind, ...args: Parameters<typeof readAll>) =>
    without.includes(kind) ? [] : (await readAll(...args)).map((row) => ({ kind, uid, row }))
  const uidOf = (row: JsonRecord) => row.uid
  const gone = { missing: [404] }
  const own = { as: uid, missing: [404] }
  /** The unread pointer is told by the first message behind it. Last messages are in the scan of messages. */
  const withUnread = (rows: { kind: 'conversations'; uid: string; row: JsonRecord }[]) =>
    Promise.all(
      rows.map(async ({ row: { lastMessage, ...row }, ...rest }) => {
        if (!(Number(row.unreadMessageCount) > 0)) return { ...rest, row }
        const id = encodeURIComponent(String(row.conversationId))
        const path = `/messages?unread=true&conversationId=${id}&affix=append&limit=1`
        const { status, body } = await source.get(path, { as: uid, expected: [400, 404] })
        const [first] = status === 200 ? rowsOf(source, path, body) : []
        return { ...rest, row: { ...row, ...(first !== undefined && { firstUnread: first.id }) } }
      }),
    )
  const lists = await Promise.all([
    read('friends', source, `${at}/friends`, uidOf, gone),
    read('blocks', source, `${at}/blockedusers?direction=blockedByMe`, uidOf, gone),
    isActive ? read('tokens', source, `${at}/auth_tokens`, ({ authToken }) => authToken, gone) : [],
    // Nobody acts for a user who is deactivated.
    isActive
      ? read('conversations', source, '/conversations?withTags=true', ({ conversationId }) => conversationId, own).then(
          withUnread,
        )
      : [],
    isActive && !without.includes('saves') ? readSaved(source, uid) : [],
  ])
  return lists.flat()
}

/** Users can save about a hundred messages, so they are one page. */
async function readSaved(source: Remote, uid: string) {
  const path = '/messages?saved=true&affix=append&limit=1000'
  const { status, body } = await source.get(path, { as: uid, expected: [400, 404] })
  if (status !== 200) return []
  return rowsOf(source, path, body).map(({ id, savedAt }) => ({ kind: 'saves' as const, uid, row: { id, savedAt } }))
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
  const next = (): Span | undefined => {
    const waiting = spans.find((span) => !span.done && !busy.has(span))
    if (waiting !== undefined) return waiting
    const left = (span: Span) => span.to - (span.cursor?.sentAt ?? span.from)
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
