import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'

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
  const serve = (url: string, type: string, answer: () => unknown) =>
    server.route({
      method: 'GET',
      url,
      config: { operation: 'docs', withoutPrefix: true },
      handler: async (_request, reply) =>
        reply.type(type).header('content-security-policy', contentSecurityPolicy).send(answer()),
    })
  // Relative addresses, so that the page also works below a path of a proxy; from `/docs/` they lead one folder up.
  serve('/docs', 'text/html; charset=utf-8', () => page('docs/'))
  serve('/docs/', 'text/html; charset=utf-8', () => page(''))
  serve('/docs/start.js', 'text/javascript; charset=utf-8', () => startProgram)
  serve('/docs/reference.js', 'text/javascript; charset=utf-8', () => createReadStream(programFile))
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
  </head>
  <body>
    <p>Real-time events over the socket are described in <a href="${asyncapi}">asyncapi.json</a>.</p>
    <div id="app"></div>
    <script src="${folder}reference.js"></script>
    <script src="${folder}start.js" data-openapi="${openapi}"></script>
  </body>
</html>
`
}
