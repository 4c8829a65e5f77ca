import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { findFreePort } from './ports.ts'

/** One request that an endpoint got. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** As it came. */
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies as a receiver would, without types
  readonly body: any
  /** Milliseconds of this process's clock. */
  readonly at: number
}

/** What to answer: nothing special is a 200. */
export interface Behaviour {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Wait before answering. */
  readonly delayMs?: number
  /** Cut the connection instead of answering. */
  readonly cut?: boolean
}

/** A receiver of webhooks on this machine, that records what comes and answers as it is told. */
export interface Endpoint {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** How to answer from now on. */
  behave(how: Behaviour | ((request: Received, count: number) => Behaviour)): void
  /** Most requests that were open at the same time. */
  readonly mostAtOnce: number
  /** Stops listening; whoever comes is refused. */
  close(): Promise<void>
}

/** @param at the port, for one that comes back where it was */
export async function openEndpoint(at?: number): Promise<Endpoint> {
  const port = at ?? (await findFreePort())
  const received: Received[] = []
  let behaviour: (request: Received, count: number) => Behaviour = () => ({})
  let open = 0
  let mostAtOnce = 0
  const timers = new Set<NodeJS.Timeout>()

  const respond = (response: ServerResponse, { status = 200, headers = {}, body = '', cut }: Behaviour) => {
    if (cut === true) response.socket?.destroy()
    else response.writeHead(status, headers).end(body)
  }
  const server = createServer((request, response) => {
    open++
    mostAtOnce = Math.max(mostAtOnce, open)
    response.on('close', () => open--)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const entry: Received = {
        ...{ path: request.url ?? '', headers: request.headers, text, at: performance.now() },
        body: text === '' ? undefined : JSON.parse(text),
      }
      received.push(entry)
      const how = behaviour(entry, received.length)
      if (how.delayMs === undefined) respond(response, how)
      else {
        const timer = setTimeout(() => respond(response, how), how.delayMs)
        timers.add(timer)
      }
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    behave(how) {
      behaviour = typeof how === 'function' ? how : () => how
    },
    get mostAtOnce() {
      return mostAtOnce
    },
    async close() {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
