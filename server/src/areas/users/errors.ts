import { ApiError } from '@parley/contract'

/** 403: the system user is there as long as the app is. */
export function systemCannotBeDeleted(uid: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `${uid} cannot be deleted.`)
}

/** 403: what an authOnly key may do at all, the app's setting `authKeys` forbids. */
export function keyIsConfined(wants: 'update' | 'token'): ApiError {
  const what = wants === 'update' ? 'cannot update users' : 'can only create tokens for users that it created itself'
  return new ApiError(
    'AUTH_ERR_NO_ACCESS',
    `This authOnly key ${what}: the setting authKeys of the app is createOnly. Create tokens in your back end, with a fullAccess key (docs/front-end.md).`,
  )
}

/** 403: no authOnly key may do this. */
export function needsFullAccess(what: string): ApiError {
  return new ApiError('AUTH_ERR_NO_ACCESS', `An authOnly key cannot ${what}; use a fullAccess key.`)
}

/** 404: nobody with this uid was deleted for good, or before certificates were kept. */
export function notErased(uid: string): ApiError {
  return new ApiError('ERR_ERASURE_NOT_FOUND', `There is no certificate of an erasure of ${uid}.`)
}
