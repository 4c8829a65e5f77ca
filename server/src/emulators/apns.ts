import { createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { createScript, scriptPath } from './script.ts'

/** A request to APNs. */
export interface ApnsPush {
  readonly token: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at the journal looks at what came, without types
  readonly payload: any
  readonly status: number
  readonly reason?: string
}

export interface ApnsRefusal {
  readonly status: number
  readonly reason: string
  /** Epoch milliseconds; of 410. */
  readonly timestamp?: number
  /** Seconds. */
  readonly retryAfter?: number
}

/** Stands in for APNs: HTTP/2 over TLS, with its checks, for development and tests. */
export interface ApnsEmulator {
  readonly endpoint: string
  /** The certificate that it shows, as PEM. */
  readonly ca: string
  /** A key that it knows. */
  readonly credentials: {
    readonly keyId: string
    readonly teamId: string
    readonly bundleId: string
    readonly p8Key: string
  }
  /** What came, oldest first. */
  readonly pushes: readonly ApnsPush[]
  /** How many connections were opened. */
  readonly connections: number
  /**
   * How to answer from now on; undefined: accept. Device tokens that begin with `410`, `bad`, `429`, `503` are refused anyway.
   */
  behave(how: (push: Pick<ApnsPush, 'token' | 'headers' | 'payload'>) => ApnsRefusal | undefined): void
  /** Takes leave of every connection, as APNs does now and then. */
  goAway(): void
  close(): Promise<void>
}

/** A token of a provider, as far as it is looked at. */
interface ReadToken {
  readonly isSigned: boolean
  readonly kid: string | undefined
  readonly iss: string | undefined
  /** Epoch seconds. */
  readonly iat: number
}

const maxBytes = 4096
const refusals: ReadonlyArray<readonly [string, () => ApnsRefusal]> = [
  ['410', () => ({ status: 410, reason: 'Unregistered', timestamp: Date.now() })],
  ['bad', () => ({ status: 400, reason: 'BadDeviceToken' })],
  ['429', () => ({ status: 429, reason: 'TooManyRequests' })],
  ['503', () => ({ status: 503, reason: 'ServiceUnavailable' })],
]
const pushTypes = [
  'alert',
  'background',
  'voip',
  'location',
  'complication',
  'fileprovider',
  'mdm',
  'liveactivity',
  'pushtotalk',
]

/** @param onPush gets each push; then the journal stays empty, for those who send a great many */
export async function startApnsEmulator({
  port = 0,
  onPush,
}: {
  readonly port?: number
  readonly onPush?: (push: ApnsPush) => void
} = {}): Promise<ApnsEmulator> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const credentials = { keyId: 'EMULATEDK1', teamId: 'EMULATEDT1', bundleId: 'com.example.app', p8Key: privateKey }
  const names = [
    { type: 2, value: 'localhost' },
    { type: 7, ip: '127.0.0.1' },
  ] as const
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [...names] }],
  })
  const pushes: ApnsPush[] = []
  const record = onPush ?? ((push: ApnsPush) => void pushes.push(push))
  const known = createPublicKey(publicKey)
  /** What those tokens say whose signature is right: they need not be read again with each push. */
  const signed = new Map<string, ReadToken>()
  const sessions = new Set<ServerHttp2Session>()
  let connections = 0
  let lastIssuedAt = 0
  let behaviour: Parameters<ApnsEmulator['behave']>[0] = () => undefined
  const script = createScript()
  const scripted = (): ApnsRefusal | undefined => {
    const next = script.next()
    return next && { reason: 'ServiceUnavailable', ...next, ...(next.status === 410 && { timestamp: Date.now() }) }
  }
  /** What is asked of the emulator itself. @returns false for what APNs is asked */
  const isOwn = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, text: string): boolean => {
    const asked = `${headers[':method']} ${headers[':path']}`
    if (asked !== 'GET /journal' && asked !== `POST ${scriptPath}`) return false
    const flaw = asked === 'GET /journal' ? undefined : script.read(text)
    stream.respond({ ':status': flaw === undefined ? 200 : 400, 'content-type': 'application/json' })
    const said = flaw === undefined ? { success: true } : { error: flaw }
    stream.end(JSON.stringify(asked === 'GET /journal' ? pushes : said))
    return true
  }

  const readToken = (authorization: string): ReadToken | undefined => {
    const [header = '', claims = '', signature = ''] = authorization.replace(/^bearer /i, '').split('.')
    if (signature === '') return undefined
    const content = Buffer.from(`${header}.${claims}`)
    const by = { key: known, dsaEncoding: 'ieee-p1363' } as const
    const isSigned = verify('sha256', content, by, Buffer.from(signature, 'base64url'))
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: string }
    const { iss, iat = 0 } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss?: string; iat?: number }
    const read = { isSigned, kid, iss, iat }
    if (isSigned) signed.set(authorization, read)
    return read
  }
  /** The team that each connection belongs to: that of its first token. */
  const teams = new WeakMap<object, string>()
  const isOfOtherTeam = (session: object | undefined, iss: string): boolean => {
    if (session === undefined) return false
    const team = teams.get(session)
    if (team === undefined) teams.set(session, iss)
    return team !== undefined && team !== iss
  }
  /**
   * Tokens are checked as APNs does: signed by the key, no older than an hour, no two within 20 minutes, and none of a second
   * team over one connection.
   */
  const flawOfToken = (session: object | undefined, authorization: string): ApnsRefusal | undefined => {
    const read = signed.get(authorization) ?? readToken(authorization)
    if (read === undefined) return { status: 403, reason: 'MissingProviderToken' }
    const { isSigned, kid, iss, iat } = read
    if (isOfOtherTeam(session, iss ?? '') || !isSigned || kid !== credentials.keyId || iss !== credentials.teamId) {
      return { status: 403, reason: 'InvalidProviderToken' }
    }
    if (Date.now() / 1000 - iat > 3600) return { status: 403, reason: 'ExpiredProviderToken' }
    if (lastIssuedAt !== 0 && iat !== lastIssuedAt && iat - lastIssuedAt < 1200) {
      return { status: 429, reason: 'TooManyProviderTokenUpdates' }
    }
    lastIssuedAt = iat
    return undefined
  }
  const server = createSecureServer({ cert, key, allowHTTP1: false })
  server.on('session', (session) => {
    connections++
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      if (isOwn(stream, headers, text)) return
      const token = /^\/3\/device\/(\w+)$/.exec(String(headers[':path']))?.[1] ?? ''
      const push = { token, headers, payload: text === '' ? undefined : JSON.parse(text) }
      const refusal =
        flawOfToken(stream.session, headers.authorization ?? '') ??
        flawOfRequest(headers, token, text, credentials.bundleId) ??
        scripted() ??
        behaviour(push) ??
        refusals.find(([start]) => token.startsWith(start))?.[1]()
      record({ ...push, status: refusal?.status ?? 200, ...(refusal && { reason: refusal.reason }) })
      respond(stream, headers, refusal)
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    endpoint: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ ca: cert, credentials, pushes },
    get connections() {
      return connections
    },
    behave(how) {
      behaviour = how
    },
    goAway() {
      for (const session of sessions) session.goaway()
    },
    close: () =>
      new Promise((resolve) => {
        for (const session of sessions) session.destroy()
        server.close(() => resolve())
      }),
  }
}

function respond(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, refusal: ApnsRefusal | undefined): void {
  if (stream.destroyed) return
  const id = headers['apns-id'] ?? randomUUID()
  const wait = refusal?.retryAfter === undefined ? {} : { 'retry-after': String(refusal.retryAfter) }
  stream.respond({ ':status': refusal?.status ?? 200, 'apns-id': id, ...wait })
  if (refusal === undefined) stream.end()
  else
    stream.end(JSON.stringify({ reason: refusal.reason, ...(refusal.timestamp && { timestamp: refusal.timestamp }) }))
}

function flawOfRequest(
  headers: IncomingHttpHeaders,
  token: string,
  text: string,
  bundleId: string,
): ApnsRefusal | undefined {
  const flaw = (reason: string, status = 400) => ({ status, reason })
  if (headers[':method'] !== 'POST') return flaw('MethodNotAllowed', 405)
  if (token === '') return flaw('BadPath', 404)
  const type = String(headers['apns-push-type'] ?? '')
  if (!pushTypes.includes(type)) return flaw('InvalidPushType')
  const topic = headers['apns-topic']
  if (topic === undefined) return flaw('MissingTopic')
  if (topic !== (type === 'voip' ? `${bundleId}.voip` : bundleId)) return flaw('TopicDisallowed')
  if (!['1', '5', '10', undefined].includes(headers['apns-priority'] as string | undefined)) return flaw('BadPriority')
  if (!/^\d{1,12}$/.test(String(headers['apns-expiration'] ?? '0'))) return flaw('BadExpirationDate')
  if (Buffer.byteLength(String(headers['apns-collapse-id'] ?? '')) > 64) return flaw('BadCollapseId')
  if (text === '') return flaw('PayloadEmpty')
  return Buffer.byteLength(text) > (type === 'voip' ? 5120 : maxBytes) ? flaw('PayloadTooLarge', 413) : undefined
}
