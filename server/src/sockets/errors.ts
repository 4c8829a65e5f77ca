import { ApiError } from '@parley/contract'

/** 429: more transient messages in a group than clients could read. */
export function tooManyTransients(guid: string, perSecond: number): ApiError {
  return new ApiError('ERR_TOO_MANY_REQUESTS', `More than ${perSecond} transient messages a second in ${guid}.`)
}

/** 400 for a frame of a type that only the service sends, or that does not exist. */
export function notForClients(type: unknown): ApiError {
  return new ApiError('ERR_BAD_REQUEST', `Clients cannot send frames of the type ${String(type).slice(0, 50)}.`)
}

/** 403: `CORS_ORIGINS` does not name the page that wants to connect. */
export function originNotAllowed(origin: string): ApiError {
  const devMessage = `Pages from ${origin.slice(0, 200)} are not allowed to use this service (CORS_ORIGINS).`
  return new ApiError('AUTH_ERR_NO_ACCESS', devMessage)
}

/** 503: so many log in at once that this one would wait for too long. */
export function tooManyLogins(): ApiError {
  return new ApiError('ERR_MISSION_FAILED', 'Too many clients log in at once. Try again in some seconds.')
}
