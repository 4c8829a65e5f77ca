import { LRUCache } from 'lru-cache'
import { Agent, type Dispatcher } from 'undici'
import { beginningOf, readRetryAfter } from '../outbound/http.ts'
import { sendTimeoutMs } from './endpoints.ts'

/** What a provider answered. */
export interface ProviderAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Seconds after which it wants to be asked again, as `Retry-After` says; undefined without a valid one. */
  readonly retryAfter: number | undefined
}

/** Posts to providers at addresses of the operator, which are not checked. */
export interface ProviderClient {
  /** @throws Error where there is no answer in time; `wasSent` says whether the request may have arrived nevertheless */
  post(url: string, headers: Record<string, string>, body: string, timeoutMs?: number): Promise<ProviderAnswer>
  close(): Promise<void>
}

/** Errors of requests that were sent. */
const sent = new WeakSet<object>()

/** Whether the request whose error this is may have arrived: it was sent, and there was no answer. */
export function wasSent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && sent.has(error)
}

/** Of an answer that is read: whatever a provider says has room there. */
const maxAnswerBytes = 16_384

interface Place {
  readonly origin: string
  readonly path: string
}

/** Those that are posted to are few, and posted to thousands of times a second. */
const places = new LRUCache<string, Place>({ max: 1_000 })

function placeOf(url: string): Place {
  const known = places.get(url)
  if (known !== undefined) return known
  const { origin, pathname, search } = new URL(url)
  const place = { origin, path: `${pathname}${search}` }
  places.set(url, place)
  return place
}

/** @param connections to one origin */
export function createProviderClient(connections: number): ProviderClient {
  const agent = new Agent({ connections, pipelining: 1, headersTimeout: sendTimeoutMs, bodyTimeout: sendTimeoutMs })
  return {
    post(url, headers, body, timeoutMs = sendTimeoutMs) {
      return new Promise((resolve, reject) => {
        const reading = readAnswer(Math.max(1, Math.ceil(timeoutMs)), resolve, reject)
        agent.dispatch({ ...placeOf(url), method: 'POST', headers, body }, reading)
      })
    },
    close: () => agent.destroy(),
  }
}

/**
 * Reads one answer, no further than it is kept. Thousands a second are read: a body that can be read as a stream, and a signal
 * that ends it, would cost more than the answer.
 */
function readAnswer(
  timeoutMs: number,
  resolve: (answer: ProviderAnswer) => void,
  reject: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let under: Dispatcher.DispatchController | undefined
  let late: DOMException | undefined
  let [status, bytes] = [0, 0]
  let headers: ProviderAnswer['headers'] = {}
  const chunks: Buffer[] = []
  const timer = setTimeout(() => {
    late = new DOMException('there was no answer in time', 'TimeoutError')
    if (under !== undefined) sent.add(late)
    under?.abort(late)
    reject(late)
  }, timeoutMs)
  const end = () => {
    clearTimeout(timer)
    const text = beginningOf(chunks, maxAnswerBytes)
    resolve({ status, text, headers, retryAfter: readRetryAfter(headers['retry-after']) })
  }
  return {
    onRequestStart(controller) {
      under = controller
      if (late !== undefined) controller.abort(late)
    },
    onResponseStart(_, statusCode, given) {
      status = statusCode
      headers = given
    },
    onResponseData(controller, chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes < maxAnswerBytes) return
      end()
      controller.abort(new Error('the rest of the answer is not read'))
    },
    onResponseEnd: end,
    onResponseError(_, error) {
      clearTimeout(timer)
      if (under !== undefined && late === undefined) sent.add(error)
      // Nobody hears it where what was read is enough.
      reject(error)
    },
  }
}

/** Whether an answer may be another one the next time: whoever mends the credentials loses nothing meanwhile. */
export function mayPass(status: number): boolean {
  return status === 401 || status === 403 || status === 408 || status === 425 || status === 429 || status >= 500
}
