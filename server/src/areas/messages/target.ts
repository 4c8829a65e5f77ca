import type { BodyOf, sendMessage } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { requireGroup, requireGroupAccess } from '../../chat/groups/access.ts'
import type { App } from '../../chat/identity.ts'
import type { ConversationKind } from '../../chat/kind.ts'
import { requireActiveUser } from '../../chat/users/require.ts'
import type { Queryable } from '../../store/database.ts'
import { emptyReceiver, invalidReceiverType } from './errors.ts'

/** Where one message goes. */
export interface Target {
  readonly kind: ConversationKind
  readonly receiver: string
}

/** The receiver that a body names. @throws 400 where it names none */
export function readTarget({
  receiver,
  receiverType,
}: Pick<BodyOf<typeof sendMessage>, 'receiver' | 'receiverType'>): Target {
  if (receiver === undefined) throw emptyReceiver('receiver')
  if (receiverType !== 'user' && receiverType !== 'group') throw invalidReceiverType()
  return { kind: receiverType, receiver: receiver.toLowerCase() }
}

/** The receivers that a body names, of a form that is still being read as far as they have come. */
export function targetsOf({
  receiver,
  receiverType,
  multipleReceivers,
}: Pick<BodyOf<typeof sendMessage>, 'receiver' | 'receiverType' | 'multipleReceivers'>): Target[] {
  if (multipleReceivers !== undefined) {
    const { uids = [], guids = [] } = multipleReceivers
    return [
      ...uids.map((uid): Target => ({ kind: 'user', receiver: uid.toLowerCase() })),
      ...guids.map((guid): Target => ({ kind: 'group', receiver: guid.toLowerCase() })),
    ]
  }
  return receiver === undefined || receiverType === undefined ? [] : [readTarget({ receiver, receiverType })]
}

/** @throws 404 for an unknown user or group; 403 for a group that the sender is not a member of */
export async function requireReceiver(
  on: Queryable,
  { appId }: App,
  { kind, receiver }: Target,
  sender: string,
): Promise<void> {
  if (kind === 'user') await requireActiveUser(on, appId, receiver)
  else if (sender === systemUid) await requireGroup(on, appId, receiver)
  else await requireGroupAccess(on, appId, receiver, sender)
}
