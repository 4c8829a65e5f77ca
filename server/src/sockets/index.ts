import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, type SocketClose } from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { appsTopic } from '../chat/apps.ts'
import type { OpenSockets } from '../chat/usage/usage.ts'
import type { Context } from '../context.ts'
import type { BusListener } from '../events/bus.ts'
import { limitExceeded } from '../limits/errors.ts'
import { namedApp } from '../protocol/caller.ts'
import { toApiError } from '../protocol/errors.ts'
import { isConnectionFailure } from '../store/connection.ts'
import { createAdmission, longestWaitMs, youth } from './admission.ts'
import { forgetAudiences, forgetIdle } from './audiences.ts'
import { createBlockBook } from './blocks.ts'
import { Connection } from './connection.ts'
import { createDelivery } from './deliver.ts'
import { createIncoming } from './incoming.ts'
import { createSocketMetrics } from './metrics.ts'
import { createPresenceFanout } from './presence/fanout.ts'
import { createPresenceTracker } from './presence/tracker.ts'
import { Registry } from './registry.ts'
import { createSessions } from './sessions.ts'
import { createSignalPace } from './signal-pace.ts'
import { createUnauthenticated } from './unauthenticated.ts'
import { checkUpgrade, refuseUpgrade, tryLater, watchForEnd } from './upgrade.ts'
import { checkConnection, closeOverTime } from './upkeep.ts'
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
  const admission = createAdmission(
    settings.loginsPerSecond,
    undefined,
    Math.min(longestWaitMs, settings.authTimeoutMs * 0.8),
    youth.lastsMs,
  )
  const sessions = createSessions({ context, registry, presence: tracker, settings, admission })
  const pace = createSignalPace()
  const delivery = createDelivery({
    context,
    registry,
    blocks,
    pace,
    summaries: createUserSummaries(context.database),
    presence: fanout,
  })
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: settings.frameBytes,
    perMessageDeflate: false,
  })
  context.invalidation.onChange(appsTopic, (name) => {
    sessions.endPaused(name).catch((error: Error) => {
      // The line to the database was cut, too: what there is is looked at again once it is back.
      if (!isConnectionFailure(error)) log.warn({ err: error }, 'sockets of paused apps could not be closed')
    })
  })
  const unauthenticated = createUnauthenticated(settings)
  let isDraining = false
  let sweeping: NodeJS.Timeout | undefined
  let unsubscribe = () => {}
  /** Those who may lack something of which it is not known whether it was stored; undefined where nothing is in doubt. */
  let doubtful: Set<Connection> | undefined
  let isSettling = false

  const incoming = createIncoming({
    ...{ context, sessions, metrics, pace },
    onLoggedIn: ({ client }) => unauthenticated.remove(client),
  })

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

  const requireRoom = async (request: IncomingMessage, client: string | undefined) => {
    checkUpgrade(request, context.addresses, config)
    if (client !== undefined) {
      const standing = await context.limits.rateLimiter.take('address', client)
      if (standing?.isExceeded) throw limitExceeded(standing)
    }
    if (isDraining || !unauthenticated.hasRoomFor(client)) throw tryLater()
  }
  const onUpgrade = async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const onStreamError = () => stream.destroy()
    stream.on('error', onStreamError)
    const client = context.addresses.limitedOf(request)
    let isOpen = false
    try {
      await requireRoom(request, client)
      unauthenticated.add(client)
      try {
        await takeTurn(stream)
        isOpen = !stream.destroyed && openSocket(request, stream, head, client, onStreamError)
      } finally {
        if (!isOpen) unauthenticated.remove(client)
      }
    } catch (error) {
      refuseUpgrade(stream, error instanceof ApiError ? error : toApiError(error, log, 'upgrade'))
    }
  }
  /** @throws 503 where it would wait for too long, or the service stops meanwhile */
  const takeTurn = async (stream: Duplex) => {
    const endWatch = watchForEnd(stream)
    await admission.enter(() => !stream.destroyed).finally(endWatch)
    if (isDraining) throw tryLater()
  }
  /** @returns whether it was a proper handshake; else it is answered so */
  const openSocket = (
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    client: string | undefined,
    onStreamError: () => void,
  ): boolean => {
    const address = config.keepsClientAddresses ? context.addresses.clientOf(request) : undefined
    const appName = namedApp(context.addresses.hostOf(request), request.headers)
    let isOpen = false
    wss.handleUpgrade(request, stream, head, (ws) => {
      isOpen = true
      stream.removeListener('error', onStreamError)
      open.set(ws, new Connection(host, ws, stream, { appName, client, address }))
      ws.on('message', onMessage)
      ws.on('pong', onPong)
      ws.on('close', onClose)
      ws.on('error', onError)
    })
    return isOpen
  }

  const onExpiryFailure = (error: Error) => {
    if (!isConnectionFailure(error)) log.warn({ err: error }, 'expired sessions could not be ended')
  }

  const doubt = () => {
    doubtful = new Set([...(doubtful ?? []), ...open.values()])
  }
  /** Once the database answers again. Those who have connected since then have asked for what is new. */
  const settleDoubt = async () => {
    if (doubtful === undefined || isSettling) return
    isSettling = true
    try {
      await resync()
      const lacking = [...doubtful]
      doubtful = undefined
      await closeOverTime(lacking, 'tryAgain', settings.drainMs)
    } finally {
      isSettling = false
    }
  }
  const onDoubtFailure = (error: Error) => {
    if (!isConnectionFailure(error))
      log.warn({ err: error }, 'could not yet disconnect clients that may have missed events')
  }

  /** One look at every socket a second, instead of timers of their own. */
  const sweep = () => {
    const now = performance.now()
    const { patienceMs } = unauthenticated
    for (const connection of open.values()) checkConnection(connection, settings, patienceMs)
    for (const sockets of registry.all()) forgetIdle(sockets, now)
    context.usage.sample(openSockets(registry))
    registry.prune()
    if (!context.monitor.available) return
    sessions.endExpired(now).catch(onExpiryFailure)
    settleDoubt().catch(onDoubtFailure)
  }

  const resync = async () => {
    blocks.dropAll()
    for (const sockets of registry.all()) forgetAudiences(sockets)
    await sessions.verify()
  }

  return {
    attach(server) {
      server.server.on('upgrade', onUpgrade)
    },
    start() {
      const onEvent: BusListener = (appId, event, isRemote) => {
        if ('control' in event) {
          if (event.control === 'in_doubt') doubt()
          else sessions.end(appId, event)
        }
        context.metrics.demand.count++
        delivery.onEvent(appId, event, isRemote)
      }
      unsubscribe = events.bus.subscribe(onEvent, () => open.size > 0)
      // Other processes tell theirs, too.
      context.database.onDoubt(() => events.publish(0, { control: 'in_doubt' }))
      sweeping = setInterval(sweep, sweepMs).unref()
      tracker.start()
    },
    async drain() {
      isDraining = true
      admission.close()
      // First: users whose sockets are closed now do not go offline, they reconnect elsewhere.
      await tracker.stop()
      await closeOverTime([...open.values()], 'restart', settings.drainMs)
      const deadline = Date.now() + 1_000
      while (open.size > 0 && Date.now() < deadline) await delay(20)
      for (const { ws } of [...open.values()]) ws.terminate()
    },
    async stop() {
      unsubscribe()
      clearInterval(sweeping)
      fanout.stop()
      await delivery.drain()
      await tracker.stop()
    },
    resync,
    disconnectToResync: () => closeOverTime([...open.values()], 'tryAgain', settings.drainMs),
  }
}

function* openSockets(registry: Registry): Iterable<OpenSockets> {
  for (const sockets of registry.all()) {
    yield { appId: sockets.app.appId, open: sockets.connected, uids: () => sockets.connectedUids() }
  }
}
