import { ApiError, type ImportKind, limits } from '@parley/contract'

export function tooManyRecords(kind: ImportKind, sent: number, most: number): ApiError {
  const path = `body/${kind}`
  const message = `must have at most ${most} records`
  return new ApiError('ERR_BAD_REQUEST', `${path} ${message}; it has ${sent}.`, [{ path, message }])
}

/** A membership or a ban that exists already. */
export function alreadyThere(guid: string, uid: string, kind: 'member' | 'banned'): ApiError {
  const state = kind === 'banned' ? 'banned from' : 'a member of'
  return new ApiError('ERR_ALREADY_JOINED', `${uid} is already ${state} the group ${guid}.`)
}

export function groupIsFull(guid: string): ApiError {
  const devMessage = `The group ${guid} has ${limits.membersPerGroup} members, the maximum.`
  return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', devMessage)
}

export function joinedTooEarly(createdAt: number): ApiError {
  const message = `must not be before the group was created (${createdAt})`
  return new ApiError('ERR_IMPORT_INVALID_JOINEDAT', `joinedAt ${message}`, [{ path: 'joinedAt', message }])
}

export function muidExists(muid: string): ApiError {
  return new ApiError('ERR_IMPORT_MUID_ALREADY_EXISTS', `A message with the muid ${muid} already exists.`)
}

/** Not the same as `muidExists`: whoever imports must be able to see that this message is missing. */
export function muidOfAnother(muid: string): ApiError {
  const devMessage = `The muid ${muid} belongs to another message.`
  return new ApiError('ERR_IMPORT_MUID_ALREADY_EXISTS', devMessage, [
    { path: 'muid', message: 'belongs to another message' },
  ])
}

export function notStored(muid: string): ApiError {
  return new ApiError('ERR_EXCEPTION', `The message ${muid} could not be stored.`)
}

export function parentElsewhere(muid: string, parentMuid: string | null | undefined): ApiError {
  const devMessage = `parentMuid ${parentMuid} is not a message in the conversation of ${muid}.`
  return new ApiError('ERR_WRONG_MESSAGE_THREAD', devMessage)
}

export function parentIsReply(parentMuid: string | null | undefined): ApiError {
  return new ApiError('ERR_MESSAGE_THREAD_NESTING', `parentMuid ${parentMuid} is a reply itself.`)
}

export function usersJustDeleted(sender: string, receiver: string): ApiError {
  return new ApiError('ERR_UID_NOT_FOUND', `${sender} or ${receiver} has just been deleted.`)
}

export function groupJustDeleted(guid: string): ApiError {
  return new ApiError('ERR_GUID_NOT_FOUND', `The group ${guid} has just been deleted.`)
}
