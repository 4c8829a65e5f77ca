import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type TLSSocket, Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'

/** For the whole header of a request, from the stop or the connection on. */
const headerMs = 1_500
/** For requests that have come, with their answers: what a stop does after that needs the rest of its ten seconds. */
const longestMs = 7_000
const lookMs = 50

interface Connected {
  /** Requests that are not answered to the end. */
  answering: number
  /** Since when nothing is being answered, as `performance.now()` has it. */
  since: number
}

/**
 * Sees to it that the end of a server waits for answers, and not for clients. Node's own waits for all connections but those that
 * have had an answer and sent nothing since: one that has sent nothing at all, or half a header, would hold up a stop for good.
 * @param opensSockets those are no connections of the server any more, and are ended by whoever has them
 */
export function endConnectionsInTime(app: FastifyInstance, { opensSockets }: { opensSockets: boolean }): void {
  const { server } = app
  const open = new Map<Socket, Connected>()
  /** What connects with TLS, until keys are agreed on, by its two ends: requests then come by a socket of their own. */
  const agreeing = new Map<string, Socket>()

  const remember = (socket: Socket) => {
    open.set(socket, { answering: 0, since: performance.now() })
    socket.once('close', () => open.delete(socket))
  }
  server.on('connection', (socket: Socket) => {
    remember(socket)
    if (!(server instanceof TlsServer)) return
    const ends = endsOf(socket)
    agreeing.set(ends, socket)
    socket.once('close', () => {
      if (agreeing.get(ends) === socket) agreeing.delete(ends)
    })
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const ends = endsOf(socket)
    const below = agreeing.get(ends)
    agreeing.delete(ends)
    if (below !== undefined) open.delete(below)
    remember(socket)
  })
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const one = open.get(socket)
    if (one === undefined) return
    one.answering++
    response.once('close', () => {
      one.answering--
      one.since = performance.now()
    })
  })
  // Where nobody listens for upgrades, Node takes them for plain requests.
  if (opensSockets) server.on('upgrade', ({ socket }: IncomingMessage) => open.delete(socket))

  const leave = () => {
    const leftAt = performance.now()
    const look = () => {
      server.closeIdleConnections()
      const now = performance.now()
      for (const [socket, { answering, since }] of open) {
        const isSilent = answering === 0 && now - Math.max(since, leftAt) > headerMs
        if (isSilent || now - leftAt > longestMs) socket.destroy()
      }
    }
    const looking = setInterval(look, lookMs).unref()
    server.once('close', () => clearInterval(looking))
    look()
  }
  app.addHook('preClose', async () => leave())
}

function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}
