import { ApiError } from '@parley/contract'

export const maxHolds = 1000

/** 404 */
export function notOnHold(what: string): ApiError {
  return new ApiError('ERR_HOLD_NOT_FOUND', `${what} is not on hold.`)
}

/** 403 */
export function tooManyHolds(): ApiError {
  return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', `The app has ${maxHolds} holds, the maximum.`)
}

/** 404 */
export function unknownConversation(name: string): ApiError {
  return new ApiError('ERR_CONVERSATION_NOT_FOUND', `There is no conversation ${name}.`)
}
