import { ApiError } from '@parley/contract'

/** 403: only the owner can transfer the ownership. */
export function notTheOwner(guid: string, uid: string): ApiError {
  return new ApiError('ERR_GROUP_NO_CLEARANCE', `${uid} does not own the group ${guid}.`)
}

export function alreadyTheOwner(guid: string, uid: string): ApiError {
  return new ApiError('ERR_GROUP_NO_SELF_ACTION', `${uid} already owns the group ${guid}.`)
}
