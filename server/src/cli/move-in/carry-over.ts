import path from 'node:path'
import { isJsonObject, type JsonRecord } from '../import/records.ts'
import { errorOf } from '../import/request.ts'
import { forEach } from './for-each.ts'
import { readLines } from './ndjson.ts'
import type { Notices } from './notices.ts'
import { bringNotifications, bringSettings, type Doing, readNotifications, readSettings } from './notifications.ts'
import type { Remote } from './remote.ts'
import { sendRecords } from './send-records.ts'
import { type MoveState, sourceFiles } from './state.ts'

export interface Carrying {
  readonly target: Remote
  readonly folder: string
  readonly state: MoveState
  readonly notices: Notices
  readonly counts: Record<string, number>
  readonly concurrency: number
}

/** What may be wrong with one record, and does not end the run. */
const refusals = [400, 403, 404, 409]

/** Makes roles with their permissions and restricted features, which users of the import need. Can be repeated. */
export async function carryRoles(carrying: Carrying): Promise<void> {
  const { target, folder, notices, counts } = carrying
  for await (const { role: listed, permissions, restricted } of readLines(path.join(folder, sourceFiles.roles))) {
    const { role, name, description, metadata, settings } = listed as JsonRecord
    const at = `/roles/${encodeURIComponent(String(role))}`
    const body = { role, name, description, metadata, settings }
    // "default" is in every app; what is there already is brought to the same state.
    const made = await target.send('POST', '/roles', body, { expected: refusals })
    if (made.status !== 200)
      await target.send('PUT', at, { name, description, metadata, settings }, { expected: refusals })
    await carryPermissions(carrying, `${at}/permissions`, permissions as JsonRecord, String(role))
    const features = restricted as string[]
    if (features.length > 0) {
      const answer = await target.send(
        'POST',
        `${at}/restrictedfeatures`,
        { featuresToRestrict: features },
        { expected: refusals },
      )
      noteFailures(answer.body, (key, why) => notices.add('permission-refused', `${role} ${key}: ${why}`))
    }
    counts.roles = (counts.roles ?? 0) + 1
  }
}

async function carryPermissions({ target, notices }: Carrying, at: string, permissions: JsonRecord, of: string) {
  if (Object.keys(permissions).length === 0) return
  const { body } = await target.send('PUT', at, { permissions }, { expected: refusals })
  noteFailures(body, (key, why) => notices.add('permission-refused', `${of} ${key}: ${why}`))
}

/** Tells of each member of an answer that says that it did not succeed, or of the answer if it is an error itself. */
function noteFailures(body: JsonRecord, note: (key: string, why: string) => void): void {
  if (body.error !== undefined) note('', errorOf(body).code)
  for (const [key, outcome] of Object.entries((body.data ?? {}) as JsonRecord)) {
    const { success, message, error } = (outcome ?? {}) as { success?: unknown; message?: unknown; error?: unknown }
    if (success === false) note(key, String(message ?? (error as { code?: unknown } | undefined)?.code ?? ''))
  }
}

/**
 * Sets what an import folder has no file for: permissions of scopes, pins for everybody, friends, blocks, each user's side of their
 * conversations, saved messages, threads that they follow, notifications, auth tokens, API keys. Can be repeated.
 * @param idOf the id in the target of a message of the source; undefined where it is not there
 */
export async function carryRest(carrying: Carrying, idOf: (id: string) => string | undefined): Promise<void> {
  const { target, folder, notices, counts } = carrying
  for await (const { kind, guid, scope, permissions } of readLines(path.join(folder, sourceFiles.rooms))) {
    if (kind !== 'scopePermissions') continue
    const at = `/groups/${encodeURIComponent(String(guid))}/scopes/${scope}/permissions`
    await carryPermissions(carrying, at, permissions as JsonRecord, `${guid} ${scope}`)
    counts.scopePermissions = (counts.scopePermissions ?? 0) + 1
  }
  for await (const { kind, uid } of readLines(path.join(folder, sourceFiles.people)))
    if (kind === 'refused') notices.add('list-refused', String(uid))
  await carryNotifications(carrying)
  await forEach(inBatches(recordsOf(folder, idOf)), carrying.concurrency, (records) => importRecords(carrying, records))
  for await (const { kind, rows } of readLines(path.join(folder, sourceFiles.app))) {
    if (kind !== 'pinnedConversations' || !Array.isArray(rows) || rows.length === 0) continue
    const groups = rows.filter(({ conversationType }) => conversationType === 'group')
    const pinnedConversations = groups.map(({ conversationId }) => ({
      guid: String(conversationId).replace(/^group_/, ''),
    }))
    const { status } = await target.send(
      'PUT',
      '/conversations/pinned',
      { pinnedConversations },
      { expected: refusals },
    )
    if (status === 200) counts.appPins = pinnedConversations.length
    else notices.add('relation-refused', `pins for everybody: ${status}`)
  }
}

/** Sets what the app and its users chose about notifications. Can be repeated. */
async function carryNotifications(carrying: Carrying): Promise<void> {
  const { target, folder, notices, counts } = carrying
  const act: Doing = async (method, path, body, as) => {
    const answer = await target.send(method, path, body, { expected: refusals, ...(as !== undefined && { as }) })
    if (answer.status !== 200) notices.add('notification-refused', `${as ?? path}: ${errorOf(answer.body).code}`)
    return answer.status === 200
  }
  for await (const { kind, row } of readLines(path.join(folder, sourceFiles.app))) {
    if (kind !== 'notificationSettings' || !isJsonObject(row)) continue
    const there = await readSettings(target)
    if (there !== undefined && (await bringSettings(row, there, act))) counts.notificationSettings = 1
  }
  const chosen = async function* () {
    for await (const { kind, uid, row } of readLines(path.join(folder, sourceFiles.people)))
      if (kind === 'notifications' && isJsonObject(row)) yield { uid: String(uid), row }
  }
  await forEach(chosen(), carrying.concurrency, async ({ uid, row }) => {
    const there = await readNotifications(target, uid)
    if (there !== undefined && (await bringNotifications(uid, row, there, act, false)))
      counts['notifications of users'] = (counts['notifications of users'] ?? 0) + 1
  })
}

/**
 * The last message of each group that the target has. A group may have got messages between the scan of messages and the
 * lists of its members.
 */
async function readLastOfGroups(
  folder: string,
  idOf: (id: string) => string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const last = new Map<string, { readonly messageId: string; readonly sentAt: number }>()
  for await (const { id, receiver, receiverType, sentAt } of readLines(path.join(folder, 'messages.ndjson'))) {
    const messageId = receiverType === 'group' ? idOf(String(id)) : undefined
    if (messageId === undefined) continue
    // Some stand behind a later one that they name.
    const isLast = Number(sentAt) >= (last.get(String(receiver))?.sentAt ?? 0)
    if (isLast) last.set(String(receiver), { messageId, sentAt: Number(sentAt) })
  }
  return new Map([...last].map(([guid, { messageId }]) => [guid, messageId]))
}

/** What lists of users and of the app tell, as `POST /data_import/records` takes it. */
async function* recordsOf(folder: string, idOf: (id: string) => string | undefined): AsyncGenerator<JsonRecord> {
  let lastOf: ReadonlyMap<string, string> | undefined
  const place: Place = (id) => {
    const messageId = id === undefined ? undefined : idOf(String(id))
    return messageId === undefined ? undefined : { messageId }
  }
  for await (const { kind, uid, row } of readLines(path.join(folder, sourceFiles.people))) {
    const of = row as JsonRecord
    // Friendship is mutual, and both sides list it.
    if (kind === 'friends' && String(uid) < String(of.uid)) yield { kind: 'friend', uid, friend: of.uid }
    if (kind === 'blocks') yield { kind: 'block', uid, blocked: of.uid, blockedAt: timeOf(of.blockedAt) }
    if (kind === 'tokens') yield tokenOf(String(uid), of)
    if (kind === 'saves' && place(of.id)) yield { kind: 'save', uid, ...place(of.id), savedAt: of.savedAt }
    if (kind === 'threads' && place(of.id)) yield { kind: 'subscription', uid, ...place(of.id) }
    if (kind === 'conversations') {
      lastOf ??= await readLastOfGroups(folder, idOf)
      yield sideOf(String(uid), of, place, lastOf)
    }
    if (kind === 'resets' && place(of.last)) yield hiddenSideOf(String(uid), of, place)
  }
  for await (const { kind, key } of readLines(path.join(folder, sourceFiles.app)))
    if (kind === 'apiKey') yield keyOf(key as JsonRecord)
}

/** A record of a listed auth token. */
export function tokenOf(uid: string, { authToken, platform, userAgent, appInfo, createdAt }: JsonRecord): JsonRecord {
  return { kind: 'authToken', uid, authToken, platform, userAgent, appInfo, createdAt }
}

/** A record of a listed API key. */
export function keyOf({ apiKey, name, scope, createdAt }: JsonRecord): JsonRecord {
  return { kind: 'apiKey', apiKey, name, scope, createdAt }
}

type Place = (id: unknown) => { readonly messageId: string } | undefined

/**
 * A user's side of a conversation. Marks of one-to-one conversations come with the receipts of messages.
 * @param lastOf the last messages of groups that the target has: who has read what came after them has read them, too
 */
function sideOf(uid: string, row: JsonRecord, place: Place, lastOf: ReadonlyMap<string, string>): JsonRecord {
  const { conversationType, conversationWith, tags, pinnedBy, pinnedAt, firstUnread, lastRead } = row
  const { uid: peer, guid } = (conversationWith ?? {}) as JsonRecord
  const isGroup = conversationType === 'group'
  const unreadFrom = place(firstUnread)
  const messageId = lastRead === undefined || unreadFrom !== undefined ? undefined : lastOf.get(String(guid))
  const read = place(lastRead) ?? (messageId === undefined ? undefined : { messageId })
  return {
    kind: 'conversation',
    uid,
    receiverType: isGroup ? 'group' : 'user',
    receiver: isGroup ? guid : peer,
    ...(isGroup && { read }),
    unreadFrom,
    reset: place(row.reset),
    ...(Array.isArray(tags) && tags.length > 0 && { tags }),
    ...(pinnedBy === uid && { pinnedAt }),
  }
}

/** The side of somebody who does not list a conversation, since they have cleared it. */
function hiddenSideOf(uid: string, row: JsonRecord, place: Place) {
  const { receiverType, people, last, guid } = row
  // Of a conversation with oneself there is nobody else.
  const peer = Array.isArray(people) ? (people.find((other) => other !== uid) ?? uid) : undefined
  return {
    kind: 'conversation',
    uid,
    receiverType,
    receiver: receiverType === 'group' ? guid : peer,
    reset: { ...place(last), isHidden: true },
  }
}

function timeOf(value: unknown): number | undefined {
  const seconds = Number(value)
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds : undefined
}

const recordsAtOnce = 500

async function* inBatches(records: AsyncIterable<JsonRecord>): AsyncGenerator<JsonRecord[]> {
  let batch: JsonRecord[] = []
  for await (const record of records) {
    // Batches are sent beside each other, and the tokens of a user are made in their order.
    const isOfLast = record.kind === 'authToken' && batch.at(-1)?.uid === record.uid
    if (batch.length >= recordsAtOnce && !isOfLast) {
      yield batch
      batch = []
    }
    batch.push(record)
  }
  if (batch.length > 0) yield batch
}

async function importRecords({ target, notices, counts }: Carrying, records: JsonRecord[]): Promise<void> {
  await takeRecords(target, records, notices, (name) => {
    counts[name] = (counts[name] ?? 0) + 1
  })
}

/**
 * Brings records of `POST /data_import/records` to the target.
 * @param count is told of each that is there afterwards, and whether it was there before
 */
export async function takeRecords(
  target: Remote,
  records: readonly JsonRecord[],
  notices: Notices,
  count: (name: string, wasThere: boolean) => void,
): Promise<void> {
  for (const part of await sendRecords(target, 'records', records)) {
    const outcomes = (part.answer.body.data ?? {}) as Record<string, JsonRecord>
    for (const [place, record] of part.records.entries()) {
      const outcome = outcomes[`[${place}]`] ?? part.answer.body
      const { code } = errorOf(outcome)
      const wasThere = code === 'ERR_IMPORT_ALREADY_EXISTS'
      if (outcome.success !== true && !wasThere) notices.add('record-refused', `${nameOf(record)}: ${code}`)
      else count(countedAs[String(record.kind)] ?? String(record.kind), wasThere)
    }
  }
}

const countedAs: Readonly<Record<string, string>> = {
  friend: 'friends',
  block: 'blocks',
  conversation: 'conversations',
  subscription: 'threads followed',
  save: 'saved messages',
  authToken: 'auth tokens',
  apiKey: 'API keys',
}

/** Names a record without what is secret in it. */
function nameOf({ kind, uid, friend, blocked, receiver, messageId, name }: JsonRecord): string {
  return [kind, uid, friend ?? blocked ?? receiver ?? messageId ?? name].filter((part) => part !== undefined).join(' ')
}
