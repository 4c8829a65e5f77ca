import {
  badRequest,
  governanceOf,
  limits,
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
import { markReceived } from '../areas/conversations/index.ts'
import { requireGroupConversation, requireUserConversation } from '../chat/conversations/require.ts'
import type { RolePolicy } from '../chat/roles/policies.ts'
import { requireGoverned } from '../chat/roles/rules.ts'
import { requireActiveUser } from '../chat/users/require.ts'
import type { Context } from '../context.ts'
import { compileCheck, sanitize } from '../protocol/validation.ts'
import type { Login } from './connection.ts'
import { notForClients } from './errors.ts'
import type { MissingGroups } from './missing-groups.ts'
import type { Signals } from './signals.ts'

export interface ReceiveParts {
  readonly context: Context
  readonly signals: Signals
  readonly missing: MissingGroups
}

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
      checkTypingMetadata(metadata)
      return parts.signals.send(login, address, 'typing_indicator', { action, ...(metadata && { metadata }) })
    }
    case 'transient_message': {
      checkTransient(frame)
      const { body, ...address } = frame as TransientFrameIn
      return parts.signals.send(login, address, 'transient_message', { data: body.data })
    }
    case 'receipts':
      checkReceipts(frame)
      return mark(parts, login, frame as ReceiptsFrameIn)
    default:
      throw notForClients(sent.type)
  }
}

/** It goes to everybody who is connected; transient messages are for more. */
function checkTypingMetadata(metadata: object | undefined): void {
  if (metadata === undefined || Buffer.byteLength(JSON.stringify(metadata)) <= limits.typingMetadataBytes) return
  throw badRequest([
    { path: 'frame/body/metadata', message: `must not have more than ${limits.typingMetadataBytes} bytes` },
  ])
}

/** Undefined for nearly everybody: most apps restrict nothing, and then the user need not be read. */
async function policyOf({ policies, database }: Context, appId: number, uid: string): Promise<RolePolicy | undefined> {
  const ofApp = await policies.ofApp(appId)
  if (ofApp.size === 0) return undefined
  return ofApp.get((await requireActiveUser(database, appId, uid)).role)
}

const markOperations = {
  user: { delivered: markUserDelivered, read: markUserRead },
  group: { delivered: markGroupDelivered, read: markGroupRead },
}

/** Marks as the REST operations do. @throws as they do */
async function mark({ context, missing }: ReceiveParts, login: Login, frame: ReceiptsFrameIn): Promise<void> {
  const { app, uid, info } = login
  const { action, messageId } = frame.body
  const governance = governanceOf(markOperations[frame.receiverType][action].id)
  if (governance !== undefined) requireGoverned(await policyOf(context, app.appId, uid), governance)
  const { receiver, receiverType } = frame
  const state = await (receiverType === 'group'
    ? missing.ask(app.appId, uid, receiver, () => requireGroupConversation(context.database, app, uid, receiver))
    : requireUserConversation(context.database, app, uid, receiver))
  await markReceived(context, action, state, Number(messageId), info.deviceId, true)
}
