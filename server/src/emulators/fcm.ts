import { createPublicKey, generateKeyPairSync, randomBytes, randomUUID, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createScript, scriptPath } from './script.ts'

/** A message that FCM was asked to send. */
export interface FcmPush {
  readonly token: string
  readonly data: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at the journal looks at what came, without types
  readonly message: any
  readonly status: number
}

/** What to answer instead of accepting: an HTTP status and the code of an `FcmError`. */
export interface FcmRefusal {
  readonly status: number
  readonly code: string
  readonly message?: string
  readonly retryAfter?: number
  /** Whose quota it is, of 429: `project:demo`. */
  readonly subject?: string
}

/** Stands in for FCM HTTP v1 and the token endpoint of Google, for development and tests. */
export interface FcmEmulator {
  readonly endpoint: string
  readonly tokenEndpoint: string
  /** A service account that it knows, as in the file that Firebase gives. */
  readonly credentials: {
    readonly project_id: string
    readonly client_email: string
    readonly private_key: string
    readonly private_key_id: string
  }
  /** What came, oldest first. */
  readonly pushes: readonly FcmPush[]
  /** How many access tokens were asked for. */
  readonly tokenRequests: number
  /** How to answer from now on; undefined: accept. Tokens that begin with `gone`, `invalid`, `busy`, `down` are refused anyway. */
  behave(how: (push: Omit<FcmPush, 'status'>) => FcmRefusal | undefined): void
  /** Access tokens are valid no more. */
  expireTokens(): void
  close(): Promise<void>
}

const maxBytes = 4096
/** Messages that one device may be sent a minute. */
const perDeviceAndMinute = 240
const refusals: ReadonlyArray<readonly [string, FcmRefusal]> = [
  ['gone', { status: 404, code: 'UNREGISTERED' }],
  [
    'invalid',
    { status: 400, code: 'INVALID_ARGUMENT', message: 'The registration token is not a valid FCM registration token' },
  ],
  ['busy', { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 1 }],
  ['down', { status: 503, code: 'UNAVAILABLE' }],
]

/** @param onPush gets each push; then the journal stays empty, for those who send a great many */
export async function startFcmEmulator({
  port = 0,
  onPush,
}: {
  readonly port?: number
  readonly onPush?: (push: FcmPush) => void
} = {}): Promise<FcmEmulator> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const credentials = {
    ...{ project_id: 'emulated', client_email: 'push@emulated.example.com', private_key_id: 'emulated-key' },
    private_key: privateKey,
  }
  const pushes: FcmPush[] = []
  const record = onPush ?? ((push: FcmPush) => void pushes.push(push))
  const accessTokens = new Set<string>()
  let tokenRequests = 0
  let behaviour: (push: Omit<FcmPush, 'status'>) => FcmRefusal | undefined = () => undefined
  const script = createScript()
  const scripted = (): FcmRefusal | undefined => {
    const next = script.next()
    return next && { code: 'UNAVAILABLE', ...next, ...(next.reason !== undefined && { code: next.reason }) }
  }
  // Those who send a great many measure themselves.
  const flawOfQuota = onPush === undefined ? createQuota() : () => undefined

  const grant = (form: URLSearchParams, response: ServerResponse) => {
    tokenRequests++
    const flaw = flawOfAssertion(
      form.get('assertion') ?? '',
      publicKey,
      credentials.client_email,
      emulator.tokenEndpoint,
    )
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer' || flaw !== undefined) {
      return answer(response, 400, { error: 'invalid_grant', error_description: flaw ?? 'wrong grant_type' })
    }
    const token = randomBytes(16).toString('hex')
    accessTokens.add(token)
    answer(response, 200, { access_token: token, expires_in: 3600, token_type: 'Bearer' })
  }
  const send = (request: IncomingMessage, text: string, response: ServerResponse) => {
    const bearer = /^Bearer (\w+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (bearer === undefined || !accessTokens.has(bearer))
      return refuse(response, { status: 401, code: 'UNAUTHENTICATED' })
    const { message } = JSON.parse(text) as { message?: { token?: string; data?: Record<string, string> } }
    const push = { token: message?.token ?? '', data: message?.data ?? {}, message }
    const refusal =
      flawOfMessage(push, text) ??
      flawOfQuota(push.token) ??
      scripted() ??
      behaviour(push) ??
      refusals.find(([start]) => push.token.startsWith(start))?.[1]
    record({ ...push, status: refusal?.status ?? 200 })
    if (refusal !== undefined) return refuse(response, refusal)
    answer(response, 200, { name: `projects/${credentials.project_id}/messages/${randomUUID()}` })
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => take(request, Buffer.concat(chunks).toString('utf8'), response))
  })
  const take = (request: IncomingMessage, text: string, response: ServerResponse) => {
    if (request.url === '/token') return grant(new URLSearchParams(text), response)
    if (request.url === `/v1/projects/${credentials.project_id}/messages:send`) return send(request, text, response)
    if (request.url === '/journal') return answer(response, 200, pushes)
    if (request.method === 'POST' && request.url === scriptPath) {
      const flaw = script.read(text)
      return answer(response, flaw === undefined ? 200 : 400, flaw === undefined ? { success: true } : { error: flaw })
    }
    refuse(response, { status: 404, code: 'NOT_FOUND' })
  }
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const emulator: FcmEmulator = {
    ...{ endpoint, tokenEndpoint: `${endpoint}/token`, credentials, pushes },
    get tokenRequests() {
      return tokenRequests
    },
    behave(how) {
      behaviour = how
    },
    expireTokens: () => accessTokens.clear(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return emulator
}

/** @returns what is wrong with a signed request for an access token */
function flawOfAssertion(assertion: string, publicKey: string, issuer: string, audience: string): string | undefined {
  const [header = '', claims = '', signature = ''] = assertion.split('.')
  const content = Buffer.from(`${header}.${claims}`)
  if (!verify('sha256', content, createPublicKey(publicKey), Buffer.from(signature, 'base64url')))
    return 'wrong signature'
  const { iss, aud, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>
  const now = Date.now() / 1000
  if (iss !== issuer || aud !== audience) return 'wrong issuer or audience'
  return Number(exp) < now || Number(iat) > now + 60 || Number(exp) - Number(iat) > 3600 ? 'wrong times' : undefined
}

/** What FCM refuses: data that are no strings, names of its own, what is too large, and what is urgent for iPhones and shows nothing. */
function flawOfMessage({ token, data, message }: Omit<FcmPush, 'status'>, text: string): FcmRefusal | undefined {
  const flaw = (message: string) => ({ status: 400, code: 'INVALID_ARGUMENT', message })
  if (token === '') return flaw('there is no token')
  if (Object.values(data).some((value) => typeof value !== 'string')) return flaw('data must be strings')
  const reserved = Object.keys(data).find(
    (name) => name === 'from' || name.startsWith('gcm') || name.startsWith('google'),
  )
  if (reserved !== undefined) return flaw(`${reserved} is a reserved name`)
  const { headers, payload } = message.apns ?? {}
  if (headers?.['apns-priority'] === '10' && (message.notification ?? payload?.aps?.alert) === undefined) {
    return flaw('the priority of data messages to Apple devices must be 5')
  }
  return Buffer.byteLength(text) > maxBytes ? flaw('the message is too big') : undefined
}

/** FCM takes so many messages for one device, and no more until the minute is over. */
function createQuota(): (token: string) => FcmRefusal | undefined {
  const counts = new Map<string, number>()
  let minute = 0
  return (token) => {
    const now = Math.floor(Date.now() / 60_000)
    if (now !== minute) counts.clear()
    minute = now
    const count = (counts.get(token) ?? 0) + 1
    counts.set(token, count)
    if (count <= perDeviceAndMinute) return undefined
    return { status: 429, code: 'QUOTA_EXCEEDED', message: 'too many messages for this device', retryAfter: 60 }
  }
}

function refuse(response: ServerResponse, { status, code, message = code, retryAfter, subject }: FcmRefusal): void {
  const details: object[] = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: code }]
  if (subject !== undefined) {
    const violations = [{ subject, description: message }]
    details.push({ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations })
  }
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter))
  answer(response, status, { error: { code: status, message, status: code, details } })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
