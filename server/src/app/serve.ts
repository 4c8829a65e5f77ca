import type { ParleyOptions } from '../app.ts'
import type { Context } from '../context.ts'
import { createRemoteBus } from '../events/remote-bus.ts'
import { buildMetricsServer } from '../http/probes.ts'
import { buildHttpServer } from '../http/server.ts'
import { adminRoutes, routes } from '../routes.ts'
import { createSockets } from '../sockets/index.ts'

/** What clients reach. */
export type Served = Awaited<ReturnType<typeof buildServers>>

/** Makes the servers, which do not listen yet, and the sockets on them. */
export async function buildServers(options: ParleyOptions, context: Context) {
  const { config, log, metrics, events, secrets, redis } = context
  const sockets = createSockets(context)
  const served = { routes: options.routes ?? routes, adminRoutes }
  const isApart = config.console && config.adminPort !== undefined
  const http = await buildHttpServer(context, served, options.tls, isApart ? 'public' : 'all')
  const adminHttp = isApart ? await buildHttpServer(context, served, options.tls, 'admin') : undefined
  const metricsHttp = buildMetricsServer(context)
  sockets.attach(http)
  // While sockets are asked to connect again, requests are still answered; the server would wait for ever on open ones.
  http.addHook('preClose', () => sockets.drain())
  sockets.start()
  const remote =
    redis &&
    createRemoteBus({
      ...{ bus: events.bus, redis, secrets, log, registry: metrics.registry },
      onResync: sockets.resync,
      onMissed: sockets.disconnectToResync,
    })
  await remote?.start()
  return { sockets, http, adminHttp, metricsHttp, remote }
}
