import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Log } from '../log.ts'
import { Connection, type Origin, type SocketHost } from './connection.ts'
import type { Incoming } from './incoming.ts'
import type { Sessions } from './sessions.ts'
import type { Unauthenticated } from './unauthenticated.ts'

/** The connections of open sockets, whether somebody has logged in by them or not. */
export interface Connections {
  readonly size: number
  all(): Iterable<Connection>
  /** Listens to one that has just opened, until it closes. */
  add(ws: WebSocket, stream: Duplex, origin: Origin): void
}

export interface ConnectionsParts {
  readonly log: Log
  readonly host: SocketHost
  readonly incoming: Incoming
  readonly sessions: Sessions
  readonly unauthenticated: Unauthenticated
}

export function createConnections({ log, host, incoming, sessions, unauthenticated }: ConnectionsParts): Connections {
  const open = new Map<WebSocket, Connection>()

  // One handler for all sockets: each finds its own connection.
  function onMessage(this: WebSocket, data: WebSocket.RawData, isBinary: boolean): void {
    const connection = open.get(this)
    if (connection !== undefined) incoming.onMessage(connection, data, isBinary)
  }
  function onPong(this: WebSocket): void {
    const connection = open.get(this)
    if (connection !== undefined) incoming.onPong(connection)
  }
  function onClose(this: WebSocket, code: number): void {
    const connection = open.get(this)
    if (connection === undefined) return
    open.delete(this)
    if (connection.login === undefined) unauthenticated.remove(connection.client)
    else sessions.logOut(connection)
    connection.state = 'closing'
    log.debug({ code, uid: connection.login?.uid }, 'socket closed')
  }
  // What is wrong with the wire ends in a close, which says all there is to say.
  function onError(this: WebSocket, error: Error): void {
    log.debug({ cause: error.message }, 'socket failed')
  }

  return {
    get size() {
      return open.size
    },
    all: () => open.values(),
    add(ws, stream, origin) {
      open.set(ws, new Connection(host, ws, stream, origin))
      ws.on('message', onMessage)
      ws.on('pong', onPong)
      ws.on('close', onClose)
      ws.on('error', onError)
    },
  }
}
