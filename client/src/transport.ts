import { ConnectionError, errorOf, ParleyError, retryAfterOf, statusOf } from './errors.ts'
import { type Fetch, type FetchAnswer, type FetchInit, type Form, platform, type Signal } from './platform.ts'

/** What every call takes besides its input. */
export interface CallOptions {
  /** Ends the call: it is then rejected with the reason of the signal. */
  readonly signal?: Signal | undefined
  /** Milliseconds for each attempt; 0 for as long as it takes. */
  readonly timeout?: number
  /** With an API key: the uid of the user who acts. */
  readonly onBehalfOf?: string
}

/** Options of both kinds of clients. */
export interface TransportOptions {
  /** Where the service answers: `https://chat.example.com` */
  readonly url: string
  /** The app, where the host name does not say it. */
  readonly appId?: string
  /** Milliseconds for each attempt of a call; 30,000 by default. */
  readonly timeout?: number
  /** How often a call is sent again that can be; 3 by default. */
  readonly retries?: number
  readonly fetch?: Fetch
  /** Fills bytes at random, where the platform has no `crypto.getRandomValues`. */
  readonly random?: (bytes: Uint8Array) => Uint8Array
}

/** Says who calls. */
export interface Credentials {
  headers(): Promise<Record<string, string>>
  /**
   * After a 401. Several requests may ask at once.
   * @param used the headers that were refused
   * @returns whether there are other ones now
   */
  renew(used: Record<string, string>): Promise<boolean>
}

export interface Request {
  readonly method: string
  /** Of the operation, with its query */
  readonly path: string
  readonly body?: unknown
  /** It does no harm if it is done twice. */
  readonly isRepeatable: boolean
  /** It is sent once, and outlives its page. Nobody is asked for another token: who logs in by then may be another user. */
  readonly isLast?: boolean | undefined
}

/** Sends a request. @returns the JSON of the answer @throws ParleyError, ConnectionError, the reason of the signal */
export type Send = (request: Request, options?: CallOptions) => Promise<unknown>

/** Milliseconds; the pause before the second attempt is a random part of the first, and so on up to the last. */
const firstPause = 250
const longestPause = 10_000
/** Milliseconds; whoever is asked to wait longer than that is told so instead. */
const longestRetryAfter = 30_000

/** @param below the path of the service below which the operations are */
export function createTransport(options: TransportOptions, credentials: Credentials, below = '/v3'): Send {
  const base = options.url.replace(/(\/v3(\.0)?)?\/*$/, '') + below
  const { retries = 3, timeout: usualTimeout = 30_000 } = options

  async function attempt(request: Request, headers: Record<string, string>, call: CallOptions): Promise<unknown> {
    const init = {
      method: request.method,
      headers: {
        ...headers,
        ...(options.appId !== undefined && { appId: options.appId }),
        ...(call.onBehalfOf !== undefined && { onBehalfOf: call.onBehalfOf }),
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      ...(request.isLast && { keepalive: true }),
    }
    const answer = await exchange(options.fetch ?? platform.fetch, base + request.path, init, {
      signal: call.signal,
      timeout: call.timeout ?? usualTimeout,
    })
    // The service answers objects. Anything else was said by what stands before it, such as the login page of a network.
    if (typeof answer.body !== 'object' || answer.body === null) throw errorOf(answer, undefined)
    return answer.body
  }

  return async function send(request, call = {}) {
    let isRenewed = false
    for (let tries = 0; ; tries++) {
      const headers = await abortable(credentials.headers(), call.signal)
      try {
        return await attempt(request, headers, call)
      } catch (error) {
        if (request.isLast) throw error
        if (statusOf(error) === 401 && !isRenewed) {
          isRenewed = true
          if (await abortable(credentials.renew(headers), call.signal)) {
            tries--
            continue
          }
        }
        if (tries >= retries || !mayPass(error, request)) throw error
        await pause(pauseAfter(error, tries), call.signal)
      }
    }
  }
}

/** Whether the same request may well succeed a little later. */
function mayPass(error: unknown, { isRepeatable }: Request): boolean {
  if (error instanceof ConnectionError) return isRepeatable
  if (retryAfterOf(error) > longestRetryAfter) return false
  const status = statusOf(error)
  // Whoever is over a limit was refused before anything was done.
  return status === 429 || (isRepeatable && (status === 502 || status === 503 || status === 504))
}

function pauseAfter(error: unknown, tries: number): number {
  return retryAfterOf(error) + Math.random() * Math.min(longestPause, firstPause * 2 ** tries)
}

/** Calls when the signal is aborted. @returns ends it */
function onAbort(signal: Signal | undefined, listener: () => void): () => void {
  signal?.addEventListener('abort', listener)
  return () => signal?.removeEventListener('abort', listener)
}

/** @throws the reason of the signal */
export function pause(milliseconds: number, signal?: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = platform.setTimeout(() => {
      unlisten()
      resolve()
    }, milliseconds)
    const unlisten = onAbort(signal, () => {
      platform.clearTimeout(timer as never)
      reject(signal?.reason)
    })
  })
}

/** The same promise, but whoever waits for it is let go once the signal is aborted. What others wait for, too, goes on. */
function abortable<T>(promise: Promise<T>, signal: Signal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    promise.then(resolve, reject).finally(onAbort(signal, stop))
  })
}

/** An answer of success; `body` is its JSON. */
interface Exchanged extends Pick<FetchAnswer, 'status' | 'headers'> {
  readonly body: unknown
}

/** One request and its answer. */
export async function exchange(
  fetch: Fetch,
  url: string,
  init: Omit<FetchInit, 'signal'>,
  { signal, timeout = 0 }: { readonly signal?: Signal | undefined; readonly timeout?: number },
): Promise<Exchanged> {
  if (signal?.aborted) throw signal.reason
  const controller = new platform.AbortController()
  const unlisten = onAbort(signal, () => controller.abort(signal?.reason))
  const timer = timeout > 0 ? platform.setTimeout(() => controller.abort(), timeout) : undefined
  try {
    // Called as a function of nothing: browsers refuse a `fetch` that belongs to another object.
    const answer = await fetch(url, { ...init, signal: controller.signal })
    const body = parse(await answer.text())
    const { status, headers } = answer
    if (status < 200 || status > 299) throw errorOf(answer, body)
    return { status, headers, body }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (error instanceof ParleyError) throw error
    const what = controller.signal.aborted ? `no answer within ${timeout} ms` : 'the service could not be reached'
    throw new ConnectionError(`${init.method} ${url}: ${what}`, { cause: error })
  } finally {
    if (timer !== undefined) platform.clearTimeout(timer as never)
    unlisten()
  }
}

/** `undefined` for what is no JSON, such as the page of a proxy. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends a form, where possible with its progress. */
export function sendForm(
  fetch: Fetch | undefined,
  url: string,
  form: Form,
  { signal, onProgress }: { readonly signal?: Signal | undefined; readonly onProgress?: (bytes: number) => void },
): Promise<unknown> {
  const { XMLHttpRequest } = platform
  if (fetch !== undefined || XMLHttpRequest === undefined) {
    return exchange(fetch ?? platform.fetch, url, { method: 'POST', headers: {}, body: form }, { signal })
  }
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const request = new XMLHttpRequest()
    request.onloadend = onAbort(signal, () => request.abort())
    request.open('POST', url)
    request.upload.onprogress = ({ loaded }) => onProgress?.(loaded)
    request.onerror = () => reject(new ConnectionError(`POST ${url}: the service could not be reached`))
    request.onabort = () => reject(signal?.reason)
    request.onload = () => {
      const body = parse(request.responseText)
      const headers = { get: (name: string) => request.getResponseHeader(name) }
      if (request.status >= 200 && request.status < 300) resolve(body)
      else reject(errorOf({ status: request.status, headers }, body))
    }
    request.send(form)
  })
}

/** @returns makes an id that nobody else makes: 32 hexadecimal digits */
export function idsOf({ random }: Pick<TransportOptions, 'random'>): () => string {
  return () => {
    const fill = random ?? platform.crypto?.getRandomValues.bind(platform.crypto)
    if (fill === undefined) throw new Error('there is no crypto.getRandomValues here: pass the option random')
    return Array.from(fill(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}
