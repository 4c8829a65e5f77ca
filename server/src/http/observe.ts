import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Log, requestLine } from '../log.ts'
import type { Metrics } from '../metrics.ts'

/** Status in log and metrics of a request whose client went away before it was answered. */
const clientGone = 499

/** Gives the request its `X-Request-Id`, and sees to its one line in the log and its place in the metrics. */
export function observe(
  { log, metrics }: { log: Log; metrics: Metrics },
  request: FastifyRequest,
  reply: FastifyReply,
  operation: string,
): void {
  const startedAt = performance.now()
  reply.header('x-request-id', request.id)
  reply.raw.once('close', () => {
    const status = reply.raw.writableFinished ? reply.raw.statusCode : clientGone
    const ms = performance.now() - startedAt
    metrics.requests.observe({ operation, status }, ms / 1000)
    log.info(
      { operation, method: request.method, status, ms: Math.round(ms * 10) / 10, requestId: request.id },
      requestLine,
    )
  })
}
