import { createECDH, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createScript, scriptPath } from './script.ts'
import { type BrowserKeys, createVapidCheck, decrypt } from './web-push-message.ts'

/** What `pushManager.subscribe()` gives a page. */
export interface EmulatedSubscription {
  readonly endpoint: string
  readonly expirationTime: null
  readonly keys: { readonly p256dh: string; readonly auth: string }
}

/** A message that came for a browser. */
export interface WebPushMessage {
  /** The end of the endpoint. */
  readonly name: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: number
  /** What the page's service worker would be given: JSON, read; undefined where it cannot be decrypted. */
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at the journal looks at what came, without types
  readonly payload: any
  readonly status: number
  readonly reason?: string
}

/** What to answer instead of accepting. */
export interface WebPushRefusal {
  readonly status: number
  readonly reason: string
  readonly retryAfter?: number
}

/** How to answer a message that nothing is wrong with; undefined: accept. */
export type WebPushBehaviour = (
  push: Omit<WebPushMessage, 'status' | 'reason'>,
) => WebPushRefusal | undefined | Promise<WebPushRefusal | undefined>

/** Stands in for the push service of a browser, and for the browser, for development and tests. */
export interface WebPushEmulator {
  readonly endpoint: string
  /** For `WEB_PUSH_HOSTS`. */
  readonly host: string
  /** What came, oldest first. */
  readonly pushes: readonly WebPushMessage[]
  /**
   * A browser subscribes.
   * @param applicationServerKey in base64url; nobody else can send then
   * @param name names that begin with `gone`, `unknown`, `busy`, `down` are refused as they say
   */
  subscribe(applicationServerKey?: string, name?: string): EmulatedSubscription
  /** How to answer from now on. */
  behave(how: WebPushBehaviour): void
  close(): Promise<void>
}

interface Browser extends BrowserKeys {
  readonly applicationServerKey: string | undefined
}

const maxBytes = 4_096
const refusals: ReadonlyArray<readonly [string, WebPushRefusal]> = [
  ['gone', { status: 410, reason: 'the subscription has expired' }],
  ['unknown', { status: 404, reason: 'there is no such subscription' }],
  ['busy', { status: 429, reason: 'too many messages', retryAfter: 1 }],
  ['down', { status: 503, reason: 'down' }],
]

/** @param onPush gets each push; then the journal stays empty, for those who send a great many */
export async function startWebPushEmulator({
  port = 0,
  onPush,
}: {
  readonly port?: number
  readonly onPush?: (push: WebPushMessage) => void
} = {}): Promise<WebPushEmulator> {
  const browsers = new Map<string, Browser>()
  const pushes: WebPushMessage[] = []
  const record = onPush ?? ((push: WebPushMessage) => void pushes.push(push))
  const flawOfSender = createVapidCheck()
  let behaviour: WebPushBehaviour = () => undefined
  const script = createScript()
  const scripted = (): WebPushRefusal | undefined => {
    const next = script.next()
    return next && { reason: 'as told', ...next }
  }

  const subscribe = (
    applicationServerKey?: string,
    name = randomBytes(12).toString('base64url'),
  ): EmulatedSubscription => {
    const pair = createECDH('prime256v1')
    pair.generateKeys()
    const auth = randomBytes(16)
    browsers.set(name, { pair, auth, applicationServerKey })
    const keys = { p256dh: pair.getPublicKey('base64url'), auth: auth.toString('base64url') }
    return { endpoint: `${endpoint}/push/${name}`, expirationTime: null, keys }
  }
  const receive = async (name: string, headers: IncomingHttpHeaders, body: Buffer): Promise<WebPushMessage> => {
    const browser = browsers.get(name)
    const common = { name, headers, bytes: body.length, payload: undefined }
    const flaw =
      browser === undefined
        ? { status: 404, reason: 'there is no such subscription' }
        : flawOfRequest(headers, body.length, (of) =>
            flawOfSender(of, `http://${headers.host}`, browser.applicationServerKey),
          )
    if (browser === undefined || flaw !== undefined) return { ...common, ...(flaw as WebPushRefusal) }
    let payload: unknown
    try {
      payload = JSON.parse(decrypt(body, browser))
    } catch (error) {
      return { ...common, status: 400, reason: `it cannot be read: ${(error as Error).message}` }
    }
    const push = { ...common, payload }
    const refusal = scripted() ?? (await behaviour(push)) ?? refusals.find(([start]) => name.startsWith(start))?.[1]
    return { ...push, status: 201, ...refusal }
  }
  const server = createServer(async (request, response) => {
    const body = await readAll(request)
    const name = /^\/push\/([\w-]+)$/.exec(request.url ?? '')?.[1]
    if (request.method === 'POST' && name !== undefined) {
      const push = await receive(name, request.headers, body)
      record(push)
      return respond(response, push)
    }
    if (request.method === 'POST' && request.url === '/subscriptions') {
      const asked = (body.length === 0 ? {} : JSON.parse(body.toString())) as Record<string, string | undefined>
      return answer(response, 201, subscribe(asked.applicationServerKey, asked.name))
    }
    if (request.url === '/journal') return answer(response, 200, pushes)
    if (request.method === 'POST' && request.url === scriptPath) {
      const flaw = script.read(body.toString())
      return answer(response, flaw === undefined ? 200 : 400, flaw === undefined ? { success: true } : { reason: flaw })
    }
    answer(response, 404, { reason: 'there is nothing here' })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const endpoint = `http://${host}`
  return {
    ...{ endpoint, host, pushes, subscribe },
    behave(how) {
      behaviour = how
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** What push services refuse, whatever the message says. */
function flawOfRequest(
  headers: IncomingHttpHeaders,
  bytes: number,
  flawOfSender: (authorization: string) => string | undefined,
): WebPushRefusal | undefined {
  const flaw = (status: number, reason: string) => ({ status, reason })
  if (!headers.authorization) return flaw(401, 'there is no authorization')
  const flawOfToken = flawOfSender(headers.authorization)
  if (flawOfToken !== undefined) return flaw(403, flawOfToken)
  if (!/^\d{1,10}$/.test(String(headers.ttl))) return flaw(400, 'TTL must be a number of seconds')
  if (!/^(very-low|low|normal|high)$/.test(String(headers.urgency ?? 'normal'))) return flaw(400, 'wrong Urgency')
  if (!/^[\w-]{1,32}$/.test(String(headers.topic ?? 'none'))) return flaw(400, 'wrong Topic')
  if (headers['content-encoding'] !== 'aes128gcm') return flaw(400, 'Content-Encoding must be aes128gcm')
  return bytes > maxBytes ? flaw(413, 'the message is too large') : undefined
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function respond(response: ServerResponse, push: WebPushMessage & { readonly retryAfter?: number }): void {
  if (push.retryAfter !== undefined) response.setHeader('retry-after', String(push.retryAfter))
  if (push.status === 201)
    response.writeHead(201, { location: `/message/${randomBytes(9).toString('base64url')}` }).end()
  else answer(response, push.status, { reason: push.reason })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
