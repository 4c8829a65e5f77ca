import { ApiError } from '@parley/contract'

export function noSelfBlock(uid: string): ApiError {
  return new ApiError('ERR_CANNOT_BLOCK_SELF', `${uid} cannot block themselves.`)
}

/** 403: it would keep the messages of a user from the app. */
export function systemCannotBlock(uid: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `${uid} cannot block anybody.`)
}

/** 403: the system user acts for the app. */
export function systemCannotBeBlocked(uid: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `${uid} cannot be blocked.`)
}
