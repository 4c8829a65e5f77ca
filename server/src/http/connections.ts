import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** For the whole header of a request, from the stop or the connection on. */
const headerMs = 1_500
/** For requests that have come, with their answers: what a stop does after that needs the rest of its ten seconds. */
const longestMs = 7_000
const lookMs = 50

interface Connected {
  readonly socket: Socket
  /** Requests that are not answered to the end. */
  answering: number
  /** Epoch milliseconds: since when nothing is being answered. */
  since: number
}

/**
 * Sees to it that the end of a server waits for answers, and not for clients. Node's own waits for all connections but those that
 * have had an answer and sent nothing since: one that has sent nothing at all, or half a header, would hold up a stop for good.
 * @param opensSockets those are no connections of the server any more, and are ended by whoever has them
 */
export function endConnectionsInTime(app: FastifyInstance, { opensSockets }: { opensSockets: boolean }): void {
  const { server } = app
  /** By their two ends: with TLS, the socket that requests come by is not the one that was connected. */
  const open = new Map<string, Connected>()

  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket)
    const one = { socket, answering: 0, since: Date.now() }
    open.set(ends, one)
    socket.once('close', () => {
      if (open.get(ends) === one) open.delete(ends)
    })
  })
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const one = open.get(endsOf(socket))
    if (one === undefined) return
    one.answering++
    response.once('close', () => {
      one.answering--
      one.since = Date.now()
    })
  })
  // Where nobody listens for upgrades, Node takes them for plain requests.
  if (opensSockets) server.on('upgrade', ({ socket }: IncomingMessage) => open.delete(endsOf(socket)))

  const leave = () => {
    const leftAt = Date.now()
    const look = () => {
      server.closeIdleConnections()
      const now = Date.now()
      for (const { socket, answering, since } of open.values()) {
        const isSilent = answering === 0 && now - Math.max(since, leftAt) > headerMs
        if (isSilent || now - leftAt > longestMs) socket.destroy()
      }
    }
    const looking = setInterval(look, lookMs)
    server.once('close', () => clearInterval(looking))
    look()
  }
  app.addHook('preClose', async () => leave())
}

function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}
