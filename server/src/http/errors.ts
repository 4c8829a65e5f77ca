import { ApiError } from '@parley/contract'
import type { FastifyReply } from 'fastify'
import type { Log } from '../log.ts'
import { isConnectionFailure, isRetryable } from '../store/connection.ts'

/** Seconds after which a client may try again when the database is away. */
const retryAfterSeconds = 2

/** Turns whatever was thrown into the refusal that the client gets. Faults of ours are logged, never shown. */
export function toApiError(error: unknown, log: Log, requestId: string): ApiError {
  if (error instanceof ApiError) return error
  if (isConnectionFailure(error) || isRetryable(error)) {
    log.warn({ requestId, cause: (error as Error).message }, 'the database is away')
    return databaseAway()
  }
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code === 'string' && code.startsWith('FST_')) return ofFastify(code, error as Error)
  if ((error as { statusCode?: unknown } | null)?.statusCode === 400) {
    return new ApiError('ERR_BAD_REQUEST', `The body is not valid JSON: ${(error as Error).message}`)
  }
  log.error({ requestId, err: error }, 'a request failed with an unexpected error')
  return new ApiError('ERR_EXCEPTION')
}

/** 503: the database does not answer; what was asked for may be tried again. */
export function databaseAway(): ApiError {
  return new ApiError('ERR_MISSION_FAILED', 'The database does not answer at the moment. Try again.')
}

function ofFastify(code: string, error: Error): ApiError {
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('ERR_BAD_REQUEST', 'The body is too large.', [{ path: 'body', message: 'is too large' }], 413)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupportedMediaType()
    default:
      return new ApiError('ERR_BAD_REQUEST', error.message)
  }
}

export function unsupportedMediaType(): ApiError {
  const details = [{ path: 'headers/content-type', message: 'must be application/json' }]
  return new ApiError('ERR_BAD_REQUEST', 'The body must be JSON, with Content-Type: application/json.', details, 415)
}

export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  if (error.status === 503) reply.header('retry-after', retryAfterSeconds)
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(error.toBody())
}
