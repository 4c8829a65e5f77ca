import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { apiNotFound } from '../protocol/errors.ts'
import { createConsoleBundle } from './console-bundle.ts'
import { reloadScript, standInPage } from './stand-in-page.ts'
import { sendKept } from './static.ts'

/** Stands in the built page wherever the nonce of an answer goes (console/vite.config.ts). */
const noncePlaceholder = /__CSP_NONCE__/g

/** The console talks to the service that it came from, and to no other. Styles that its parts add carry the nonce. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** What browsers are kept from, besides. No other page learns an address of the console. */
const headers = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * `GET /console`, and every address below it: the page by which operators look after the service. It knows nothing itself, and
 * calls the admin API like any script. Its program is built for each version when it is first asked for; until then the page
 * says so.
 */
export function registerConsole(server: FastifyInstance, { log, addresses }: Context): void {
  const bundle = createConsoleBundle(log)

  const sendPage = (reply: FastifyReply, page: Buffer) => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .type('text/html; charset=utf-8')
      .headers({ ...headers, 'content-security-policy': contentSecurityPolicy(nonce) })
      .header('cache-control', 'no-store')
      .send(String(page).replaceAll(noncePlaceholder, nonce))
  }

  /** @throws 404 to whoever may not come near the admin API */
  const route = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    server.route({
      method: 'GET',
      url,
      config: { operation: 'console', withoutPrefix: true },
      handler: async (request, reply) => {
        if (!addresses.isAdmin(request.raw)) throw apiNotFound(request)
        reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers')
        return handler(request, reply)
      },
    })

  for (const url of ['/console', '/console/', '/console/*']) {
    route(url, async (_request, reply) => {
      bundle.start()
      if (bundle.state === 'building') return sendPage(reply, buildingPage)
      return sendPage(reply, (await bundle.files())?.get('index.html') ?? missingPage)
    })
  }
  // The name of each of these files changes with what is in it.
  route('/console/assets/*', async (request, reply) => {
    const name = (request.params as Record<string, string>)['*'] ?? ''
    const file = (await bundle.files())?.get(`assets/${name}`)
    if (file === undefined) throw apiNotFound(request)
    reply.type(typeOf(name)).headers(headers).header('cache-control', 'public, max-age=31536000, immutable')
    return sendKept(request, reply, file)
  })
  route('/console/reload.js', async (request, reply) => {
    reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache')
    return sendKept(request, reply, reloadScript)
  })
}

function typeOf(name: string): string {
  if (name.endsWith('.js')) return 'text/javascript; charset=utf-8'
  if (name.endsWith('.css')) return 'text/css; charset=utf-8'
  return name.endsWith('.svg') ? 'image/svg+xml' : 'application/octet-stream'
}

const buildingPage = standInPage(
  'The console is being built',
  '<p>It comes by itself in a few seconds.</p>',
  '<script src="/console/reload.js" defer></script>',
)

const missingPage = standInPage(
  'The console is not installed',
  '<p>Development packages were left out. Run <code>npm ci</code> without <code>--omit=dev</code>, then start Parley again.</p>',
)
