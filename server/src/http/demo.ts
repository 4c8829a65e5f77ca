import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../log.ts'
import { createDemoBundle } from './demo-bundle.ts'
import { reloadScript, standInPage } from './stand-in-page.ts'
import { serveStatic } from './static.ts'

/** What is served as it stands in the repository; the same folder from the sources and from what is built. */
const folder = new URL('../../../react/demo/', import.meta.url)

/** The page talks to the service that it came from, and to no other. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self' ws: wss:",
  "frame-ancestors 'none'",
].join('; ')

/**
 * `GET /demo`: a whole chat, made of the parts of `@parley/react`. Its program is bundled once for each version, in the background
 * after the port answers; until then the page says so. For development; it holds no key, whoever opens it gives one.
 */
export function registerDemo(server: FastifyInstance, log: Log): void {
  const bundle = createDemoBundle(log)
  server.addHook('onListen', async () => bundle.start())

  const serve = (
    url: string,
    type: string,
    content: () => Promise<Buffer> | Buffer,
    own: Record<string, string> = {},
  ) =>
    serveStatic(server, {
      ...{ url, operation: 'demo', type: `${type}; charset=utf-8`, content },
      headers: { 'content-security-policy': contentSecurityPolicy, ...own },
    })
  const page = fileOf('index.html')
  for (const url of ['/demo', '/demo/']) {
    serve(url, 'text/html', () => {
      bundle.start()
      return bundle.state === 'ready' ? page() : bundle.state === 'building' ? buildingPage : missingPage
    })
  }
  const bundled = (name: string) => async () => (await bundle.files())?.get(name) ?? nothing
  serve('/demo/main.js', 'text/javascript', bundled('main.js'))
  serve('/demo/main.css', 'text/css', bundled('main.css'))
  serve('/demo/reload.js', 'text/javascript', () => reloadScript)
  // It is for the page at /demo, too, which is above its folder.
  const ofPage = { 'service-worker-allowed': '/demo' }
  serve('/demo/service-worker.js', 'text/javascript', fileOf('service-worker.js'), ofPage)
}

function fileOf(name: string): () => Promise<Buffer> {
  let content: Promise<Buffer> | undefined
  return () => {
    content ??= readFile(new URL(name, folder))
    return content
  }
}

const nothing = Buffer.from('')

const buildingPage = standInPage(
  'The demo is being built',
  '<p>It comes by itself in a second.</p>',
  '<script src="/demo/reload.js" defer></script>',
)

const missingPage = standInPage(
  'The demo is not installed',
  '<p>Development packages were left out. Run <code>npm ci</code> without <code>--omit=dev</code>, then start Parley again.</p>',
)
