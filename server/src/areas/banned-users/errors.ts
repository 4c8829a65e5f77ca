import { ApiError } from '@parley/contract'

export function notBanned(guid: string, uid: string): ApiError {
  return new ApiError('ERR_NOT_A_BANNED_USER', `${uid} is not banned from the group ${guid}.`)
}
