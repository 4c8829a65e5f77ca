import { isIP } from 'node:net'
import { limits } from '@parley/contract'
import { Agent, buildConnector, request } from 'undici'
import { anyLookup, isPublic, publicLookup, TargetRefused } from './addresses.ts'

/** What an endpoint answered. */
export interface EndpointAnswer {
  readonly status: number
  /** Beginning of the body, at most as long as was asked for. */
  readonly text: string
  /** Seconds to wait as `Retry-After` says; undefined without a valid one. */
  readonly retryAfter: number | undefined
}

/** Posts to endpoints of others. */
export interface Poster {
  /**
   * One request, no redirects followed.
   * @param maxBytes of the answer's body that are read
   * @throws Error whose message says why there is no answer: no time left, refused, no such host, no public host
   */
  post(url: string, headers: Record<string, string>, body: string, maxBytes: number): Promise<EndpointAnswer>
  close(): Promise<void>
}

const timeoutMs = limits.webhooks.timeoutSeconds * 1000
const userAgent = 'Parley-Webhooks/1 (+https://www.standardwebhooks.com)'

/**
 * @param allowPrivate also post to private addresses and over plain http
 */
export function createPoster({ allowPrivate }: { readonly allowPrivate: boolean }): Poster {
  const connect = buildConnector({ timeout: timeoutMs, lookup: allowPrivate ? anyLookup : publicLookup })
  const agent = new Agent({
    // Of one origin; how many requests there are at a time is bounded by those who post.
    connections: 256,
    pipelining: 1,
    // Shorter than what servers keep idle connections for, so that none closes one just as it is used again.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect(options, callback) {
      // What is an address already is not looked up, so it is checked here.
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (!allowPrivate && isIP(host) !== 0 && !isPublic(host)) callback(new TargetRefused(host, host), null)
      else connect(options, callback)
    },
  })

  return {
    async post(url, headers, body, maxBytes) {
      if (!allowPrivate && !url.startsWith('https://')) throw new Error('the address must start with https://')
      try {
        const answer = await request(url, {
          method: 'POST',
          dispatcher: agent,
          headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        })
        const text = await readBeginning(answer.body, maxBytes)
        return { status: answer.statusCode, text, retryAfter: readRetryAfter(answer.headers['retry-after']) }
      } catch (error) {
        throw new Error(describeFailure(error))
      }
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
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8').replaceAll('\0', '').toWellFormed()
}

function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000))
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof TargetRefused) return `the address ${error.message}`
  const code = (error as { code?: unknown }).code
  if (error.name === 'TimeoutError' || (typeof code === 'string' && /^UND_ERR_(\w+_)?TIMEOUT$/.test(code))) {
    return `no answer within ${limits.webhooks.timeoutSeconds} s`
  }
  const cause = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined
  return (cause?.message || error.message || String(code)).slice(0, 300)
}
