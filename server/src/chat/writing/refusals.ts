import { ApiError, type MessageKind } from '@parley/contract'
import { bannedFrom, notJoined, unknownGroup } from '../groups/access.ts'
import type { ConversationKind } from '../kind.ts'
import { unknownMessage } from '../messages/read.ts'
import type { Refusal } from './rules.ts'

/** What was refused, and to whom. */
interface RefusedWriting {
  readonly sender: string
  readonly kind: ConversationKind
  readonly receiver: string
  readonly says?: Pick<MessageKind, 'type'> | undefined
  readonly parentId?: number | null
}

/** The error for a refusal by the rules of writing. */
export function refusalError(refusal: Refusal, { sender, kind, receiver, says, parentId }: RefusedWriting): ApiError {
  const what = says === undefined ? 'do this' : `send this (type ${says.type})`
  switch (refusal) {
    case 'ERR_SENDER_NOT_FOUND':
      return new ApiError('ERR_UID_NOT_FOUND', `The sender ${sender} is unknown or deactivated.`)
    case 'ERR_UID_NOT_FOUND':
      return new ApiError('ERR_UID_NOT_FOUND', `The receiver ${receiver} is unknown or deactivated.`)
    case 'ERR_GUID_NOT_FOUND':
      return unknownGroup(receiver)
    case 'ERR_BLOCKED_RECEIVER':
      return new ApiError(refusal, `${sender} has blocked ${receiver}.`)
    case 'ERR_BLOCKED_SENDER':
      return new ApiError(refusal, `${receiver} has blocked ${sender}.`)
    case 'ERR_GROUP_NOT_JOINED':
      return notJoined(receiver, sender)
    case 'ERR_BANNED_GROUPMEMBER':
      return bannedFrom(receiver, sender)
    case 'SCOPE_DENIED':
      return new ApiError(
        'ERR_PERMISSION_DENIED',
        `The scope of ${sender} in the group ${receiver} is not allowed to ${what}.`,
      )
    case 'ROLE_DENIED':
      return new ApiError(
        'ERR_PERMISSION_DENIED',
        `The role of ${sender} is not allowed to ${what} in the ${kind === 'group' ? 'group' : 'conversation with'} ${receiver}.`,
      )
    case 'ERR_MESSAGE_ID_NOT_FOUND':
      return unknownMessage(String(parentId))
    case 'NO_CONVERSATION':
      return new ApiError('ERR_CONVERSATION_NOT_ACCESSIBLE', `${sender} and ${receiver} have no conversation yet.`)
    case 'STALE_PERMISSIONS':
      return changedMeanwhile()
  }
}

/** 503: where it is written changed in between, once too often. */
export function changedMeanwhile(): ApiError {
  const devMessage = 'The conversation or its permissions changed while this was written. Try again.'
  return new ApiError('ERR_MISSION_FAILED', devMessage)
}
