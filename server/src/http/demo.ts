import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { serveStatic } from './static.ts'

/** The page in docs/demo, as it stands in the repository; the same folder from the sources and from what is built. */
const folder = new URL('../../../docs/demo/', import.meta.url)

/** The page talks to the service that it came from, and to no other. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self' ws: wss:",
  "frame-ancestors 'none'",
].join('; ')

/** `GET /demo`: two tabs that chat. For development; it holds no key, whoever opens it gives one. */
export function registerDemo(server: FastifyInstance): void {
  const serve = (url: string, file: string, type: string, own: Record<string, string> = {}) => {
    let content: Promise<Buffer> | undefined
    const headers = { 'content-security-policy': contentSecurityPolicy, ...own }
    serveStatic(server, {
      url,
      operation: 'demo',
      type: `${type}; charset=utf-8`,
      headers,
      content: () => (content ??= readFile(new URL(file, folder))),
    })
  }
  serve('/demo', 'index.html', 'text/html')
  serve('/demo/', 'index.html', 'text/html')
  serve('/demo/demo.js', 'demo.js', 'text/javascript')
  serve('/demo/notify.js', 'notify.js', 'text/javascript')
  // It is for the page at /demo, too, which is above its folder.
  serve('/demo/service-worker.js', 'service-worker.js', 'text/javascript', { 'service-worker-allowed': '/demo' })
  serve('/demo/demo.css', 'demo.css', 'text/css')
}
