import { ApiError, type BodyOf, type ErrorBody, type Message, type sendMessage } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { requireGroup, requireGroupAccess } from '../../chat/groups/access.ts'
import { type App, actingDevice, type Caller } from '../../chat/identity.ts'
import { mediaKeysOf, recordUses } from '../../chat/messages/file-uses.ts'
import { readMentions } from '../../chat/messages/mentions.ts'
import { readByMuid, readMessages, type StoredMessage } from '../../chat/messages/rows.ts'
import { showMessages, showQuoted } from '../../chat/messages/show.ts'
import { traitsOf } from '../../chat/messages/traits.ts'
import { conversationId } from '../../chat/naming.ts'
import { readVisible } from '../../chat/sight/sight.ts'
import { requireActiveUser } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { askBeforeSending } from './before.ts'
import { type Content, checkContent } from './content.ts'
import { publishSent, sendSubscriptions } from './publish.ts'
import type { Judgement } from './write/permissions.ts'
import { judgeByRoles } from './write/role-rules.ts'
import type { MessageRow, Refusal, WrittenRow } from './write/row.ts'

type SendBody = BodyOf<typeof sendMessage>

/** Where one message goes. */
interface Target {
  readonly kind: 1 | 2
  readonly receiver: string
}

/** The outcome for one of several receivers. */
type Outcome = { success: true; data: Message } | ({ success: false } & ErrorBody)

/** Sends to one receiver, or to `multipleReceivers`, where one that fails does not stop the others. */
export async function send(
  context: Context,
  app: App,
  caller: Caller,
  body: SendBody,
): Promise<Message | { uids?: Record<string, Outcome>; guids?: Record<string, Outcome> }> {
  const content = checkContent(body)
  if (body.multipleReceivers === undefined) return sendTo(context, app, caller, content, body, readTarget(body))

  const { uids, guids } = body.multipleReceivers
  if ((uids?.length ?? 0) + (guids?.length ?? 0) === 0) {
    throw new ApiError('ERR_EMPTY_RECEIVER', 'multipleReceivers names nobody.')
  }
  const sendToAll = async (kind: 1 | 2, ids: readonly string[]) => {
    const receivers = [...new Set(ids.map((id) => id.toLowerCase()))]
    const outcomes = await Promise.all(
      receivers.map(async (receiver): Promise<[string, Outcome]> => {
        const outcome = sendTo(context, app, caller, content, body, { kind, receiver })
        return [receiver, await outcomeOf(outcome)]
      }),
    )
    return Object.fromEntries(outcomes)
  }
  const [toUsers, toGroups] = await Promise.all([uids && sendToAll(1, uids), guids && sendToAll(2, guids)])
  return { ...(toUsers && { uids: toUsers }), ...(toGroups && { guids: toGroups }) }
}

async function outcomeOf(sent: Promise<Message>): Promise<Outcome> {
  try {
    return { success: true, data: await sent }
  } catch (error) {
    if (error instanceof ApiError) return { success: false, ...error.toBody() }
    throw error
  }
}

function readTarget({ receiver, receiverType }: SendBody): Target {
  if (receiver === undefined) throw new ApiError('ERR_EMPTY_RECEIVER', 'receiver is missing.')
  if (receiverType !== 'user' && receiverType !== 'group') {
    throw new ApiError('ERR_INVALID_RECEIVER_TYPE', 'receiverType must be user or group.')
  }
  return { kind: receiverType === 'user' ? 1 : 2, receiver: receiver.toLowerCase() }
}

const maxJudgements = 5

async function sendTo(
  context: Context,
  app: App,
  caller: Caller,
  sent: Content,
  body: SendBody,
  target: Target,
): Promise<Message> {
  const sender = caller.kind === 'user' ? caller.uid : systemUid
  const related = isRelated(body) ? await readRelated(context, app, sender, target, body) : unrelated
  const content = await askBeforeSending(context, app, sent, () => ({
    ...{ sender, ...target, muid: body.muid, tags: body.tags },
    ...{ parentId: related.parent?.id, quotedId: related.quoted?.id },
  }))
  const asApp = caller.kind === 'app'
  const subscribed = await sendSubscriptions(context.events, app.appId)
  const prefix = related.parent === undefined ? 'sendMessage' : 'sendThreadedMessage'
  const roleRules = asApp ? null : judgeByRoles(await context.policies.ofApp(app.appId), target.kind, prefix, content)
  for (let judgements = 1; ; judgements++) {
    const { deniedScopes, permissionsVersion } =
      target.kind === 2 ? context.messages.judge.judge(app.appId, target.receiver, prefix, content) : nothingDenied
    const row: MessageRow = {
      appId: app.appId,
      sender,
      kind: target.kind,
      receiver: target.receiver,
      category: content.category,
      type: content.type,
      data: content.json,
      muid: body.muid ?? null,
      parentId: related.parent?.id ?? null,
      quotedId: related.quoted?.id ?? null,
      tags: body.tags ?? null,
      mentioned: content.mentioned.length > 0 ? content.mentioned : null,
      traits: traitsOf(content),
      countable: true,
      asApp,
      deniedScopes,
      permissionsVersion,
      roleRules,
      subscribed,
      device: actingDevice(caller),
    }
    const written = await context.messages.write(row)
    if (written.refusal === 'STALE_PERMISSIONS' && judgements < maxJudgements) {
      await context.messages.judge.refresh(app.appId, target.receiver)
      continue
    }
    if (written.refusal !== null) throw refusalError(written.refusal, row)
    const quoted = related.showsQuoted ? related.quoted : undefined
    if (written.id === null) return keepFiles(context, app, await showStored(context, row))
    return publishSent(context, row, written, async () =>
      keepFiles(context, app, await showSent(context, row, written, content, quoted)),
    )
  }
}

/** A file whose message is told or answered stays: it is noted before; a retry finds it missing and notes it again. */
function keepFiles({ database }: Context, app: App, message: Message): Message | Promise<Message> {
  const keys = mediaKeysOf(app, message.data)
  return keys.length === 0 ? message : recordUses(database, app, Number(message.id), keys).then(() => message)
}

/** Blocks are what matters between two users. */
const nothingDenied: Judgement = { deniedScopes: 0, permissionsVersion: 0 }

/** The messages that this one replies to and quotes, which must be of the same conversation, as far as they are named. */
interface Related {
  readonly parent?: StoredMessage
  readonly quoted?: StoredMessage
  /** The answer shows what is quoted, unless it is hidden from the sender in lists too. */
  readonly showsQuoted: boolean
}

const unrelated: Related = { showsQuoted: false }

function isRelated({ parentId, quotedMessageId }: SendBody): boolean {
  return parentId !== undefined || quotedMessageId !== undefined
}

async function readRelated(
  context: Context,
  app: App,
  sender: string,
  target: Target,
  { parentId, quotedMessageId }: SendBody,
): Promise<Related> {
  // The batch would find out too, but who acts is said before what he names.
  const { role } = await requireActiveUser(context.database, app.appId, sender)
  const ids = [parentId, quotedMessageId].flatMap((id) => (id === undefined ? [] : Number(id)))
  const found = await readMessages(context.database, app.appId, ids)
  const here = conversationId(target.kind, target.kind === 2 ? target.receiver : sender, target.receiver)
  const read = async (id: number | string, code: 'ERR_WRONG_MESSAGE_THREAD' | 'ERR_MESSAGE_ID_NOT_FOUND') => {
    const message = found.get(Number(id))
    if (message === undefined) throw new ApiError('ERR_MESSAGE_ID_NOT_FOUND', `There is no message with the id ${id}.`)
    const isHere =
      message.kind === target.kind &&
      (message.kind === 2 ? message.receiver === target.receiver : isPair(message, sender, target.receiver))
    if (isHere) return message
    // Who is named must be there before it counts what he was named with.
    await requireReceiver(context.database, app, target, sender)
    throw new ApiError(code, `The message ${id} is not in the conversation ${here}.`)
  }
  const parent = parentId === undefined ? undefined : await read(parentId, 'ERR_WRONG_MESSAGE_THREAD')
  if (parent !== undefined && parent.parentId !== null) throw new ApiError('ERR_MESSAGE_THREAD_NESTING')
  if (parent?.category === 'action') throw new ApiError('ERR_WRONG_MESSAGE_THREAD_CATEGORY')
  const quoted = quotedMessageId === undefined ? undefined : await read(quotedMessageId, 'ERR_MESSAGE_ID_NOT_FOUND')
  const showsQuoted = quoted !== undefined && (sender === systemUid || (await isVisible(quoted)))
  return { ...(parent && { parent }), ...(quoted && { quoted }), showsQuoted }

  async function isVisible(message: StoredMessage): Promise<boolean> {
    const viewer = { uid: sender, policy: await context.policies.of(app.appId, role) }
    return (await readVisible(context.database, app.appId, viewer, [message])).has(message.id)
  }
}

/** @throws 404 for a receiver who is unknown, or a group that is, to the sender; 403 for a group that is not his */
async function requireReceiver(
  on: Queryable,
  { appId }: App,
  { kind, receiver }: Target,
  sender: string,
): Promise<void> {
  if (kind === 1) await requireActiveUser(on, appId, receiver)
  else if (sender === systemUid) await requireGroup(on, appId, receiver)
  else await requireGroupAccess(on, appId, receiver, sender)
}

function isPair(message: StoredMessage, a: string, b: string): boolean {
  return (message.sender === a && message.receiver === b) || (message.sender === b && message.receiver === a)
}

function refusalError(refusal: Refusal, { sender, receiver, type, parentId }: MessageRow): ApiError {
  switch (refusal) {
    case 'ERR_SENDER_NOT_FOUND':
      return new ApiError('ERR_UID_NOT_FOUND', `The sender ${sender} is unknown or deactivated.`)
    case 'ERR_UID_NOT_FOUND':
      return new ApiError('ERR_UID_NOT_FOUND', `The receiver ${receiver} is unknown or deactivated.`)
    case 'ERR_GUID_NOT_FOUND':
      return new ApiError('ERR_GUID_NOT_FOUND', `There is no group with the guid ${receiver}.`)
    case 'ERR_BLOCKED_RECEIVER':
      return new ApiError(refusal, `${sender} has blocked ${receiver}.`)
    case 'ERR_BLOCKED_SENDER':
      return new ApiError(refusal, `${receiver} has blocked ${sender}.`)
    case 'ERR_GROUP_NOT_JOINED':
      return new ApiError(refusal, `${sender} is not a member of the group ${receiver}.`)
    case 'ERR_BANNED_GROUPMEMBER':
      return new ApiError(refusal, `${sender} is banned from the group ${receiver}.`)
    case 'ERR_PERMISSION_DENIED':
      return new ApiError(refusal, `The scope of ${sender} in the group ${receiver} may not send this (type ${type}).`)
    case 'ROLE_DENIED':
      return new ApiError('ERR_PERMISSION_DENIED', `The role of ${sender} may not send this to ${receiver}.`)
    case 'ERR_MESSAGE_ID_NOT_FOUND':
      return new ApiError(refusal, `There is no message with the id ${parentId}.`)
    case 'NO_CONVERSATION':
    case 'STALE_PERMISSIONS':
      return new ApiError('ERR_MISSION_FAILED', 'The message met changes too often. Try again.')
  }
}

/** A repeated muid is answered with the message that is stored. */
async function showStored(context: Context, row: MessageRow): Promise<Message> {
  const stored = await readByMuid(context.database, row.appId, { ...row, muid: row.muid ?? '' })
  if (stored === undefined) throw new ApiError('ERR_MISSION_FAILED', 'The message met changes too often. Try again.')
  const [message] = await showMessages(context.database, row.appId, [stored], { viewer: row.sender, withTags: true })
  return message as Message
}

async function showSent(
  context: Context,
  row: MessageRow,
  written: WrittenRow,
  content: Content,
  quoted: StoredMessage | undefined,
): Promise<Message> {
  const { entities } = context.messages
  const id = written.id as number
  const sender = await entities.user(row.appId, row.sender, written.senderRevision)
  const receiver =
    row.kind === 1
      ? await entities.user(row.appId, row.receiver, written.receiverRevision)
      : await entities.group(row.appId, row.receiver, written.receiverRevision)
  const { mentioned } = row
  const mentions = mentioned && (await readMentions(context.database, row.appId, [{ id, mentioned }], {}))
  const conversation = conversationId(row.kind, row.kind === 2 ? row.receiver : row.sender, row.receiver)
  const quotedMessage = quoted && (await showQuoted(context.database, row.appId, quoted))
  return {
    id: String(id),
    ...(row.muid !== null && { muid: row.muid }),
    conversationId: conversation,
    sender: row.sender,
    receiverType: row.kind === 1 ? 'user' : 'group',
    receiver: row.receiver,
    category: row.category,
    type: row.type,
    data: {
      ...content.data,
      entities: {
        sender: { entity: sender, entityType: 'user' },
        receiver:
          row.kind === 1
            ? { entity: { ...receiver, conversationId: conversation }, entityType: 'user' }
            : { entity: receiver, entityType: 'group' },
      },
      ...mentions?.get(id)?.data,
    },
    ...(row.parentId !== null && { parentId: String(row.parentId) }),
    ...(row.quotedId !== null && { quotedMessageId: String(row.quotedId) }),
    ...(quotedMessage && { quotedMessage }),
    ...(row.tags !== null && row.tags.length > 0 && { tags: [...row.tags] }),
    sentAt: written.sentAt,
    updatedAt: written.sentAt,
  }
}
