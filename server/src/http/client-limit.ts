import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { limitExceeded } from '../limits/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address as far as limits count it; undefined where they do not. */
    client: string | undefined
  }
}

/** Counts every request of a client's address, before anything is read or looked up for it. */
export function limitClients(server: FastifyInstance, { addresses, limits: { rateLimiter } }: Context): void {
  server.decorateRequest('client', undefined)
  server.addHook('onRequest', (request, _reply, done) => {
    const client = addresses.limitedOf(request.raw)
    if (client === undefined) return done()
    request.client = client
    rateLimiter.take('address', client).then((standing) => {
      done(standing?.isExceeded ? limitExceeded(standing) : undefined)
    }, done)
  })
}
