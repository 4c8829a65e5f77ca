import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/index.ts'
import { serveStatic } from './static.ts'

const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"

type Shown = Pick<Config, 'demo' | 'docs' | 'console'>

/**
 * `GET /`: leads whoever opens the service in a browser to what can be seen there. Where nothing can, it is as unknown as ever.
 * @param shown `console`: it is on this port
 */
export function registerFront(server: FastifyInstance, shown: Shown): void {
  if (!shown.demo && !shown.docs) return
  const page = Buffer.from(frontPage(shown))
  serveStatic(server, {
    url: '/',
    operation: 'front',
    type: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': contentSecurityPolicy },
    content: () => page,
  })
}

function frontPage({ demo, docs, console }: Shown): string {
  const links = [
    ...(demo ? [link('demo', 'Demo', 'two people chat in two tabs')] : []),
    ...(docs ? [link('docs', 'API reference', 'every operation, with its parameters and errors')] : []),
    ...(console ? [link('console', 'Console', 'for those who look after the service')] : []),
    link('openapi.json', 'OpenAPI', 'the same for programs'),
    link('asyncapi.json', 'AsyncAPI', 'the frames of the socket'),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem; }
li { margin: 0.5rem 0; }
</style>
</head>
<body>
<h1>Parley is running</h1>
<ul>
${links.join('\n')}
</ul>
</body>
</html>
`
}

/** The address is relative, so that the page also works below a path of a proxy. */
function link(address: string, name: string, text: string): string {
  return `<li><a href="${address}">${name}</a>: ${text}</li>`
}
