import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Cookie, findBySession, findByToken, type Operator } from '../../areas/operators/index.ts'
import { isLocalHost } from '../../config/oidc.ts'
import type { Context } from '../../context.ts'
import { databaseAway } from '../../faults.ts'
import { limitExceeded } from '../../limits/errors.ts'
import { apiNotFound } from '../../protocol/errors.ts'
import { needsOrigin, notPrivate, notSignedIn, ofOtherOrigin } from './errors.ts'

/** Where the admin API is, without `/v3` before it. */
export const adminPrefix = '/admin/v1'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; undefined where nobody is, or where nobody was looked for. */
    operator: Operator | undefined
  }
}

/**
 * Refuses whoever may not come near the admin API: from networks that `ADMIN_ALLOW` does not name it is not there at all, and
 * no page of another origin can have a browser change anything.
 * @throws 404, 403 `ERR_PERMISSION_DENIED`, 503
 */
export function checkGate(context: Context, request: FastifyRequest): void {
  if (!context.addresses.isAdmin(request.raw)) throw apiNotFound(request)
  if (!context.monitor.available) throw databaseAway()
  if (isUnsafe(request) && isFromElsewhere(context, request)) {
    throw ofOtherOrigin()
  }
}

function isUnsafe({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** Browsers say where a request comes from: all with `Origin`, those of today with `Sec-Fetch-Site`, whatever the content type. */
function isFromElsewhere({ addresses }: Context, { headers, raw }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin'
  const { origin } = headers
  return origin !== undefined && !isOwn(addresses, raw, origin)
}

function isOwn(addresses: Context['addresses'], raw: FastifyRequest['raw'], origin: string): boolean {
  const scheme = addresses.isOverTls(raw) ? 'https' : 'http'
  return origin === `${scheme}://${addresses.hostOf(raw)}` || origin === addresses.publicUrlOf(raw)
}

/** Scheme, host and port of the page of ours that a request came from: as its browser says, where it can be. */
export function originOf({ addresses }: Context, { headers, raw }: FastifyRequest): string {
  const { origin, 'sec-fetch-site': site } = headers
  const isOurs = origin !== undefined && (site === 'same-origin' || isOwn(addresses, raw, origin))
  return isOurs ? origin : addresses.publicUrlOf(raw)
}

/** Cookies with this prefix are taken by browsers from HTTPS only, and for one host. On this machine it works without. */
const securePrefix = '__Host-'

type Surroundings = Pick<Context, 'addresses' | 'config'>

/** Whether what the request brings and takes home is kept from others on its way. */
function isSecure({ addresses, config }: Surroundings, { raw }: FastifyRequest): boolean {
  return addresses.isOverTls(raw) || config.publicUrl?.startsWith('https:') === true
}

function createCookie(context: Surroundings, request: FastifyRequest, reply: FastifyReply, plainName: string): Cookie {
  const isPrivate = isSecure(context, request)
  const name = isPrivate ? securePrefix + plainName : plainName
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isPrivate ? '; Secure' : ''}`
  const give = (value: string, age: string) => reply.header('set-cookie', `${name}=${value}; ${attributes}${age}`)
  return {
    get: () => cookieOf(request.headers.cookie, name),
    set(value, seconds) {
      give(value, seconds === undefined ? '' : `; Max-Age=${seconds}`)
    },
    clear() {
      give('', '; Max-Age=0')
    },
  }
}

/** The cookie of a session. */
export function sessionCookie(context: Surroundings, request: FastifyRequest, reply: FastifyReply): Cookie {
  return createCookie(context, request, reply, 'parley-console')
}

/** The cookie of a sign-in that goes by the page of a provider. */
export function signInCookie(context: Surroundings, request: FastifyRequest, reply: FastifyReply): Cookie {
  return createCookie(context, request, reply, 'parley-sign-in')
}

/** A password or a session must not go over a network in the open. @throws 403 `ERR_PERMISSION_DENIED` */
export function requirePrivate(context: Surroundings, request: FastifyRequest): void {
  if (isSecure(context, request) || isLocalHost(context.addresses.hostOf(request.raw))) return
  throw notPrivate()
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key, value] = part.split('=', 2).map((piece) => piece.trim())
    if (key === name) return value || undefined
  }
  return undefined
}

/**
 * Who calls, by the cookie of a session or a personal token; counts the request.
 * @throws 401 `ERR_NO_AUTH`; 403 for a cookie that came from nowhere; 429
 */
export async function authenticateOperator(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Operator> {
  const operator = await findOperator(context, request, reply)
  if (operator === undefined) throw notSignedIn()
  request.operator = operator
  const standing = await context.limits.rateLimiter.take('operator', String(operator.account.id))
  if (standing?.isExceeded) throw limitExceeded(standing)
  return operator
}

async function findOperator(context: Context, request: FastifyRequest, reply: FastifyReply) {
  const { database, wrongCredentials } = context
  const token = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) {
    await wrongCredentials.check(request.client, token)
    const found = await findByToken(context, database, token)
    if (found === undefined) await wrongCredentials.wasWrong(request.client, token)
    else wrongCredentials.wasRight(request.client, token)
    return found
  }
  const cookie = sessionCookie(context, request, reply).get()
  if (cookie === undefined) return undefined
  // A browser sends a cookie by itself: it must also say that its page is ours.
  const { origin, 'sec-fetch-site': site } = request.headers
  if (isUnsafe(request) && origin === undefined && site === undefined) {
    throw needsOrigin()
  }
  return findBySession(context, database, cookie)
}

/** Whatever is answered here is for one person, and for no page of another origin. */
export function isolate(reply: FastifyReply): void {
  reply.removeHeader('access-control-allow-origin')
  reply.removeHeader('access-control-expose-headers')
  reply.header('cache-control', 'no-store')
}
