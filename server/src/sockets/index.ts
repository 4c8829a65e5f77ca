import { setTimeout as delay } from 'node:timers/promises'
import type { SocketClose } from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import { appsTopic } from '../chat/apps.ts'
import type { OpenSockets } from '../chat/usage/usage.ts'
import type { Context } from '../context.ts'
import type { BusListener } from '../events/bus.ts'
import { isConnectionFailure } from '../store/connection.ts'
import { createAdmission, longestWaitMs, youth } from './admission.ts'
import { forgetAudiences, forgetIdle } from './audiences.ts'
import { createBlockBook } from './blocks.ts'
import { createConnections } from './connections.ts'
import { createDelivery } from './deliver.ts'
import { createHandshake } from './handshake.ts'
import { createIncoming } from './incoming.ts'
import { createLateResync } from './late-resync.ts'
import { createSocketMetrics } from './metrics.ts'
import { createPresenceFanout } from './presence/fanout.ts'
import { createPresenceTracker } from './presence/tracker.ts'
import { Registry } from './registry.ts'
import { createSessions } from './sessions.ts'
import { createSignalPace } from './signal-pace.ts'
import { createUnauthenticated } from './unauthenticated.ts'
import { checkConnection, closeOverTime } from './upkeep.ts'
import { createUserSummaries } from './user-summaries.ts'

/** Live delivery: the sockets of this process. */
export interface Sockets {
  /** Opens sockets on a server, on the port of its other requests. */
  attach(server: FastifyInstance): void
  start(): void
  /** Asks every socket to connect again, over some seconds, then ends those that are left. */
  drain(): Promise<void>
  stop(): Promise<void>
  /**
   * What other processes published may have been missed (the connection to them was cut): blocks and members are read anew, and
   * sockets whose tokens stopped working are closed.
   */
  resync(): Promise<void>
  /** Something was missed of which clients should have been notified: they connect again, spread over some seconds, and list it. */
  disconnectToResync(): Promise<void>
}

const sweepMs = 1_000

export function createSockets(context: Context): Sockets {
  const { config, log, events } = context
  const settings = config.sockets
  const registry = new Registry()
  const metrics = createSocketMetrics(context.metrics, () => connections.size)
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
  context.invalidation.onChange(appsTopic, (name) => {
    sessions.endPaused(name).catch((error: Error) => {
      // The connection to the database was cut, too: what there is is looked at again once it is back.
      if (!isConnectionFailure(error)) log.warn({ err: error }, 'sockets of paused apps could not be closed')
    })
  })
  const unauthenticated = createUnauthenticated(settings)
  const incoming = createIncoming({
    ...{ context, sessions, metrics, pace },
    onLoggedIn: ({ client }) => unauthenticated.remove(client),
  })
  const host = { settings, onClosing: (reason: SocketClose) => metrics.closes.inc({ reason }) }
  const connections = createConnections({ log, host, incoming, sessions, unauthenticated })
  const handshake = createHandshake({ context, admission, unauthenticated, onOpen: connections.add })
  const resync = async () => {
    blocks.dropAll()
    for (const sockets of registry.all()) forgetAudiences(sockets)
    await sessions.verify()
  }
  const lateResync = createLateResync({ log, drainMs: settings.drainMs, resync })

  const onExpiryFailure = (error: Error) => {
    if (!isConnectionFailure(error)) log.warn({ err: error }, 'expired sessions could not be ended')
  }

  /** One look at every socket a second, instead of timers of their own. */
  const sweep = () => {
    const now = performance.now()
    const { patienceMs } = unauthenticated
    for (const connection of connections.all()) checkConnection(connection, settings, patienceMs)
    for (const sockets of registry.all()) forgetIdle(sockets, now)
    context.usage.sample(openSockets(registry))
    registry.prune()
    if (!context.monitor.available) return
    sessions.endExpired(now).catch(onExpiryFailure)
    lateResync.run()
  }

  let sweeping: NodeJS.Timeout | undefined
  let unsubscribe = () => {}
  return {
    attach(server) {
      server.server.on('upgrade', handshake.onUpgrade)
    },
    start() {
      const onEvent: BusListener = (appId, event, isRemote) => {
        if ('control' in event) {
          if (event.control === 'in_doubt') lateResync.add(connections.all())
          else sessions.end(appId, event)
        }
        context.metrics.demand.count++
        delivery.onEvent(appId, event, isRemote)
      }
      unsubscribe = events.bus.subscribe(onEvent, () => connections.size > 0)
      // Other processes publish theirs, too.
      context.database.onDoubt(() => events.publish(0, { control: 'in_doubt' }))
      sweeping = setInterval(sweep, sweepMs).unref()
      tracker.start()
    },
    async drain() {
      handshake.close()
      // First: users whose sockets are closed now do not go offline, they reconnect elsewhere.
      await tracker.stop()
      await closeOverTime([...connections.all()], 'restart', settings.drainMs)
      const deadline = performance.now() + 1_000
      while (connections.size > 0 && performance.now() < deadline) await delay(20)
      for (const { ws } of [...connections.all()]) ws.terminate()
    },
    async stop() {
      unsubscribe()
      clearInterval(sweeping)
      fanout.stop()
      await delivery.drain()
      await tracker.stop()
    },
    resync,
    disconnectToResync: () => closeOverTime([...connections.all()], 'tryAgain', settings.drainMs),
  }
}

function* openSockets(registry: Registry): Iterable<OpenSockets> {
  for (const sockets of registry.all()) {
    yield { appId: sockets.app.appId, open: sockets.connected, uids: () => sockets.connectedUids() }
  }
}
