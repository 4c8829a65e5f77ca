import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, type SocketClose } from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { rolesTopic } from '../chat/roles/policies.ts'
import type { Context } from '../context.ts'
import type { BusListener } from '../events/bus.ts'
import { namedApp } from '../protocol/caller.ts'
import { toApiError } from '../protocol/errors.ts'
import { forgetAudiences, forgetIdle } from './audiences.ts'
import { createBlockBook } from './blocks.ts'
import { Connection } from './connection.ts'
import { createDelivery } from './deliver.ts'
import { readFrame, textOf, typeOf } from './frames.ts'
import { createSocketMetrics } from './metrics.ts'
import { createPresenceFanout } from './presence/fanout.ts'
import { createPresenceTracker } from './presence/tracker.ts'
import { receive } from './receive.ts'
import { Registry } from './registry.ts'
import { createSessions } from './sessions.ts'
import { checkUpgrade, hostOf, refuseUpgrade, tryLater } from './upgrade.ts'
import { createUserSummaries } from './user-summaries.ts'

/** Live delivery: the sockets of this process. */
export interface Sockets {
  /** Opens sockets on a server, on the port of its other requests. */
  attach(server: FastifyInstance): void
  start(): void
  /** Tells every socket to connect again, over some seconds, then ends those that are left. */
  drain(): Promise<void>
  stop(): Promise<void>
  /**
   * What other processes told may have been missed (the line to them was cut): blocks and members are read anew, and
   * sockets whose tokens stopped working are closed.
   */
  resync(): Promise<void>
  /** Something was missed that clients should have been told: they connect again, spread over some seconds, and list it. */
  disconnectToResync(): Promise<void>
}

const sweepMs = 1_000
/** How long a client may take to answer a close. */
const closeTimeoutMs = 5_000
/** Sockets that have not said yet who they are. */
const maxUnauthenticated = 10_000
const maxEarlyFrames = 16
const maxInFlight = 64
/** Between two sockets that are told to connect again, unless there are too many for that. */
const drainPaceMs = 2

export function createSockets(context: Context): Sockets {
  const { config, log, events } = context
  const settings = config.sockets
  const registry = new Registry()
  const open = new Map<WebSocket, Connection>()
  const metrics = createSocketMetrics(context.metrics, () => open.size)
  const host = { settings, onClosing: (reason: SocketClose) => metrics.closes.inc({ reason }) }
  const blocks = createBlockBook(context.database)
  const fanout = createPresenceFanout(context)
  const tracker = createPresenceTracker(context, registry)
  const sessions = createSessions(context, registry, tracker, settings)
  const delivery = createDelivery({
    context,
    registry,
    blocks,
    summaries: createUserSummaries(context.database),
    presence: fanout,
  })
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: settings.frameBytes,
    perMessageDeflate: false,
  })
  context.invalidation.onChange(rolesTopic, (appId) => {
    for (const sockets of registry.all()) {
      if (appId === undefined || Number(appId) === sockets.app.appId) sockets.narrowing = undefined
    }
  })
  let unauthenticatedCount = 0
  let isDraining = false
  let sweeping: NodeJS.Timeout | undefined
  let unsubscribe = () => {}

  // One handler for all sockets: each finds its own connection.
  function onMessage(this: WebSocket, data: WebSocket.RawData, isBinary: boolean): void {
    const connection = open.get(this)
    if (connection === undefined || connection.state === 'closing') return
    hear(connection)
    if (isBinary) connection.close('binary')
    else if (!connection.allows()) connection.close('tooFast')
    else onText(connection, textOf(data))
  }
  function onPong(this: WebSocket): void {
    const connection = open.get(this)
    if (connection !== undefined && connection.state === 'ready') hear(connection)
  }
  function onClose(this: WebSocket, code: number): void {
    const connection = open.get(this)
    if (connection === undefined) return
    open.delete(this)
    if (connection.login === undefined) unauthenticatedCount--
    else sessions.logOut(connection)
    connection.state = 'closing'
    log.debug({ code, uid: connection.login?.uid }, 'socket closed')
  }
  // What is wrong with the wire ends in a close, which says all there is to say.
  function onError(this: WebSocket, error: Error): void {
    log.debug({ cause: error.message }, 'socket failed')
  }

  const hear = (connection: Connection) => {
    if (connection.state === 'ready') connection.since = Date.now()
    connection.isPinged = false
  }

  const onText = (connection: Connection, text: string) => {
    if (connection.state === 'authenticating') {
      connection.early ??= []
      if (connection.early.push(text) > maxEarlyFrames) connection.close('tooFast')
      return
    }
    const frame = readFrame(text)
    if (frame === undefined) {
      connection.close('notJson')
      return
    }
    metrics.frames.inc({ type: typeOf(frame) })
    if (frame.action === 'ping') connection.sendFrame({ action: 'pong' })
    else if (connection.state === 'ready') enqueue(connection, frame)
    else if (frame.type === 'auth') void logIn(connection, frame)
    else connection.close('notAuthenticated')
  }

  const logIn = async (connection: Connection, frame: Record<string, unknown>) => {
    const isIn = await sessions.logIn(connection, frame)
    if (!isIn) return
    unauthenticatedCount--
    const early = connection.early ?? []
    connection.early = undefined
    for (const text of early) if (!isClosing(connection)) onText(connection, text)
  }

  /** One after the other, as they came: a read before a delivery would leave the delivery untold. */
  const enqueue = (connection: Connection, frame: Record<string, unknown>) => {
    if (++connection.inFlight > maxInFlight) connection.close('tooFast')
    connection.work = connection.work?.then(() => work(connection, frame)) ?? work(connection, frame)
  }

  const work = async (connection: Connection, frame: Record<string, unknown>) => {
    try {
      if (connection.login === undefined || connection.closedFor === 'sessionEnded') return
      await receive({ context, registry }, connection.login, frame)
    } catch (error) {
      const { code, message, devMessage } = toApiError(error, log, 'socket')
      const type = typeof frame.type === 'string' ? { frame: frame.type.slice(0, 50) } : {}
      connection.sendFrame({ type: 'error', body: { code, message, devMessage, ...type } })
    } finally {
      if (--connection.inFlight === 0) connection.work = undefined
    }
  }

  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const onStreamError = () => stream.destroy()
    stream.on('error', onStreamError)
    try {
      checkUpgrade(request, config)
      if (isDraining || unauthenticatedCount >= maxUnauthenticated) throw tryLater()
    } catch (error) {
      refuseUpgrade(stream, error instanceof ApiError ? error : toApiError(error, log, 'upgrade'))
      return
    }
    const appName = namedApp(hostOf(request, config), request.headers)
    wss.handleUpgrade(request, stream, head, (ws) => {
      stream.removeListener('error', onStreamError)
      open.set(ws, new Connection(host, ws, stream, appName))
      unauthenticatedCount++
      ws.on('message', onMessage)
      ws.on('pong', onPong)
      ws.on('close', onClose)
      ws.on('error', onError)
    })
  }

  /** One look at every socket a second, instead of timers of their own. */
  const sweep = () => {
    const now = Date.now()
    for (const connection of open.values()) look(connection, now)
    for (const sockets of registry.all()) forgetIdle(sockets, now)
    registry.prune()
  }

  const look = (connection: Connection, now: number) => {
    const silent = now - connection.since
    switch (connection.state) {
      case 'closing':
        if (silent > closeTimeoutMs) connection.ws.terminate()
        return
      case 'ready':
        if (silent > settings.idleTimeoutMs) connection.close('idle')
        else if (silent > settings.idleTimeoutMs / 2 && !connection.isPinged) {
          connection.isPinged = true
          connection.ws.ping()
        }
        return
      default:
        if (silent > settings.authTimeoutMs) connection.close('authTimeout')
    }
  }

  const closeOverTime = async (reason: SocketClose) => {
    const connections = [...open.values()]
    const slotMs = 20
    const slots = Math.ceil(Math.min(settings.drainMs, connections.length * drainPaceMs) / slotMs)
    const perSlot = Math.ceil(connections.length / Math.max(1, slots))
    for (let i = 0; i < connections.length; i += perSlot) {
      for (const connection of connections.slice(i, i + perSlot)) connection.close(reason)
      if (i + perSlot < connections.length) await pause(slotMs)
    }
  }

  return {
    attach(server) {
      server.server.on('upgrade', onUpgrade)
    },
    start() {
      const onEvent: BusListener = (appId, event) => {
        if ('control' in event) sessions.end(appId, event)
        else delivery.onEvent(appId, event)
      }
      unsubscribe = events.bus.subscribe(onEvent, () => open.size > 0)
      sweeping = setInterval(sweep, sweepMs).unref()
      tracker.start()
    },
    async drain() {
      isDraining = true
      // First: whoever is sent away now is not gone, he connects elsewhere.
      await tracker.stop()
      await closeOverTime('restart')
      const deadline = Date.now() + 1_000
      while (open.size > 0 && Date.now() < deadline) await pause(20)
      for (const { ws } of [...open.values()]) ws.terminate()
    },
    async stop() {
      unsubscribe()
      clearInterval(sweeping)
      fanout.stop()
      await delivery.drain()
      await tracker.stop()
    },
    async resync() {
      blocks.dropAll()
      for (const sockets of registry.all()) forgetAudiences(sockets)
      await sessions.verify()
    },
    disconnectToResync: () => closeOverTime('tryAgain'),
  }
}

function isClosing({ state }: Connection): boolean {
  return state === 'closing'
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
