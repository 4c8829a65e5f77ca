import { ApiError } from '@parley/contract'

export function noSelfFriend(uid: string): ApiError {
  return new ApiError('ERR_CANNOT_FORM_SELF_RELATION', `${uid} cannot be friends with themselves.`)
}

export function alreadyFriends(uid: string, other: string): ApiError {
  return new ApiError('ERR_ALREADY_FRIEND', `${uid} and ${other} are already friends.`)
}

export function tooManyFriends(uid: string, most: number): ApiError {
  return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', `${uid} has ${most} friends, the maximum.`)
}

/** 400 if none of those named is a friend. */
export function notFriends(uid: string, others: readonly string[]): ApiError {
  return new ApiError('ERR_NOT_A_FRIEND', `None of ${others.join(', ')} is a friend of ${uid}.`)
}
