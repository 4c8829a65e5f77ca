import { ApiError } from '@parley/contract'

/** 401: only who is logged in can log out. */
export function nothingToLogOut(): ApiError {
  return new ApiError(
    'AUTH_ERR_EMPTY_AUTH_TOKEN',
    'Logging out deletes the auth token of the request; this request has an API key instead.',
  )
}
