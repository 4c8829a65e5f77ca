import { limits } from '@parley/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operator } from '../areas/operators/index.ts'
import { keyFingerprint } from '../chat/identity.ts'
import type { Config } from '../config/index.ts'
import { type Log, redact, requestLine } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Addresses } from '../protocol/addresses.ts'

/** Status in log and metrics of a request whose client went away before it was answered. */
const clientGone = 499

declare module 'fastify' {
  interface FastifyRequest {
    /** IP address of the client, if it is to be kept. */
    clientAddress: string | undefined
  }
}

interface Observer {
  readonly log: Log
  readonly metrics: Metrics
  readonly addresses: Addresses
  readonly config: Pick<Config, 'keepsClientAddresses'>
}

/** Gives the request its `X-Request-Id`, and sees to its one line in the log and its place in the metrics. */
export function observe(
  { log, metrics, addresses, config }: Observer,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: string,
): void {
  const startedAt = performance.now()
  metrics.demand.count++
  reply.header('x-request-id', request.id)
  // A connection that is closed has no address any more.
  const address = config.keepsClientAddresses ? addresses.clientOf(request.raw) : undefined
  request.clientAddress = address
  reply.raw.once('close', () => {
    const status = reply.raw.writableFinished ? reply.raw.statusCode : clientGone
    const ms = performance.now() - startedAt
    metrics.requests.observe({ operation, status }, ms / 1000)
    const { asked, operator } = request
    if (asked?.caller !== undefined && 'scope' in asked.caller && asked.caller.scope === 'authOnly') {
      metrics.authOnlyRequests.inc({ operation, status })
    }
    log.info(
      {
        operation,
        method: request.method,
        status,
        ms: Math.round(ms * 10) / 10,
        requestId: request.id,
        ...(operator === undefined ? whoAsked(asked, status) : whichOperator(asked, operator)),
        ...(address !== undefined && { address }),
      },
      requestLine,
    )
  })
}

function whichOperator(asked: FastifyRequest['asked'], { account }: Operator): object {
  return { ...(asked && { app: asked.app.name }), caller: 'operator', operator: account.id }
}

/** An API key is named by the start of its digest only. */
function whoAsked(asked: FastifyRequest['asked'], status: number): object | undefined {
  if (asked === undefined) return undefined
  const { app, caller } = asked
  if (caller === undefined) return { app: app.name }
  if (caller.kind === 'user' && caller.via === 'token') return { app: app.name, caller: 'token', uid: caller.uid }
  return {
    app: app.name,
    caller: caller.scope,
    ...(caller.keyDigest && { key: keyFingerprint(caller.keyDigest) }),
    // A request that names a user is refused if there is none; what it names then may be anything, a key for instance.
    ...(caller.kind === 'user' && {
      uid: status < 400 ? caller.uid : redact(caller.uid.slice(0, limits.uidLength)),
    }),
  }
}
