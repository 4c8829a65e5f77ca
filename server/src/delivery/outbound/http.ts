import { isIP } from 'node:net'
import { limits } from '@parley/contract'
import { LRUCache } from 'lru-cache'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { checkedLookup, TargetRefused } from './addresses.ts'
import type { Reach } from './allowed.ts'
import type { Resolve } from './resolve.ts'

/** What an endpoint answered. */
export interface EndpointAnswer {
  readonly status: number
  /** Beginning of the body, at most as long as was asked for. */
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Seconds to wait as `Retry-After` says; undefined without a valid one. */
  readonly retryAfter: number | undefined
}

/** There was no answer. The message says why. */
export class NoAnswer extends Error {
  /** Whether it would have come too late. */
  readonly isTimeout: boolean

  constructor(message: string, isTimeout: boolean) {
    super(message)
    this.name = 'NoAnswer'
    this.isTimeout = isTimeout
  }
}

/** Reads what others publish. */
export interface Getter {
  /** As `post` of a `Poster`, without a body. */
  get(url: string, headers: Record<string, string>, maxBytes: number, timeoutMs?: number): Promise<EndpointAnswer>
}

/** Posts to endpoints of others. */
export interface Poster {
  /**
   * One request, no redirects followed.
   * @param maxBytes of the answer's body that are read
   * @param timeoutMs that of webhooks where it is left out
   * @throws NoAnswer: no time left, refused, no such host, no public host
   */
  post(
    url: string,
    headers: Record<string, string>,
    body: string | Buffer,
    maxBytes: number,
    timeoutMs?: number,
  ): Promise<EndpointAnswer>
  close(): Promise<void>
}

const usualTimeoutMs = limits.webhooks.timeoutSeconds * 1000
const userAgent = 'Parley-Webhooks/1 (+https://www.standardwebhooks.com)'

/**
 * @param reach what is beyond it is refused, at each new connection
 * @param resolve how names are looked up; by default as the system does
 */
export function createPoster(reach: Reach, resolve?: Resolve): Poster & Getter {
  const connectAnywhere = buildConnector({ timeout: usualTimeoutMs, lookup: checkedLookup(() => true, resolve) })
  /** A lookup does not get the port, which counts: there is one for each port. */
  const connectors = new LRUCache<string, buildConnector.connector>({ max: 1_000 })
  const connectorOf = (port: number, isHttps: boolean) => {
    const name = `${isHttps} ${port}`
    const known = connectors.get(name)
    if (known !== undefined) return known
    const lookup = checkedLookup((address) => reach.admits(address, port, isHttps), resolve)
    const made = buildConnector({ timeout: usualTimeoutMs, lookup })
    connectors.set(name, made)
    return made
  }
  const agent = new Agent({
    // Of one origin; how many requests there are at a time is bounded by those who post.
    connections: 256,
    pipelining: 1,
    // Shorter than what servers keep idle connections for, so that none closes one just as it is used again.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      const isHttps = options.protocol === 'https:'
      const port = Number(options.port) || (isHttps ? 443 : 80)
      if (reach.isTrusted(host, port)) connectAnywhere(options, callback)
      // What is an address already is not looked up, so it is checked here.
      else if (isIP(host) !== 0 && !reach.admits(host, port, isHttps)) callback(new TargetRefused(host, host), null)
      else connectorOf(port, isHttps)(options, callback)
    },
  })

  const ask = async (
    url: string,
    what: Pick<Dispatcher.RequestOptions, 'method' | 'headers'> & { body?: string | Buffer },
    maxBytes: number,
    timeoutMs: number,
  ): Promise<EndpointAnswer> => {
    try {
      const answer = await request(url, {
        ...what,
        dispatcher: agent,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        signal: AbortSignal.timeout(timeoutMs),
      })
      const text = await readBeginning(answer.body, maxBytes)
      const { statusCode: status, headers: received } = answer
      return { status, text, headers: received, retryAfter: readRetryAfter(received['retry-after']) }
    } catch (error) {
      const isPlain = error instanceof TargetRefused && !/^https:/i.test(url)
      if (isPlain) throw new NoAnswer('the address must start with https://', false)
      throw isLate(error)
        ? new NoAnswer(`no answer within ${timeoutMs / 1000} s`, true)
        : new NoAnswer(describeFailure(error), false)
    }
  }

  return {
    get: (url, headers, maxBytes, timeoutMs = usualTimeoutMs) =>
      ask(url, { method: 'GET', headers: { 'user-agent': userAgent, ...headers } }, maxBytes, timeoutMs),
    post(url, headers, body, maxBytes, timeoutMs = usualTimeoutMs) {
      const all = { 'content-type': 'application/json', 'user-agent': userAgent, ...headers }
      return ask(url, { method: 'POST', headers: all, body }, maxBytes, timeoutMs)
    },
    close: () => agent.destroy(),
  }
}

/** Reads no further than asked, so that an endless answer costs nothing. */
async function readBeginning(body: AsyncIterable<Buffer> & { destroy(): unknown }, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxBytes) break
  }
  return beginningOf(chunks, maxBytes)
}

/** What was read, as text that can be kept. */
export function beginningOf(chunks: readonly Buffer[], maxBytes: number): string {
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8').replaceAll('\0', '').toWellFormed()
}

/** Seconds of a `Retry-After`, which may be a date; undefined without a valid one. */
export function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000))
}

function isLate(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return error.name === 'TimeoutError' || (typeof code === 'string' && /^UND_ERR_(\w+_)?TIMEOUT$/.test(code))
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof TargetRefused) return `the address ${error.message}`
  const { code } = error as { code?: unknown }
  const cause = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined
  return (cause?.message || error.message || String(code)).slice(0, 300)
}
