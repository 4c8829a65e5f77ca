import { ApiError } from '@parley/contract'
import type { Log } from './log.ts'
import { isConnectionFailure, isRetryable } from './store/connection.ts'
import { ReadAbandonedError, ReadsFullError, ReadTimeoutError } from './store/reader.ts'

/**
 * Turns whatever went wrong in a call into the refusal that the client gets, for the whole of it or for one of several receivers. Faults
 * of ours are logged, never shown.
 * @param of what the log names it by
 */
export function refusalOf(
  error: unknown,
  log: Log,
  of: { readonly requestId: string } | { readonly receiver: string },
): ApiError {
  if (error instanceof ApiError) return error
  const refusedRead = ofRead(error)
  if (refusedRead !== undefined) return refusedRead
  if (isConnectionFailure(error) || isRetryable(error)) {
    log.warn({ ...of, cause: (error as Error).message }, 'the database is unavailable')
    return databaseAway()
  }
  log.error({ ...of, err: error }, 'a request failed with an unexpected error')
  return new ApiError('ERR_EXCEPTION')
}

/** Lists that took too long, or came too often. */
function ofRead(error: unknown): ApiError | undefined {
  if (error instanceof ReadsFullError && error.of === 'reader')
    return new ApiError('ERR_TOO_MANY_REQUESTS', error.message)
  if (error instanceof ReadsFullError || error instanceof ReadTimeoutError || error instanceof ReadAbandonedError) {
    return new ApiError('ERR_MISSION_FAILED', error.message)
  }
  return undefined
}

/** 503: the database is unavailable; the request can be sent again. */
export function databaseAway(): ApiError {
  return new ApiError('ERR_MISSION_FAILED', 'The database is unavailable at the moment. Try again.')
}
