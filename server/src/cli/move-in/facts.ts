import { unsigned } from '../../media/links.ts'
import { isJsonObject, type JsonRecord } from '../import/records.ts'
import { standInName } from '../import/stand-ins.ts'
import type { Keyed } from './compare.ts'
import { readAll, readPages, readReactions, rowsOf } from './lists.ts'
import { addressAlone } from './named-files.ts'
import { readNotifications } from './notifications.ts'
import type { Remote } from './remote.ts'

/** What is compared of what a side has: nothing that a service makes by itself. */

/**
 * @param idOf the id in the target of a message that it replies to or quotes
 * @param addresses new addresses of files by their old ones
 */
export function messageFacts(
  row: JsonRecord,
  idOf: (id: string) => string | undefined = (id) => id,
  addresses: ReadonlyMap<string, string> = new Map(),
): JsonRecord {
  const named = (id: unknown) => (id === undefined ? null : (idOf(String(id)) ?? null))
  const isDirect = row.receiverType === 'user'
  const counts = Array.isArray(row.reactions) ? (row.reactions as JsonRecord[]) : []
  return {
    sender: row.sender,
    receiver: row.receiver,
    receiverType: row.receiverType,
    category: row.category,
    type: row.type,
    sentAt: row.sentAt,
    parent: named(row.parentId),
    quoted: named(row.quotedMessageId),
    subject: named(subjectOf(row)),
    tags: sorted(row.tags),
    isEdited: row.editedAt !== undefined,
    isDeleted: row.deletedAt !== undefined,
    isPinned: row.pinnedAt !== undefined,
    isDelivered: isDirect && row.deliveredAt !== undefined,
    isRead: isDirect && row.readAt !== undefined,
    reactions: counts.map(({ reaction, count }) => `${reaction} ${count}`).sort(),
    data: contentOf(row, addresses),
  }
}

/** Who gave which reaction to a message, by `<reaction> <uid>`. */
export async function reactorsOf(
  side: Remote,
  id: string,
): Promise<Map<string, { readonly reaction: string; readonly uid: string; readonly reactedAt: number }>> {
  const listed = (await readReactions(side, id, Number.POSITIVE_INFINITY)) ?? []
  return new Map(
    listed.map((row) => [
      `${row.reaction} ${row.uid}`,
      { reaction: String(row.reaction), uid: String(row.uid), reactedAt: Number(row.reactedAt ?? 0) },
    ]),
  )
}

/** The message that an action message is about. */
export function subjectOf({ category, type, data }: JsonRecord): string | undefined {
  if (category !== 'action' || type !== 'message') return undefined
  const { entities } = (data ?? {}) as { entities?: { on?: { entity?: { id?: unknown } } } }
  const id = entities?.on?.entity?.id
  return id === undefined ? undefined : String(id)
}

/** It tells of a message that is gone, of which nothing but its id is left. */
export function isAboutNothing(row: JsonRecord): boolean {
  if (subjectOf(row) === undefined) return false
  const { entities } = row.data as { entities: { on: { entity: JsonRecord } } }
  return entities.on.entity.sender === undefined
}

/** What a message says. Entities tell of users as they are now. */
export function contentOf(row: JsonRecord, addresses: ReadonlyMap<string, string>): JsonRecord {
  const { category, data } = row
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
  const alone = addressAlone(row)
  const current = (url: string) => unsigned(addresses.get(url) ?? url)
  return {
    ...rest,
    ...(alone !== undefined && { url: current(alone) }),
    ...(files.length > 0 && {
      attachments: files.map((file) => ({
        ...file,
        url: typeof file.url === 'string' ? current(file.url) : file.url,
        ...(file.size !== undefined && { size: String(file.size) }),
      })),
    }),
  }
}

/** Name of those who stand in for people who are no users any more. */
export function isStandIn(user: JsonRecord | undefined): boolean {
  return user?.name === standInName && user.isDeactivated === true
}

export async function* usersOf(side: Remote): Keyed {
  for await (const users of readPages(side, '/users?withTags=true&withDeactivated=true', ({ uid }) => uid))
    for (const user of users) yield [String(user.uid), userFacts(user)]
}

function userFacts(user: JsonRecord): JsonRecord {
  return {
    ...pick(user, ['name', 'avatar', 'link', 'role', 'statusMessage', 'metadata', 'createdAt']),
    tags: sorted(user.tags),
    isDeactivated: user.deactivatedAt !== undefined,
  }
}

export async function* groupsOf(side: Remote): Keyed {
  for await (const groups of readPages(side, '/groups?withTags=true', ({ guid }) => guid))
    for (const group of groups) yield [String(group.guid), groupFacts(group)]
}

export function groupFacts(group: JsonRecord): JsonRecord {
  return {
    ...pick(group, ['name', 'type', 'icon', 'owner', 'description', 'metadata', 'createdAt', 'membersCount']),
    tags: sorted(group.tags),
  }
}

/** Members of a group by `<uid>`, bans by `<uid> banned`. */
export async function readRoom(side: Remote, guid: string): Promise<Map<string, JsonRecord>> {
  const at = `/groups/${encodeURIComponent(guid)}`
  const [members, bans] = await Promise.all(
    ['members', 'bannedusers'].map((list) => readAll(side, `${at}/${list}`, ({ uid }) => uid, { missing: [404] })),
  )
  return new Map([
    ...members!.map(({ uid, scope, joinedAt }) => [String(uid), { scope, joinedAt }] as const),
    ...bans!.map(({ uid }) => [`${uid} banned`, {}] as const),
  ])
}

/** Permissions that were set for the scopes of a group, by `<scope> <permission>`. */
export async function readScopes(side: Remote, guid: string): Promise<Map<string, JsonRecord>> {
  const scopes = await Promise.all(
    ['admin', 'moderator', 'participant'].map(async (scope) => {
      const at = `/groups/${encodeURIComponent(guid)}/scopes/${scope}/permissions`
      return Object.entries(await readPermissions(side, at)).map(
        ([key, value]) => [`${scope} ${key}`, { value }] as const,
      )
    }),
  )
  return new Map(scopes.flat())
}

/** Permissions that were set, not those that hold by default. */
export async function readPermissions(side: Remote, path: string): Promise<JsonRecord> {
  const all = await readAll(side, path, ({ id }) => id, { missing: [404] })
  return Object.fromEntries(all.filter(({ value }) => value !== undefined).map(({ id, value }) => [String(id), value]))
}

export interface Role {
  /** As the list tells it. */
  readonly role: JsonRecord
  readonly permissions: JsonRecord
  readonly restricted: readonly string[]
}

/** Roles with their permissions and restricted features. */
export async function readRoles(side: Remote): Promise<Role[]> {
  const roles = await readAll(side, '/roles', ({ role }) => role)
  return Promise.all(
    roles.map(async (role) => {
      const at = `/roles/${encodeURIComponent(String(role.role))}`
      const [permissions, restricted] = await Promise.all([
        readPermissions(side, `${at}/permissions`),
        readAll(side, `${at}/restrictedfeatures`, ({ key }) => key, { missing: [404] }),
      ])
      return { role, permissions, restricted: restricted.map(({ key }) => String(key)) }
    }),
  )
}

/** Conversations that are pinned for everybody; none where the service has no such list. */
export async function readAppPins(side: Remote): Promise<JsonRecord[]> {
  const { status, body } = await side.get('/conversations/pinned', { expected: [400, 404] })
  return status === 200 ? rowsOf(side, '/conversations/pinned', body) : []
}

/** In what a user has of their own: their role denies them their list of conversations. */
export const refused = 'refused'

/** In what a user has of their own: what they chose about their notifications. */
export const chosen = 'notifications'

/**
 * What a user has of their own: `friend <uid>`, `blocks <uid>`, `saved <id>`, `thread <id>`, and `conversation <user|group> <id>`
 * with tags, unread messages, and whether they pinned it. Nobody asks in the name of users who are deactivated: those have
 * only friends and blocks. If it is complete, `notifications` is what holds for them.
 * @param idOf the id in the target of a message that they saved, or whose thread they follow
 * @param isComplete where they see each conversation from, too, which costs a request for each
 */
export async function readPerson(
  side: Remote,
  uid: string,
  without: readonly string[],
  idOf: (id: string) => string | undefined = (id) => id,
  isComplete = false,
): Promise<Map<string, JsonRecord>> {
  const at = `/users/${encodeURIComponent(uid)}`
  const gone = { missing: [404] }
  let isRefused = false
  const onMissing = (status: number) => {
    isRefused ||= status === 403
  }
  const own = { as: uid, missing: [403, 404], onMissing }
  const nameOf = (id: unknown) => idOf(String(id)) ?? `of the old service ${id}`
  const unless = async (kind: string, read: () => Promise<JsonRecord[]>) => (without.includes(kind) ? [] : read())
  const [friends, blocks, conversations, saved, threads] = await Promise.all([
    unless('friends', () => readAll(side, `${at}/friends`, (row) => row.uid, gone)),
    unless('blocks', () => readAll(side, `${at}/blockedusers?direction=blockedByMe`, (row) => row.uid, gone)),
    unless('conversations', () => readAll(side, '/conversations?withTags=true', conversationKey, own)),
    unless('saves', () => readSaved(side, uid)),
    unless('threads', () => readFollowedThreads(side, uid)),
  ])
  const notifications =
    isComplete && !without.includes('notifications') ? await readNotifications(side, uid) : undefined
  /** The first message that they see: what is before it they have cleared. */
  const first = async ({ conversationId }: JsonRecord) => {
    const path = `/messages?conversationId=${encodeURIComponent(String(conversationId))}&affix=append&limit=1`
    const { status, body } = await side.get(path, { as: uid, expected: [400, 403, 404] })
    const [row] = status === 200 ? rowsOf(side, path, body) : []
    return row === undefined ? null : nameOf(row.id)
  }
  const sides = await Promise.all(
    conversations.map(async (row) => {
      const facts = { tags: sorted(row.tags), isPinned: row.pinnedBy === uid, unread: Number(row.unreadMessageCount) }
      const isFirstAsked = isComplete && !without.includes('resets')
      const whole = { ...facts, ...(isFirstAsked && { first: await first(row) }) }
      return [`conversation ${conversationKey(row)}`, whole] as const
    }),
  )
  return new Map<string, JsonRecord>([
    ...(isRefused ? [[refused, {}] as const] : []),
    ...(notifications === undefined ? [] : [[chosen, notifications] as const]),
    ...friends.map((row) => [`friend ${row.uid}`, {}] as const),
    ...blocks.map((row) => [`blocks ${row.uid}`, {}] as const),
    ...saved.map(({ id }) => [`saved ${nameOf(id)}`, {}] as const),
    ...threads.map(({ id }) => [`thread ${nameOf(id)}`, {}] as const),
    ...sides,
  ])
}

/** `user <uid>` or `group <guid>`: ids of conversations are names that can be alike. */
function conversationKey({ conversationType, conversationWith, conversationId }: JsonRecord): string {
  const { uid, guid } = (conversationWith ?? {}) as JsonRecord
  if (conversationType === 'group') return `group ${guid ?? String(conversationId).replace(/^group_/, '')}`
  return `user ${uid}`
}

/** The auth tokens of a user. The newest is listed first; made in the order in which they were, they are listed alike. */
export async function readTokens(side: Remote, uid: string): Promise<JsonRecord[]> {
  const path = `/users/${encodeURIComponent(uid)}/auth_tokens`
  return (await readAll(side, path, ({ authToken }) => authToken, { missing: [404] })).toReversed()
}

/** The API keys of the app, in the order in which they were made. */
export async function readKeys(side: Remote): Promise<JsonRecord[]> {
  return (await readAll(side, '/apikeys', ({ apiKey }) => apiKey, { missing: [403, 404] })).toReversed()
}

/** Users can save about a hundred messages, so they are one page. */
export async function readSaved(side: Remote, uid: string): Promise<JsonRecord[]> {
  const path = '/messages?saved=true&affix=append&limit=1000'
  const { status, body } = await side.get(path, { as: uid, expected: [400, 403, 404] })
  return status === 200 ? rowsOf(side, path, body) : []
}

const threadsPerPage = 100

/** Threads that a user follows; none where the service has no such list. */
export async function readFollowedThreads(side: Remote, uid: string): Promise<JsonRecord[]> {
  const found = new Map<string, JsonRecord>()
  for (let cursor = '', isNew = true; isNew; ) {
    const path = `/threads?limit=${threadsPerPage}&affix=prepend${cursor}`
    const { status, body } = await side.get(path, { as: uid, expected: [400, 403, 404] })
    if (status !== 200) break
    const rows = rowsOf(side, path, body)
    isNew = rows.some(({ id }) => !found.has(String(id)))
    for (const row of rows) found.set(String(row.id), row)
    const last = rows.at(-1)
    if (last !== undefined) cursor = `&updatedAt=${last.updatedAt}&id=${last.id}`
  }
  return [...found.values()].filter(({ subscribed }) => subscribed === true).map(({ id }) => ({ id }))
}

function sorted(tags: unknown): string[] {
  return Array.isArray(tags) ? tags.map(String).sort() : []
}

function pick(record: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(names.map((name) => [name, record[name] ?? null]))
}
