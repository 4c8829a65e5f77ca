import type { Target } from '../../areas/webhooks/index.ts'
import type { Span } from '../../tracing/tracing.ts'
import type { Poster } from '../outbound/http.ts'
import { sign } from '../outbound/signature.ts'

/** How one attempt went. */
export interface Attempt {
  readonly succeeded: boolean
  /** HTTP status; absent where there was no answer. */
  readonly status?: number
  /** Beginning of the answer's body. */
  readonly text?: string
  /** Why it counts as failed. */
  readonly error?: string
  /** Seconds after which the endpoint wants to be asked again. */
  readonly retryAfter?: number
  readonly durationMs: number
}

const excerptBytes = 512

/**
 * Headers that identify, date and sign a body, after the Standard Webhooks convention, and the endpoint's password; and what leads to
 * the work that it is part of.
 */
export function headersFor(target: Target, id: string, body: string, span?: Span): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(target.secrets, id, timestamp, body),
    ...(target.authorization !== undefined && { authorization: target.authorization }),
    ...(span !== undefined && { traceparent: span.traceparent }),
  }
}

/** Posts a body once. Never throws: whatever goes wrong is a failed attempt. @param span ends with it */
export async function attempt(poster: Poster, target: Target, id: string, body: string, span?: Span): Promise<Attempt> {
  const made = await post(poster, target, id, body, span)
  if (span !== undefined) {
    span.setAttributes({ 'http.response.status_code': made.status })
    span.end(made.succeeded ? undefined : String(made.status ?? 'no answer'))
  }
  return made
}

async function post(poster: Poster, target: Target, id: string, body: string, span?: Span): Promise<Attempt> {
  const startedAt = performance.now()
  const duration = () => ({ durationMs: Math.round(performance.now() - startedAt) })
  try {
    const { status, text, retryAfter } = await poster.post(
      target.url,
      headersFor(target, id, body, span),
      body,
      excerptBytes,
    )
    const error = describeStatus(status)
    return {
      succeeded: error === undefined,
      status,
      text,
      ...(error !== undefined && { error }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...duration(),
    }
  } catch (error) {
    return { succeeded: false, error: (error as Error).message, ...duration() }
  }
}

function describeStatus(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status >= 300 && status < 400) return `the endpoint answered ${status}; redirects are not followed`
  if (status === 410) return 'the endpoint answered 410: it is gone for good'
  return `the endpoint answered ${status}`
}
