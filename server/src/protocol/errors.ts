import { ApiError, badRequest } from '@parley/contract'
import type { FastifyReply } from 'fastify'
import { refusalOf } from '../faults.ts'
import { TooManyRequests } from '../limits/errors.ts'
import type { Log } from '../log.ts'

/** Seconds after which a client may try again when the database is away, or has too much to do. */
const retryAfterSeconds = 2

/**
 * Turns whatever was thrown into the refusal that the client gets. Faults of ours are logged, never shown.
 * @param bodyLimit bytes that the request's body may have
 */
export function toApiError(error: unknown, log: Log, requestId: string, bodyLimit?: number): ApiError {
  const isOfFramework = !(error instanceof ApiError) && isRefusalOfFramework(error)
  return isOfFramework ? ofFramework(error, bodyLimit) : refusalOf(error, log, { requestId })
}

export function unknownApp(name: string): ApiError {
  return new ApiError('AUTH_ERR_INVALID_APPID', `There is no app with the id ${name}.`)
}

/** 401: neither a key nor a token was sent. */
export function missingKey(): ApiError {
  return new ApiError('AUTH_ERR_EMPTY_APIKEY', 'The header apikey is missing or empty.')
}

export function missingToken(): ApiError {
  return new ApiError('AUTH_ERR_EMPTY_AUTH_TOKEN', 'The header authToken is empty.')
}

export function unknownKey(): ApiError {
  return new ApiError('AUTH_ERR_APIKEY_NOT_FOUND', 'The app has no such API key.')
}

export function unknownToken(): ApiError {
  return new ApiError('AUTH_ERR_AUTH_TOKEN_NOT_FOUND', 'The app has no such auth token.')
}

/** 403: an auth token does not open this operation. */
export function needsKey(operation: string): ApiError {
  return new ApiError('AUTH_ERR_NO_ACCESS', `${operation} needs an API key; an auth token is not enough.`)
}

/** 403: an authOnly key does not open this operation. */
export function needsFullAccess(operation: string): ApiError {
  return new ApiError('AUTH_ERR_NO_ACCESS', `${operation} needs a fullAccess key; an authOnly key is not enough.`)
}

/** 404 for a file that there is not, or that was removed. */
export function noSuchFile(): ApiError {
  return new ApiError('ERR_API_NOT_FOUND', 'There is no such file.')
}

/** 400 for plain HTTP with `REQUIRE_HTTPS`. */
export function httpsRequired(): ApiError {
  return new ApiError('ERR_BAD_REQUEST', 'This service only accepts HTTPS (REQUIRE_HTTPS is set).')
}

/** 404 for an unknown path or method. */
export function apiNotFound(request: { method: string; url: string; originalUrl?: string }): ApiError {
  // As it was asked for, with the prefix.
  const path = (request.originalUrl ?? request.url).replace(/^https?:\/\/[^/?#]*/i, '').split('?')[0]
  return new ApiError('ERR_API_NOT_FOUND', `There is no operation ${request.method} ${path}.`)
}

type FrameworkError = Error & { code?: string; statusCode: number }

/** Fastify gives what it refuses a status: a body that is too large, or cut off by a client that went away. */
function isRefusalOfFramework(error: unknown): error is FrameworkError {
  const status = error instanceof Error ? (error as Partial<FrameworkError>).statusCode : undefined
  return status !== undefined && status >= 400 && status < 500
}

function ofFramework(error: FrameworkError, bodyLimit: number | undefined): ApiError {
  switch (error.statusCode) {
    case 413:
      return bodyTooLarge(`has more than the ${bodyLimit} bytes that are taken here`)
    case 415:
      return unsupportedMediaType()
    default:
      return badRequest([{ path: 'body', message: `cannot be read: ${error.message}` }])
  }
}

/** 413. @param message what is too large about it */
export function bodyTooLarge(message: string): ApiError {
  return new ApiError('ERR_BAD_REQUEST', `The body ${message}.`, [{ path: 'body', message }], 413)
}

/** 415. @param type the one that is taken */
export function unsupportedMediaType(type = 'application/json'): ApiError {
  const details = [{ path: 'headers/content-type', message: `must be ${type}` }]
  const what = type === 'application/json' ? 'JSON' : 'a form'
  return new ApiError('ERR_BAD_REQUEST', `The body must be ${what}, with Content-Type: ${type}.`, details, 415)
}

/** What is said of a file that could not be read after all: nobody may keep the error in its place. */
const ofContent = ['cache-control', 'etag', 'content-disposition', 'content-range', 'accept-ranges']

export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  for (const name of ofContent) reply.removeHeader(name)
  if (error.status === 503 || error.status === 429) {
    reply.header('retry-after', error.retryAfterSeconds ?? retryAfterSeconds)
  }
  if (error instanceof TooManyRequests) {
    reply.header('x-rate-limit-reset', Math.ceil(Date.now() / 1000) + error.retryAfterSeconds)
  }
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(error.toBody())
}
