import { ApiError } from '@parley/contract'

export function notInThisConversation(messageId: number | string): ApiError {
  return new ApiError('ERR_MESSAGE_ID_NOT_FOUND', `There is no message with the id ${messageId} in this conversation.`)
}

export function notAnAdmin(guid: string, uid: string): ApiError {
  return new ApiError('ERR_GROUP_NO_ADMIN_SCOPE', `${uid} is not an admin of the group ${guid}.`)
}

export function tooManyPins(uid: string, most: number): ApiError {
  const devMessage = `${uid} has pinned ${most} conversations, the maximum.`
  return new ApiError('ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED', devMessage)
}

export function tooManyAppPins(wanted: number, most: number): ApiError {
  const devMessage = `At most ${most} conversations can be pinned for everyone; these are ${wanted}.`
  return new ApiError('ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED', devMessage)
}

/** 403: users cannot pin or unpin what the app has pinned for everyone. */
export function pinnedByApp(peer: string): ApiError {
  return new ApiError('ERR_SYSTEM_PINNED_CONVERSATION', `The conversation with ${peer} is pinned for everyone.`)
}
