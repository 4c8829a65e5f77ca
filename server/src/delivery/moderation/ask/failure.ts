import type { EngineFailure } from '../../../events/types.ts'
import { type EndpointAnswer, NoAnswer } from '../../outbound/http.ts'

/** Why an engine gave no answer of use. */
export interface Failure extends Omit<EngineFailure, 'failedAt' | 'context'> {
  /** What was sent; absent where nothing was. */
  readonly request?: SentRequest
  readonly providerErrorCode?: string
  readonly openaiRequestId?: string
}

/** A request as failures show it: without what may be secret, or what was said. */
export interface SentRequest {
  /** Without its query. */
  readonly url: string
  readonly method: 'POST'
  readonly bodyBytes: number
  readonly basicAuthSent: boolean
}

const excerptBytes = 2048

/** An engine that is not set up. */
export function notConfigured(errorMessage: string): Failure {
  return { category: 'not_configured', errorMessage, responseBodyTruncated: false }
}

/** Whatever kept an answer from coming. */
export function failureOf(error: unknown, timeoutMs: number): Failure {
  const errorMessage = error instanceof Error ? error.message : String(error)
  return error instanceof NoAnswer && error.isTimeout
    ? { category: 'timeout', errorMessage, responseBodyTruncated: false, timeoutMs }
    : { category: 'connection_error', errorMessage, responseBodyTruncated: false }
}

/** An answer with another status than 200. */
export function badStatus(answer: EndpointAnswer): Failure {
  const { status } = answer
  const category = status >= 500 ? 'http_5xx' : status >= 400 ? 'http_4xx' : 'invalid_response'
  const isRedirect = status >= 300 && status < 400
  const errorMessage = `the engine answered ${status}${isRedirect ? '; redirects are not followed' : ''}`
  return { category, errorMessage, ...answered(answer) }
}

/** A 200 whose body is not as it must be. @param errors what is wrong, a sentence each */
export function badBody(answer: EndpointAnswer, errors: readonly string[]): Failure {
  const errorMessage = 'the engine answered 200 with a body that is not as it must be'
  return { category: 'invalid_response', errorMessage, validationErrors: errors, ...answered(answer) }
}

function answered({ status, text }: EndpointAnswer) {
  const bytes = Buffer.from(text)
  return {
    httpStatus: status,
    ...(text !== '' && { responseBody: bytes.subarray(0, excerptBytes).toString('utf8').toWellFormed() }),
    responseBodyTruncated: bytes.length > excerptBytes,
  }
}

/** Whether the engine itself is down, or overwhelmed, as far as a failure shows. */
export function isDown({ category, httpStatus }: Failure): boolean {
  return (
    category === 'timeout' ||
    category === 'connection_error' ||
    category === 'http_5xx' ||
    httpStatus === 408 ||
    httpStatus === 429
  )
}
