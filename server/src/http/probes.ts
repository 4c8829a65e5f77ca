import Fastify, { type FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { apiNotFound, sendError } from '../protocol/errors.ts'

/** `GET /health`: the process lives. `GET /ready`: it can serve (database reachable, migrated). `GET /metrics`: Prometheus. */
export function registerProbes(server: FastifyInstance, context: Context): void {
  const { monitor, jobs: runner } = context
  server.route({
    method: ['GET', 'HEAD'],
    url: '/health',
    config: { operation: 'health', allowPlain: true, withoutPrefix: true },
    handler: async () => ({ status: 'ok' }),
  })
  server.route({
    method: ['GET', 'HEAD'],
    url: '/ready',
    config: { operation: 'ready', allowPlain: true, withoutPrefix: true },
    handler: async (_request, reply) => {
      // Migrations have run before the service listens, so what can be missing is the database.
      // A job runner that stands still is shown, but the service stays ready: everything else is served.
      const jobs = runner.state
      if (monitor.available) return { status: 'ready', database: 'reachable', migrated: true, jobs }
      return reply.code(503).header('retry-after', 2).send({ status: 'unavailable', database: 'unreachable', jobs })
    },
  })
  if (context.config.metricsPort === undefined) registerMetrics(server, context)
}

/** The server of `METRICS_PORT`: the metrics and nothing else, over plain HTTP. Absent where the variable is not set. */
export function buildMetricsServer(context: Context): FastifyInstance | undefined {
  if (context.config.metricsPort === undefined) return undefined
  // Scrapers keep their connections open; a stop does not wait for them.
  const server = Fastify({ logger: false, forceCloseConnections: true })
  server.setNotFoundHandler((request, reply) => sendError(reply, apiNotFound(request)))
  registerMetrics(server, context)
  return server
}

function registerMetrics(server: FastifyInstance, { metrics }: Context): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: '/metrics',
    config: { operation: 'metrics', allowPlain: true, withoutPrefix: true },
    handler: async (_request, reply) => {
      const text = await metrics.text()
      if (text !== undefined) return reply.type(metrics.registry.contentType).send(text)
      return reply.code(503).header('retry-after', 2).send({ status: 'unavailable' })
    },
  })
}
