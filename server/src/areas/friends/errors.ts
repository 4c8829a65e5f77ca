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

/** 400 for a request that names too many users. @param path where its list is */
export function tooManyInRequest(path: string, named: number, most: number): ApiError {
  const message = `can have at most ${most} users`
  return new ApiError('ERR_BAD_REQUEST', `${path} ${message}; it has ${named}.`, [{ path, message }])
}
