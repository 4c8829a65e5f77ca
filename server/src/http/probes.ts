import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'

/** `GET /health`: the process lives. `GET /ready`: it can serve (database reachable, migrated). `GET /metrics`: Prometheus. */
export function registerProbes(server: FastifyInstance, context: Context): void {
  const { monitor, metrics, jobs: runner } = context
  server.route({
    method: ['GET', 'HEAD'],
    url: '/health',
    config: { operation: 'health', allowPlain: true },
    handler: async () => ({ status: 'ok' }),
  })
  server.route({
    method: ['GET', 'HEAD'],
    url: '/ready',
    config: { operation: 'ready', allowPlain: true },
    handler: async (_request, reply) => {
      // Migrations have run before the service listens, so what can be missing is the database.
      // A job runner that stands still is shown, but the service stays ready: everything else is served.
      const jobs = runner.state
      if (monitor.available) return { status: 'ready', database: 'reachable', migrated: true, jobs }
      return reply.code(503).header('retry-after', 2).send({ status: 'unavailable', database: 'unreachable', jobs })
    },
  })
  server.route({
    method: 'GET',
    url: '/metrics',
    config: { operation: 'metrics', allowPlain: true },
    handler: async (_request, reply) => reply.type(metrics.registry.contentType).send(await metrics.text()),
  })
}
