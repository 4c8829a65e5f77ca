import { ApiError } from '@parley/contract'
import type { MessageRow, Refusal } from './row.ts'

/** A refusal by the batch statement as answers tell it. */
export function refusalError(refusal: Refusal, { sender, receiver, type, parentId }: MessageRow): ApiError {
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
