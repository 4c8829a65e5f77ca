import { ApiError, badRequest } from '@parley/contract'

export function uidRequired(): ApiError {
  return badRequest([{ path: 'query/uid', message: 'is required' }])
}

export function notYourOwn(): ApiError {
  return new ApiError('AUTH_ERR_NO_ACCESS', 'With an auth token, only your own time zone can be read and set.')
}

export function unknownTimezone(): ApiError {
  return badRequest([{ path: 'body/timezone', message: 'must be an IANA time zone, such as Europe/Oslo' }])
}

export function tooManyMutes(limit: number): ApiError {
  return new ApiError('ERR_BAD_REQUEST', `A user can mute at most ${limit} conversations.`)
}

/** @param what the provider in words: `custom push provider` */
export function unknownProvider(what: string): ApiError {
  return new ApiError('ERR_PROVIDER_NOT_FOUND', `This app has no ${what}.`)
}

export function providerExists(what: string): ApiError {
  return new ApiError('ERR_PROVIDER_ALREADY_EXISTS', `This app already has a ${what}; PUT changes it.`)
}

export function authTokenRequired(): ApiError {
  return badRequest([{ path: 'authToken', message: 'is required with an API key' }])
}

export function unknownAuthToken(): ApiError {
  return new ApiError('ERR_AUTH_TOKEN_NOT_FOUND', 'There is no such auth token.')
}

export function unknownPushToken(uid: string): ApiError {
  return new ApiError('ERR_TOKEN_NOT_FOUND', `${uid} has no such device.`)
}

export function bothOrNeither(): ApiError {
  return badRequest([{ path: 'query', message: 'must have uid, and messageId or eventId, one of the two' }])
}

export function unknownGroup(guid: string): ApiError {
  return new ApiError('ERR_GUID_NOT_FOUND', `There is no group with the guid ${guid}.`)
}
