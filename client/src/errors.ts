import type { ErrorCode } from './contract.ts'
import type { FetchAnswer } from './platform.ts'

/** What is wrong with one field of a request. */
export interface Flaw {
  readonly path: string
  readonly message: string
}

/** The service has refused a request. `message` is fit for end users; `devMessage` says the same with ids, for developers. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError'
  /** One of the codes of the contract; `undefined` if what answered was not the service, but a proxy before it. */
  readonly code: ErrorCode | undefined
  /** HTTP status */
  readonly status: number
  readonly devMessage: string
  readonly details: readonly Flaw[]
  /** Seconds to wait before the request is sent again, if the answer says so. */
  readonly retryAfter: number | undefined
  /** The log of the service has the same id. */
  readonly requestId: string | undefined

  constructor(status: number, body: unknown, retryAfter?: number, requestId?: string) {
    const notOurs = `What answered with status ${status} is not the service.`
    const { code, message = notOurs, devMessage = message, details = [] } = errorIn(body)
    super(message)
    this.code = code
    this.status = status
    this.devMessage = devMessage
    this.details = details
    this.retryAfter = retryAfter
    this.requestId = requestId
  }
}

/** No answer came: the line was cut, or the time was up. Whether the service has done what was asked is not known. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError'
}

/** The HTTP status of a refusal; 0 where there was no answer. */
export function statusOf(error: unknown): number {
  return error instanceof ParleyError ? error.status : 0
}

/** How long the service asks to wait, in milliseconds. */
export function retryAfterOf(error: unknown): number {
  return error instanceof ParleyError ? (error.retryAfter ?? 0) * 1000 : 0
}

interface AnsweredError {
  readonly code?: ErrorCode
  readonly message?: string
  readonly devMessage?: string
  readonly details?: readonly Flaw[]
}

function errorIn(body: unknown): AnsweredError {
  const error = (body as { error?: AnsweredError } | null | undefined)?.error
  return typeof error?.code === 'string' ? error : {}
}

/** The error of an answer that is none of success, or none of the service. */
export function errorOf(answer: Pick<FetchAnswer, 'status' | 'headers'>, body: unknown): ParleyError {
  const retryAfter = secondsIn(answer.headers.get('retry-after') ?? '')
  return new ParleyError(answer.status, body, retryAfter, answer.headers.get('x-request-id') ?? undefined)
}

/** Seconds of a \`Retry-After\`, which is a number of them, or a date. */
function secondsIn(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  const seconds = Math.ceil((Date.parse(text) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
