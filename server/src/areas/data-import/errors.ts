import { ApiError, type ErrorCode, type ImportKind } from '@parley/contract'
import type { ImportRefusal, ImportRow } from '../messages/index.ts'

export function tooManyRecords(kind: ImportKind | 'records', sent: number, most: number): ApiError {
  const path = `body/${kind}`
  const message = `must have at most ${most} records`
  return new ApiError('ERR_BAD_REQUEST', `${path} ${message}; it has ${sent}.`, [{ path, message }])
}

const existsErrors = {
  users: 'ERR_UID_ALREADY_EXISTS',
  groups: 'ERR_GUID_ALREADY_EXISTS',
  members: 'ERR_ALREADY_JOINED',
  messages: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
} as const satisfies Record<ImportKind, ErrorCode>

/** Two records that the old system told apart: whoever imports must be able to see that this one is missing. */
export function spelledOtherwise(kind: ImportKind, path: string, id: string, earlier: string): ApiError {
  const message = `differs from ${earlier}, in an earlier record, in upper and lower case only`
  return new ApiError(existsErrors[kind], `The ${path} ${id} ${message}.`, [{ path, message }])
}

/** A membership or a ban that exists already. */
export function alreadyThere(guid: string, uid: string, kind: 'member' | 'banned'): ApiError {
  const state = kind === 'banned' ? 'banned from' : 'a member of'
  return new ApiError('ERR_ALREADY_JOINED', `${uid} is already ${state} the group ${guid}.`)
}

export function groupIsFull(guid: string, most: number): ApiError {
  const devMessage = `The group ${guid} has ${most} members, the maximum.`
  return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', devMessage)
}

export function joinedTooEarly(createdAt: number): ApiError {
  const message = `must not be before the group was created (${createdAt})`
  return new ApiError('ERR_IMPORT_INVALID_JOINEDAT', `joinedAt ${message}`, [{ path: 'joinedAt', message }])
}

function muidExists(muid: string): ApiError {
  return new ApiError('ERR_IMPORT_MUID_ALREADY_EXISTS', `A message with the muid ${muid} already exists.`)
}

/** Not the same as `muidExists`: whoever imports must be able to see that this message is missing. */
function muidOfAnother(muid: string): ApiError {
  const devMessage = `The muid ${muid} belongs to another message.`
  return new ApiError('ERR_IMPORT_MUID_ALREADY_EXISTS', devMessage, [
    { path: 'muid', message: 'belongs to another message' },
  ])
}

export function notStored(muid: string): ApiError {
  return new ApiError('ERR_EXCEPTION', `The message ${muid} could not be stored.`)
}

function parentElsewhere(muid: string, parentMuid: string | null | undefined): ApiError {
  const devMessage = `parentMuid ${parentMuid} is not a message in the conversation of ${muid}.`
  return new ApiError('ERR_WRONG_MESSAGE_THREAD', devMessage)
}

function parentIsReply(parentMuid: string | null | undefined): ApiError {
  return new ApiError('ERR_MESSAGE_THREAD_NESTING', `parentMuid ${parentMuid} is a reply itself.`)
}

function subjectElsewhere(muid: string, subjectMuid: string | null): ApiError {
  const devMessage = `subjectMuid ${subjectMuid} is not a message in the conversation of ${muid}.`
  return new ApiError('ERR_MESSAGE_ID_NOT_FOUND', devMessage)
}

function usersJustDeleted(sender: string, receiver: string): ApiError {
  return new ApiError('ERR_UID_NOT_FOUND', `${sender} or ${receiver} has just been deleted.`)
}

function userJustErased(muid: string): ApiError {
  return new ApiError('ERR_IMPORT_UID_ERASED', `A user whom the message ${muid} names has just been erased.`)
}

function groupJustDeleted(guid: string): ApiError {
  return new ApiError('ERR_GUID_NOT_FOUND', `The group ${guid} has just been deleted.`)
}

export function unreadableOthers(sent: unknown): ApiError {
  const message = sent === undefined ? 'is required' : 'must be an array or a map of records'
  return new ApiError('ERR_IMPORT_INVALID_RECORD_FORMAT', `body/records ${message}`, [
    { path: 'body/records', message },
  ])
}

/** 409: what a record says is there already. @param kind such as `friend` */
export function othersExist(kind: string): ApiError {
  return new ApiError(
    'ERR_IMPORT_ALREADY_EXISTS',
    `This ${kind} record changes nothing: what it says is already there.`,
  )
}

/** A record names a message that is not there, or one with which nothing of the kind can be done. */
export function noSuchMessage(
  { messageId, muid }: { readonly messageId?: number | string; readonly muid?: string },
  path?: string,
): ApiError {
  const name = messageId === undefined ? `muid ${muid}` : `messageId ${messageId}`
  const message = 'does not name a message for which this is possible'
  const named = messageId === undefined ? 'muid' : 'messageId'
  return new ApiError('ERR_MESSAGE_ID_NOT_FOUND', `${name} ${message}.`, [
    { path: path === undefined ? named : `${path}/${named}`, message },
  ])
}

export function noState({
  uid,
  receiver,
  receiverType,
}: {
  uid: string
  receiver: string
  receiverType: string
}): ApiError {
  return new ApiError(
    'ERR_CONVERSATION_NOT_FOUND',
    `${uid} has no part in a conversation with the ${receiverType} ${receiver}.`,
  )
}

export function tokenOfAnother(uid: string): ApiError {
  const message = 'belongs to another user'
  return new ApiError('ERR_AUTHTOKEN_NOT_ACCESSIBLE', `The auth token of ${uid} ${message}.`, [
    { path: 'authToken', message },
  ])
}

/** Why a message was not stored. */
export function ofMessage(refusal: ImportRefusal, row: ImportRow): ApiError {
  switch (refusal) {
    case 'ERR_IMPORT_MUID_ALREADY_EXISTS':
      return muidExists(row.muid)
    case 'MUID_OF_ANOTHER_MESSAGE':
      return muidOfAnother(row.muid)
    case 'ERR_WRONG_MESSAGE_THREAD':
      return parentElsewhere(row.muid, row.parentMuid)
    case 'ERR_MESSAGE_THREAD_NESTING':
      return parentIsReply(row.parentMuid)
    case 'ERR_MESSAGE_ID_NOT_FOUND':
      return subjectElsewhere(row.muid, row.subjectMuid)
    case 'ERR_IMPORT_UID_ERASED':
      return userJustErased(row.muid)
    case 'ERR_UID_NOT_FOUND':
      return usersJustDeleted(row.sender, row.receiver)
    case 'ERR_GUID_NOT_FOUND':
      return groupJustDeleted(row.receiver)
  }
}
