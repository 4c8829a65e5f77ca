import { createHmac, randomBytes } from 'node:crypto'
import { exitCodes, ImportFailure } from '../../import/failure.ts'
import { isJsonObject, type JsonRecord } from '../../import/records.ts'
import { errorOf } from '../../import/request.ts'
import { subjectOf } from '../facts.ts'
import type { Journal } from '../journal.ts'
import { readRecord, readSpan, rowsOf } from '../lists.ts'
import { importable } from '../prepare.ts'
import type { MoveState } from '../state.ts'
import { type Agreements, reconcile } from './both-ways.ts'
import { groupAt, type Sides, userAt } from './sides.ts'

/** Begins the muid of what was written back, so that it is not taken for something new. */
const mark = 'moved-back-'

/**
 * The muid in the source of a message of the target. Clients choose muids: signed, none of theirs can be in the place of what
 * is yet to be written back.
 */
function markOf(secret: string, id: string): string {
  const signature = createHmac('sha256', secret).update(id).digest('hex').slice(0, 24)
  return `${mark}${id}-${signature}`
}

/**
 * The id in the target of a message of the source that was written back. The mark alone proves nothing, since clients see those
 * of others: who could claim the message of somebody else would edit and delete it by what they do to their own.
 */
export async function writtenBack(
  { target, ids }: Sides,
  state: MoveState,
  row: JsonRecord,
): Promise<string | undefined> {
  const [, back] = new RegExp(`^${mark}([1-9]\\d{0,15})-`).exec(String(row.muid)) ?? []
  if (back === undefined || state.mark === undefined || row.muid !== markOf(state.mark, back)) return undefined
  const known = ids.from(back)
  if (known !== undefined && known !== String(row.id)) return undefined
  const there = await readRecord(target, `/messages/${back}`)
  if (there === undefined) return undefined
  return ['sender', 'receiver', 'receiverType'].every((name) => there[name] === row[name]) ? back : undefined
}

export interface WritingBack {
  readonly sides: Sides
  readonly journal: Journal<MoveState>
  readonly agreements: Agreements
}

const page = 500

/**
 * Brings what people did in the target since the cut-over to the source, while old versions of an app still use it. It follows
 * the events of the target; before there were any, its lists.
 */
export async function writeBack(writing: WritingBack): Promise<void> {
  const { sides, journal } = writing
  const { state } = journal
  if (state.mark === undefined) {
    // What a killed run has written is known again by it.
    state.mark = randomBytes(16).toString('hex')
    await journal.save()
  }
  if (state.events === undefined) {
    const { body } = await sides.target.get('/events')
    await catchUp(writing, state.cutOver ?? sides.now())
    state.events = cursorOf(body)
  }
  for (;;) {
    const at = `/events?after=${state.events}&limit=${page}`
    const { status, body } = await sides.target.get(at, { expected: [400] })
    if (status !== 200)
      throw new ImportFailure(
        exitCodes.refused,
        `The new service does not keep its events any more from where writing back was: ${errorOf(body).code}`,
      )
    for (const event of rowsOf(sides.target, at, body)) {
      await heedEvent(writing, event)
      state.events = String(event.id)
    }
    state.events = cursorOf(body)
    if ((body.meta as JsonRecord | undefined)?.more !== true) return
  }
}

function cursorOf({ meta }: JsonRecord): string {
  return String((meta as JsonRecord | undefined)?.cursor ?? '0')
}

/** What was written before events were kept. */
async function catchUp(writing: WritingBack, since: number): Promise<void> {
  const { sides } = writing
  const span = { from: since, to: sides.now() + 60, done: false }
  const take = async (rows: JsonRecord[]) => {
    for (const row of rows) await writeMessage(writing, row)
  }
  await readSpan(sides.target, span, '&withTags=true', take)
  await readSpan(sides.target, { ...span, from: 0 }, `&withTags=true&updatedAt[from]=${since}`, take)
}

async function heedEvent(writing: WritingBack, { trigger, data }: JsonRecord): Promise<void> {
  const { actInSource } = writing.sides
  const { message, reaction, users, by, body } = data as Record<string, JsonRecord | undefined>
  switch (String(trigger)) {
    case 'message_sent':
      return writeMessage(writing, message!)
    case 'message_edited':
      return changeMessage(writing, subjectOf(message!))
    case 'message_deleted':
      return deleteMessage(writing, subjectOf(message!))
    case 'message_reaction_added':
    case 'message_reaction_removed':
      return changeMessage(writing, String(reaction?.messageId))
    case 'message_delivery_receipt':
    case 'message_read_receipt':
      return writeReceipt(writing, data as JsonRecord, body ?? {})
    case 'user_blocked':
    case 'user_unblocked':
      for (const uid of Object.keys(users ?? {})) {
        const at = `${userAt(String(by?.uid))}/blockedusers`
        await actInSource(trigger === 'user_blocked' ? 'POST' : 'DELETE', at, { blockedUids: [uid] })
      }
      return
    default:
      if (/^group_/.test(String(trigger))) await writeGroup(writing, String(trigger), data as JsonRecord)
  }
}

/** Sends a message of the target in the source, in the name of its sender; it has the time of then. */
async function writeMessage(writing: WritingBack, row: JsonRecord): Promise<void> {
  const { sides, journal } = writing
  const id = String(row.id)
  if (sides.ids.from(id) !== undefined) return changeMessage(writing, id)
  if (row.category === 'action' || row.category === 'call' || row.deletedAt !== undefined) return
  if (!isJsonObject(row.data)) return
  const { receiver, receiverType, category, type, tags, sender, parentId, quotedMessageId } = row
  const { data } = importable(row, new Map())
  const { entities, mentions, reactions, moderation, resource, ...content } = (data ?? {}) as JsonRecord
  const parent = parentId === undefined ? undefined : sides.ids.from(String(parentId))
  const quoted = quotedMessageId === undefined ? undefined : sides.ids.from(String(quotedMessageId))
  const message = {
    ...{ receiver, receiverType, category, type, data: content, muid: markOf(String(journal.state.mark), id) },
    ...(Array.isArray(tags) && tags.length > 0 && { tags }),
    ...(quoted !== undefined && { quotedMessageId: quoted }),
  }
  const at = parent === undefined ? '/messages' : `/messages/${parent}/thread`
  const people = receiverType === 'user' ? [sender, receiver] : [sender]
  const answer = await sides.actInSource('POST', at, message, sender, people.map(String))
  const made = answer?.data as JsonRecord | undefined
  if (made?.id !== undefined) await sides.addIds([{ from: String(made.id), to: id }])
}

async function changeMessage({ sides, agreements, journal }: WritingBack, there: string | undefined): Promise<void> {
  const id = there === undefined ? undefined : sides.ids.from(there)
  if (id !== undefined) await reconcile(sides, agreements, id, journal.state.cutOver ?? sides.now())
}

/**
 * Deletes a message in the source as it was deleted in the target. Those that moderation holds or has blocked are not shown either:
 * for good goes only what moderation does not have.
 */
async function deleteMessage(writing: WritingBack, there: string | undefined): Promise<void> {
  const { target, ids, actInSource } = writing.sides
  const id = there === undefined ? undefined : ids.from(there)
  if (id === undefined) return
  if ((await readRecord(target, `/messages/${there}`)) !== undefined) return changeMessage(writing, there)
  const { status, body } = await target.get(`/moderation/messages/${there}`, { expected: [400, 403, 404] })
  const isGone = status === 404 && errorOf(body).code === 'ERR_MESSAGE_ID_NOT_FOUND'
  await actInSource('DELETE', `/messages/${id}`, isGone ? { permanent: true } : {})
}

async function writeReceipt({ sides }: WritingBack, data: JsonRecord, body: JsonRecord): Promise<void> {
  const id = sides.ids.from(String(body.messageId))
  if (id === undefined) return
  const action = body.action === 'read' ? 'read' : 'delivered'
  const { receiver, receiverType, sender, messageSender } = data
  const at = receiverType === 'group' ? groupAt(String(receiver)) : userAt(String(messageSender ?? receiver))
  await sides.actInSource('POST', `${at}/conversation/${action}`, { messageId: id }, sender)
}

const lists = { admin: 'admins', moderator: 'moderators', participant: 'participants' } as const

async function writeGroup(writing: WritingBack, trigger: string, data: JsonRecord): Promise<void> {
  const { sides, journal } = writing
  const act = sides.actInSource
  const { group, members } = data as { group: JsonRecord; members?: Record<string, JsonRecord> }
  const guid = String(group.guid)
  const at = groupAt(guid)
  const { name, type, icon, description, metadata, tags, owner } = group
  const profile = { name, icon, description, metadata, tags }
  if (trigger === 'group_created') {
    const password = type === 'password' ? { password: crypto.randomUUID() } : {}
    const made = { guid, type, ...profile, ...password, ...(owner !== 'app_system' && { owner }) }
    await act('POST', '/groups', made, undefined, owner === undefined ? [] : [String(owner)])
  } else if (trigger === 'group_updated') await act('PUT', at, profile)
  else if (trigger === 'group_deleted') await act('DELETE', at, {})
  else if (trigger === 'group_owner_transferred') await act('PUT', at, { owner })
  for (const [uid, member] of Object.entries(members ?? {})) {
    if (uid === owner && trigger === 'group_created') continue
    const path = `${at}/members/${encodeURIComponent(uid)}`
    const ban = `${at}/bannedusers/${encodeURIComponent(uid)}`
    const done = await (async () => {
      switch (trigger) {
        case 'group_created':
        case 'group_member_joined':
        case 'group_member_added': {
          const scope = (await scopeOf(sides, guid, uid)) ?? 'participant'
          await sides.makeInSource([uid])
          return act('POST', `${at}/members`, { [lists[scope]]: [uid] })
        }
        case 'group_member_left':
        case 'group_member_kicked':
          return act('DELETE', path, {})
        case 'group_member_banned':
          return act('POST', ban, {})
        case 'group_member_unbanned':
          return act('DELETE', ban, {})
        case 'group_member_scope_changed':
          return act('PUT', path, { scope: member.scope })
        default:
          return undefined
      }
    })()
    if (done !== undefined) expectEcho(journal.state, `${guid} ${uid}`)
  }
}

async function scopeOf({ target }: Sides, guid: string, uid: string): Promise<keyof typeof lists | undefined> {
  const at = `${groupAt(guid)}/members?searchKey=${encodeURIComponent(uid)}&perPage=1000`
  const { status, body } = await target.get(at, { expected: [404] })
  const rows = status === 200 ? rowsOf(target, at, body) : []
  const scope = rows.find((row) => row.uid === uid)?.scope
  return scope === 'admin' || scope === 'moderator' || scope === 'participant' ? scope : undefined
}

function expectEcho(state: MoveState, key: string): void {
  state.echoes ??= {}
  state.echoes[key] = (state.echoes[key] ?? 0) + 1
}

/** A message of the source that tells of a change of members which was written back: the target has told it already. */
export function isEcho({ echoes = {} }: MoveState, row: JsonRecord): boolean {
  if (row.category !== 'action' || row.type !== 'groupMember') return false
  const { on, by } = ((row.data as JsonRecord | undefined)?.entities ?? {}) as Record<string, JsonRecord | undefined>
  for (const side of [on, by]) {
    const key = `${row.receiver} ${(side?.entity as JsonRecord | undefined)?.uid}`
    const left = echoes[key] ?? 0
    if (left === 0) continue
    if (left === 1) delete echoes[key]
    else echoes[key] = left - 1
    return true
  }
  return false
}
