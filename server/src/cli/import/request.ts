import { type Dispatcher, request } from 'undici'
import { exitCodes, ImportFailure } from './failure.ts'
import { isJsonObject, type JsonRecord, parseObject, type RecordError } from './records.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** What came of sending a request once. */
export type Attempt =
  | { readonly outcome: 'answered'; readonly status: number; readonly body: JsonRecord; readonly headers: Headers }
  | {
      readonly outcome: 'failed'
      readonly problem: string
      /** Milliseconds. */
      readonly retryAfter: number | undefined
      /** The service may have done what it was asked before the answer was lost. */
      readonly maybeDone: boolean
    }

/**
 * Sends a request once. Answers 200 and the `expected` statuses; what else another try may mend is a failure.
 * @throws ImportFailure where no other try can help: the key is not accepted, or this is no Parley service.
 */
export async function sendOnce(
  dispatcher: Dispatcher,
  url: string,
  options: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    headers: Record<string, string>
    body: string | null
  },
  expected: readonly number[],
): Promise<Attempt> {
  let status: number
  let headers: Headers
  let text: string
  try {
    const response = await request(url, { ...options, dispatcher })
    status = response.statusCode
    headers = response.headers
    text = await response.body.text()
  } catch (error) {
    return connectionProblem(url, error as NodeJS.ErrnoException)
  }
  const body = parseObject(text)
  const { code, devMessage, message } = errorOf(body ?? {})
  const said = [code, devMessage ?? message].filter((part) => part !== undefined && part !== 'ERR_UNKNOWN').join(': ')
  if ((status === 429 || status === 408 || status >= 500) && !expected.includes(status)) {
    const problem = `answered ${status}${said === '' ? '' : ` (${said})`}`
    return { outcome: 'failed', problem, retryAfter: readRetryAfter(headers), maybeDone: status !== 429 }
  }
  if ((status === 401 || status === 403) && !expected.includes(status)) {
    throw new ImportFailure(
      exitCodes.unreachable,
      `${new URL(url).origin} does not accept the API key: ${status} ${said}`,
    )
  }
  if (status === 200 || expected.includes(status)) {
    if (body !== undefined) return { outcome: 'answered', status, body, headers }
    if (status !== 200)
      return {
        outcome: 'answered',
        status,
        body: { error: { code: 'ERR_UNKNOWN', message: text.slice(0, 300) } },
        headers,
      }
    return { outcome: 'failed', problem: 'gave an answer that is not JSON', retryAfter: undefined, maybeDone: true }
  }
  const target = headers.location === undefined ? '' : `, pointing to ${String(headers.location)}`
  throw unlikeParley(url, `it answered ${status}${target}${said === '' ? '' : ` ${said}`}`)
}

const neverConnected = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

function connectionProblem(url: string, error: NodeJS.ErrnoException): Attempt {
  const code = error.code ?? ''
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    const hint = '--insecure accepts a certificate that nobody vouches for'
    throw new ImportFailure(
      exitCodes.unreachable,
      `the certificate of ${new URL(url).origin} is not trusted (${code}); ${hint}`,
    )
  }
  if (/^(ERR_SSL|EPROTO)/.test(code)) {
    throw new ImportFailure(exitCodes.unreachable, `${new URL(url).origin} does not speak TLS properly (${code})`)
  }
  const detail = error.message === '' ? code : error.message
  const maybeDone = !neverConnected.includes(code)
  const problem = maybeDone ? `broke off the connection (${detail})` : `cannot be reached (${detail})`
  return { outcome: 'failed', problem, retryAfter: undefined, maybeDone }
}

/** The failure of talking to something else. */
export function unlikeParley(url: string, why: string): ImportFailure {
  return new ImportFailure(
    exitCodes.unreachable,
    `${new URL(url).origin} does not answer like a Parley service: ${why}`,
  )
}

/** `Retry-After` in seconds or as a date, else the time of `X-Rate-Limit-Reset` in epoch seconds; in milliseconds. */
export function readRetryAfter(headers: Headers): number | undefined {
  const { 'retry-after': header, 'x-rate-limit-reset': reset } = headers
  if (typeof header !== 'string') {
    const until = Number(reset) * 1000 - Date.now()
    return typeof reset === 'string' && Number.isFinite(until) ? Math.min(120_000, Math.max(0, until)) : undefined
  }
  const seconds = Number(header)
  const milliseconds = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds)
}

/** The error of an answer, or of one record in it, with what is known of it kept as it came. */
export function errorOf(body: JsonRecord): RecordError {
  const { error } = body
  return isJsonObject(error) && typeof error.code === 'string'
    ? (error as unknown as RecordError)
    : { code: 'ERR_UNKNOWN' }
}
