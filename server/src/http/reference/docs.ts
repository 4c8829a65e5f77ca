import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { serveStatic } from '../static.ts'

/** The reference page's program, all of it in one file. */
const programFile = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference')),
  'js/standalone.js',
)

/** Settings of the page that would otherwise call other hosts or offer what needs them. */
const settings = {
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // A key that was typed is still there after a reload: it stays in this browser.
  persistAuth: true,
}

/** The browser is told as well: nothing is loaded from, or sent to, any other host. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "frame-ancestors 'none'",
].join('; ')

/** `GET /docs`: a reference page of the API that asks no other host for anything. */
export function registerReference(server: FastifyInstance): void {
  const headers = { 'content-security-policy': contentSecurityPolicy }
  const serve = (url: string, type: string, content: () => Promise<Buffer> | Buffer) =>
    serveStatic(server, { url, operation: 'docs', type: `${type}; charset=utf-8`, headers, content })
  const serveText = (url: string, type: string, text: string) => {
    const body = Buffer.from(text)
    serve(url, type, () => body)
  }
  // Of four megabytes: read when somebody opens the page.
  let program: Promise<Buffer> | undefined
  // Relative addresses, so that the page also works below a path of a proxy; from `/docs/` they lead one folder up.
  serveText('/docs', 'text/html', page('docs/'))
  serveText('/docs/', 'text/html', page(''))
  serveText('/docs/start.js', 'text/javascript', startProgram)
  serve('/docs/reference.js', 'text/javascript', () => (program ??= readFile(programFile)))
}

const startProgram = `const { openapi } = document.currentScript.dataset
Scalar.createApiReference('#app', { url: openapi, ...${JSON.stringify(settings)} })
`

function page(folder: string): string {
  const openapi = folder === '' ? '../openapi.json' : 'openapi.json'
  const asyncapi = folder === '' ? '../asyncapi.json' : 'asyncapi.json'
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parley API</title>
    <link rel="icon" href="data:,">
    <style>
      body { margin: 0 }
      #socket { margin: 0; padding: .5rem 1rem; font: 14px/1.4 system-ui, sans-serif }
      #socket { background: var(--scalar-background-2, #f6f6f6); color: var(--scalar-color-1, #333) }
      #socket a { color: inherit }
    </style>
  </head>
  <body>
    <p id="socket">Real-time events over the socket are described in <a href="${asyncapi}">asyncapi.json</a>.</p>
    <div id="app"></div>
    <script src="${folder}reference.js"></script>
    <script src="${folder}start.js" data-openapi="${openapi}"></script>
  </body>
</html>
`
}
