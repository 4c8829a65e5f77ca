import { ApiError } from '@parley/contract'

/** 403: whoever logged in as the system user would own every group that was created without an owner. */
export function systemCannotLogIn(uid: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `Nobody can log in as ${uid}.`)
}

export function tokenOfAnother(uid: string): ApiError {
  return new ApiError('ERR_AUTHTOKEN_NOT_ACCESSIBLE', `The auth token does not belong to ${uid}.`)
}

export function unknownToken(uid: string): ApiError {
  return new ApiError('ERR_AUTH_TOKEN_NOT_FOUND', `${uid} has no such auth token.`)
}
