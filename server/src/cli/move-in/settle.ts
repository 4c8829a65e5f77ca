import path from 'node:path'
import type { JsonRecord } from '../import/records.ts'
import { errorOf } from '../import/request.ts'
import { readLines } from './ndjson.ts'
import type { NoticeCode, Notices } from './notices.ts'
import type { Remote } from './remote.ts'
import { type MoveState, sourceFiles } from './state.ts'

export interface Settling {
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
export async function settleRoles(settling: Settling): Promise<void> {
  const { target, folder, notices, counts } = settling
  for await (const { role: listed, permissions, restricted } of readLines(path.join(folder, sourceFiles.roles))) {
    const { role, name, description, metadata, settings } = listed as JsonRecord
    const at = `/roles/${encodeURIComponent(String(role))}`
    const body = { role, name, description, metadata, settings }
    // "default" is in every app; what is there already is brought to the same state.
    const made = await target.send('POST', '/roles', body, { expected: refusals })
    if (made.status !== 200)
      await target.send('PUT', at, { name, description, metadata, settings }, { expected: refusals })
    await settlePermissions(settling, `${at}/permissions`, permissions as JsonRecord, String(role))
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

async function settlePermissions({ target, notices }: Settling, at: string, permissions: JsonRecord, of: string) {
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
 * Sets what an import folder has no file for: permissions of scopes, friends, tags and pins of conversations, pinned and
 * saved messages, unread pointers, blocks. Can be repeated.
 * @param idOf the id in the target of a message of the source; undefined where it is not there
 */
export async function settleRest(settling: Settling, idOf: (id: string) => string | undefined): Promise<void> {
  const { target, folder, state, notices, counts } = settling
  const done = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  /** Sends what may be refused for itself. */
  const tell = async (
    name: string,
    method: 'POST' | 'PUT' | 'DELETE',
    at: string,
    body: object,
    { as, code = 'relation-refused' }: { as?: string; code?: NoticeCode } = {},
  ): Promise<boolean> => {
    const answer = await target.send(method, at, body, { expected: refusals, ...(as !== undefined && { as }) })
    if (answer.status === 200) {
      done(name)
      noteFailures(answer.body, (key, why) => notices.add(code, `${name} ${at} ${key}: ${why}`))
      for (const [kind, inner] of Object.entries((answer.body.data ?? {}) as JsonRecord))
        if (kind === 'accepted')
          noteFailures({ data: inner }, (uid, why) => notices.add(code, `${name} ${at} ${uid}: ${why}`))
      return true
    }
    notices.add(code, `${name} ${at}${as === undefined ? '' : ` as ${as}`}: ${errorOf(answer.body).code}`)
    return false
  }
  const user = (uid: unknown) => `/users/${encodeURIComponent(String(uid))}`

  for await (const { kind, guid, scope, permissions } of readLines(path.join(folder, sourceFiles.rooms))) {
    if (kind !== 'scopePermissions') continue
    const at = `/groups/${encodeURIComponent(String(guid))}/scopes/${scope}/permissions`
    await settlePermissions(settling, at, permissions as JsonRecord, `${guid} ${scope}`)
    done('scopePermissions')
  }
  const people = path.join(folder, sourceFiles.people)
  const inParallel = (rows: AsyncIterable<JsonRecord>, each: (row: JsonRecord) => Promise<void>) =>
    forEach(rows, settling.concurrency, each)

  await inParallel(readLines(people), async ({ kind, uid, row }) => {
    const { uid: other } = row as JsonRecord
    // Friendship is mutual, and both sides list it.
    if (kind === 'friends' && String(uid) < String(other))
      await tell('friends', 'POST', `${user(uid)}/friends`, { accepted: [other] })
  })
  for (let span = 0; span < state.spans.length; span++) {
    const pinned = pinnedIn(readLines(path.join(folder, sourceFiles.messages(span))))
    await inParallel(pinned, async ({ id, pinnedBy }) => {
      const found = idOf(String(id))
      if (found === undefined) return
      const as = pinnedBy === undefined || pinnedBy === 'app_system' ? undefined : String(pinnedBy)
      const options = { expected: refusals, ...(as !== undefined && { as }) }
      const answer = await target.send('POST', `/messages/${found}/pin`, {}, options)
      if (answer.status === 200) done('pinnedMessages')
      // Who pinned it may have lost the right since, or be gone.
      else await tell('pinnedMessages', 'POST', `/messages/${found}/pin`, {})
    })
  }
  await inParallel(readLines(people), async ({ kind, uid, row }) => {
    const as = String(uid)
    if (kind === 'saves') {
      const found = idOf(String((row as JsonRecord).id))
      if (found !== undefined) await tell('savedMessages', 'POST', `/messages/${found}/save`, {}, { as })
    }
    if (kind !== 'conversations') return
    const { conversationType, conversationWith, tags, pinnedBy, firstUnread } = row as JsonRecord
    const { uid: peer, guid } = (conversationWith ?? {}) as JsonRecord
    const at = conversationType === 'group' ? `/groups/${encodeURIComponent(String(guid))}` : user(peer)
    if (Array.isArray(tags) && tags.length > 0)
      await tell('conversationTags', 'PUT', `${at}/conversation`, { tags }, { as })
    if (pinnedBy === uid) await tell('pinnedConversations', 'POST', `${at}/conversation/pin`, {}, { as })
    // Imported messages of groups count as read, whatever a pointer says.
    if (firstUnread !== undefined && conversationType === 'group') notices.add('unread-not-set', `${guid} of ${uid}`)
    const messageId = firstUnread === undefined ? undefined : idOf(String(firstUnread))
    if (messageId !== undefined && conversationType !== 'group')
      await tell('unreadPointers', 'DELETE', `${at}/conversation/read`, { messageId }, { as, code: 'unread-not-set' })
  })
  for await (const { kind, rows } of readLines(path.join(folder, sourceFiles.app))) {
    if (kind !== 'pinnedConversations' || !Array.isArray(rows) || rows.length === 0) continue
    const groups = rows.filter(({ conversationType }) => conversationType === 'group')
    const pinnedConversations = groups.map(({ conversationId }) => ({
      guid: String(conversationId).replace(/^group_/, ''),
    }))
    if (pinnedConversations.length > 0) await tell('appPins', 'PUT', '/conversations/pinned', { pinnedConversations })
  }
  // Last, since a block also stops whoever it is about from doing some of the above.
  await inParallel(readLines(people), async ({ kind, uid, row }) => {
    if (kind === 'blocks')
      await tell('blocks', 'POST', `${user(uid)}/blockedusers`, { blockedUids: [(row as JsonRecord).uid] })
  })
}

async function* pinnedIn(rows: AsyncIterable<JsonRecord>): AsyncGenerator<JsonRecord> {
  for await (const row of rows) if (row.pinnedAt !== undefined) yield row
}

/** Does something for each item, some at a time. */
export async function forEach<Item>(
  items: AsyncIterable<Item>,
  atOnce: number,
  each: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  for await (const item of items) {
    const run = each(item).finally(() => running.delete(run))
    running.add(run)
    if (running.size >= atOnce) await Promise.race(running)
  }
  await Promise.all(running)
}
