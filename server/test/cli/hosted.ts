import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetch } from 'undici'
import { onTestFinished } from 'vitest'

/** What the hosted service does wrong, each in one of so many requests; 0 is never. */
export interface Troubles {
  /** Answers 429 with Retry-After; also beyond `perMinute`. */
  readonly limited?: number
  readonly failed?: number
  /** Answers that the key is not accepted any more. */
  readonly expired?: number
  /** The connection is reset, before or after the service has done what was asked. */
  readonly reset?: number
  readonly slow?: number
  /** Answers with what the same path last answered, as caches do. */
  readonly repeated?: number
  /** Requests that are answered in a window of a second; the limit of the app. */
  readonly perSecond?: number
  /** A list gives no more rows than this, whatever it is asked for; by default 5. */
  readonly rows?: number
  /** Requests to paths with this end with an answer that the key is not accepted. */
  readonly closed?: string
}

export interface Hosted {
  readonly url: string
  readonly seen: Record<Exclude<keyof Troubles, 'closed'> | 'requests', number>
  troubles: Troubles
  /** Done before a request is taken to the service. */
  onRequest?: (path: string) => Promise<unknown> | undefined
  close(): Promise<void>
}

/** A proxy before a Parley that makes it answer as a hosted service on a bad day. */
export async function startHosted(upstream: string, troubles: Troubles = {}): Promise<Hosted> {
  const seen = { requests: 0, limited: 0, failed: 0, expired: 0, reset: 0, slow: 0, repeated: 0, perSecond: 0, rows: 0 }
  const last = new Map<string, { status: number; headers: http.OutgoingHttpHeaders; body: Buffer }>()
  const hosted: Pick<Hosted, 'troubles' | 'onRequest'> = { troubles }
  let random = 42
  /** The same in every run. */
  const strikes = (name: Exclude<keyof Troubles, 'closed'>): boolean => {
    const every = hosted.troubles[name]
    if (every === undefined || every === 0) return false
    random = (random * 1103515245 + 12345) % 2147483648
    const isHit = (random >> 8) % every === 0
    if (isHit) seen[name] += 1
    return isHit
  }
  let second = 0
  let inSecond = 0
  const server = http.createServer(async (request, response) => {
    seen.requests += 1
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { perSecond } = hosted.troubles
    if (second !== Math.floor(Date.now() / 1000)) {
      second = Math.floor(Date.now() / 1000)
      inSecond = 0
    }
    inSecond += 1
    if (perSecond !== undefined) {
      response.setHeader('x-rate-limit', perSecond * 60)
      response.setHeader('x-rate-limit-remaining', Math.max(0, perSecond - inSecond))
    }
    const isBeyond = perSecond !== undefined && inSecond > perSecond
    if (isBeyond) seen.perSecond += 1
    if (isBeyond || strikes('limited')) {
      const seconds = isBeyond ? 1 - (Date.now() % 1000) / 1000 : 0.1
      response.writeHead(429, { 'retry-after': seconds.toFixed(2), 'content-type': 'application/json' })
      return response.end(JSON.stringify({ error: { code: 'ERR_TOO_MANY_REQUESTS', message: 'Too many.' } }))
    }
    const { closed } = hosted.troubles
    if ((closed !== undefined && request.url?.includes(closed)) || strikes('expired')) {
      response.writeHead(401, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message: 'Not accepted.' } }))
    }
    if (strikes('failed')) return response.writeHead(503).end('<html>unavailable</html>')
    if (strikes('reset')) return request.socket.resetAndDestroy()
    await hosted.onRequest?.(request.url ?? '')
    if (strikes('slow')) await new Promise((resolve) => setTimeout(resolve, 300))
    const list = `${request.headers.onbehalfof ?? ''} ${(request.url ?? '').replace(/([?&](page|id|sentAt)=[^&]*)/g, '')}`
    const known = last.get(list)
    const isList = request.method === 'GET' && /[?&](page=(?!1\b)|id=)/.test(request.url ?? '')
    if (isList && known !== undefined && strikes('repeated')) {
      return response.writeHead(known.status, known.headers).end(known.body)
    }
    // A list gives fewer rows than it is asked for.
    const path = (request.url ?? '').replace(/([?&](limit|perPage))=1000\b/, `$1=${hosted.troubles.rows ?? 5}`)
    const answer = await fetch(`${upstream}${path}`, {
      method: request.method ?? 'GET',
      headers: Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name)),
      ) as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
      .then(async (got) => ({ status: got.status, headers: got.headers, body: Buffer.from(await got.arrayBuffer()) }))
      .catch(() => undefined)
    // The service behind it was killed.
    if (answer === undefined) return request.socket.resetAndDestroy()
    const { body } = answer
    const headers = { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }
    if (request.method === 'GET' && answer.status === 200) last.set(list, { status: 200, headers, body })
    if (strikes('reset')) return request.socket.resetAndDestroy()
    response.writeHead(answer.status, headers).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return Object.assign(hosted, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close,
  })
}
