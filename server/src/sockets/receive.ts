import {
  ApiError,
  governanceOf,
  markGroupDelivered,
  markGroupRead,
  markUserDelivered,
  markUserRead,
  type ReceiptsFrameIn,
  ReceiptsFrameIn as ReceiptsSchema,
  type TransientFrameIn,
  TransientFrameIn as TransientSchema,
  type TypingFrameIn,
  TypingFrameIn as TypingSchema,
} from '@parley/contract'
import { markReceived } from '../areas/conversations/marks.ts'
import { requireGroupConversation, requireUserConversation } from '../chat/conversations/require.ts'
import type { RolePolicy } from '../chat/roles/policies.ts'
import {
  isFriendsMode,
  requireFeature,
  requireGoverned,
  requireListed,
  requireRolePermission,
  roleDenied,
} from '../chat/roles/rules.ts'
import { areFriends } from '../chat/users/friends.ts'
import { requireActiveUser } from '../chat/users/require.ts'
import { readUser } from '../chat/users/rows.ts'
import type { Context } from '../context.ts'
import type { Signal } from '../events/types.ts'
import { compileCheck, sanitize } from '../protocol/validation.ts'
import { audienceOf, currentAudience } from './audiences.ts'
import type { Login } from './connection.ts'
import type { Registry } from './registry.ts'

export interface ReceiveParts {
  readonly context: Context
  readonly registry: Registry
}

/** Typing told a second in one group; more of it tells nobody anything. */
const typingPerSecond = 20

const checkTyping = compileCheck('frame', TypingSchema)
const checkReceipts = compileCheck('frame', ReceiptsSchema)
const checkTransient = compileCheck('frame', TransientSchema)

/** Does what a frame of a client who is logged in asks for. @throws ApiError when it is not valid or not allowed */
export async function receive(parts: ReceiveParts, login: Login, sent: Record<string, unknown>): Promise<void> {
  const frame = sanitize(sent, 'frame')
  switch (sent.type) {
    case 'typing_indicator': {
      checkTyping(frame)
      const { body, ...address } = frame as TypingFrameIn
      const { action, metadata } = body
      return signal(parts, login, address, 'typing_indicator', { action, ...(metadata && { metadata }) })
    }
    case 'transient_message': {
      checkTransient(frame)
      const { body, ...address } = frame as TransientFrameIn
      return signal(parts, login, address, 'transient_message', { data: body.data })
    }
    case 'receipts':
      checkReceipts(frame)
      return mark(parts, login, frame as ReceiptsFrameIn)
    default:
      throw new ApiError('ERR_BAD_REQUEST', `Clients send no frames of the type ${String(sent.type).slice(0, 50)}.`)
  }
}

/** Puts on the bus what others who are connected hear of, and nobody stores. */
async function signal(
  { context, registry }: ReceiveParts,
  { app, uid, info }: Login,
  address: Pick<TypingFrameIn, 'receiver' | 'receiverType'>,
  type: Signal['signal'],
  body: Signal['body'],
): Promise<void> {
  const receiver = address.receiver.toLowerCase()
  const about = { signal: type, uid, device: info.deviceId, body }
  const policy = await policyOf(context, app.appId, uid)
  const isGroup = address.receiverType === 'group'
  if (policy !== undefined) await requireMayReach(context, app.appId, uid, policy, receiver, isGroup)
  if (!isGroup) {
    const [first, second] = uid <= receiver ? [uid, receiver] : [receiver, uid]
    context.events.publish(app.appId, { ...about, kind: 1, first, second })
    return
  }
  const sockets = registry.of(app.appId)
  if (sockets === undefined) return
  const audience = await currentAudience(context.database, sockets, receiver)
  // The same for a group that there is not: what is private must not be found out by asking.
  if (!audience.members.has(uid)) throw new ApiError('ERR_GROUP_NOT_JOINED')
  if (type === 'typing_indicator' && !maySendTyping(audienceOf(sockets, receiver))) return
  context.events.publish(app.appId, { ...about, kind: 2, first: receiver, second: '' })
}

function maySendTyping(audience: { typing: number; typingSince: number }): boolean {
  const now = Date.now()
  if (now - audience.typingSince >= 1000) {
    audience.typingSince = now
    audience.typing = 0
  }
  return ++audience.typing <= typingPerSecond
}

/** Undefined for nearly everybody: most apps restrict nothing, and then the user need not be read. */
async function policyOf({ policies, database }: Context, appId: number, uid: string): Promise<RolePolicy | undefined> {
  const ofApp = await policies.ofApp(appId)
  if (ofApp.size === 0) return undefined
  return ofApp.get((await requireActiveUser(database, appId, uid)).role)
}

/** Who may not write to somebody does not type to him either. @throws 403 `ERR_PERMISSION_DENIED` */
async function requireMayReach(
  { database }: Context,
  appId: number,
  uid: string,
  policy: RolePolicy,
  receiver: string,
  isGroup: boolean,
): Promise<void> {
  requireFeature(policy, 'createMessage')
  requireRolePermission(policy, 'sendMessage')
  requireListed(policy, 'sendMessage.allowedReceiverTypes', isGroup ? 'group' : 'user')
  if (isGroup || receiver === uid) return
  const role = (await readUser(database, appId, receiver))?.role
  if (role !== undefined) requireListed(policy, 'sendMessage.allowedReceiverRoles', role)
  const isNarrowed = policy.settings.sendMessagesTo === 'friendsOnly' || isFriendsMode(policy, 'sendMessage.mode')
  if (isNarrowed && !(await areFriends(database, appId, uid, receiver))) throw roleDenied(policy, 'sendMessage.mode')
}

const markOperations = {
  user: { delivered: markUserDelivered, read: markUserRead },
  group: { delivered: markGroupDelivered, read: markGroupRead },
}

/** Marks as the REST operations do. @throws as they do */
async function mark({ context }: ReceiveParts, login: Login, frame: ReceiptsFrameIn): Promise<void> {
  const { app, uid, info } = login
  const { action, messageId } = frame.body
  const governance = governanceOf(markOperations[frame.receiverType][action].id)
  if (governance !== undefined) requireGoverned(await policyOf(context, app.appId, uid), governance)
  const requireConversation = frame.receiverType === 'group' ? requireGroupConversation : requireUserConversation
  const state = await requireConversation(context.database, app, uid, frame.receiver)
  await markReceived(context, action, state, Number(messageId), info.deviceId)
}
