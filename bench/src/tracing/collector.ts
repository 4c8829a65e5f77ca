import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer } from '../child.ts'

/**
 * Takes whatever spans are posted, in a process of its own, so that what makes the load does the same work with and without traces.
 * Asked, it tells what came since it was asked last.
 */
export interface Collected {
  /** Where it takes spans. */
  readonly address: string
  readonly posts: number
  /** How many spans of each name. */
  readonly spans: Readonly<Record<string, number>>
}

interface Body {
  readonly resourceSpans: ReadonlyArray<{ readonly scopeSpans: ReadonlyArray<{ readonly spans: readonly Named[] }> }>
}
interface Named {
  readonly name: string
}

let bodies: string[] = []
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text) => {
    body += text
  })
  request.on('end', () => {
    bodies.push(body)
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

answer(async (): Promise<Collected> => {
  const spans: Record<string, number> = {}
  for (const body of bodies) {
    for (const { name } of namesIn(JSON.parse(body) as Body)) spans[name] = (spans[name] ?? 0) + 1
  }
  const posts = bodies.length
  bodies = []
  return { address, posts, spans }
})

function namesIn({ resourceSpans }: Body): Named[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}
