import { ApiError } from '@parley/contract'

export function notSignedIn(): ApiError {
  return new ApiError('ERR_NO_AUTH', 'Sign in, or send a personal token.')
}

/** A password or a session would go over a network in the open. */
export function notPrivate(): ApiError {
  return new ApiError(
    'ERR_PERMISSION_DENIED',
    'Sign in over HTTPS. Behind a proxy that ends TLS, set PUBLIC_URL to the https:// address, or TRUST_PROXY.',
  )
}

export function ofOtherOrigin(): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', 'Pages of other origins cannot call the admin API.')
}

export function needsOrigin(): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', 'Changes by a session need the header Origin.')
}

export function noTokens(): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', 'Personal tokens cannot do this: sign in.')
}

export function actsAsNobody(): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', 'Operators do not act as users.')
}

export function lacksRight(right: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `You do not have the right "${right}".`)
}

export function readingRequired(): ApiError {
  return new ApiError('ERR_READING_REQUIRED', 'Begin a reading of the whole app first: POST .../readings with of: "*".')
}
