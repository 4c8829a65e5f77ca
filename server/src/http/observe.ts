import { limits } from '@parley/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operator } from '../areas/operators/index.ts'
import { keyFingerprint } from '../chat/identity.ts'
import type { Config } from '../config/index.ts'
import { type Log, redact, requestLine } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Addresses } from '../protocol/addresses.ts'
import type { Span, Tracing } from '../tracing/tracing.ts'

/** Status in log and metrics of a request whose client went away before it was answered. */
const clientGone = 499

declare module 'fastify' {
  interface FastifyRequest {
    /** IP address of the client, if it is to be kept. */
    clientAddress: string | undefined
    /** Where this request is traced. */
    span: Span | undefined
  }
}

interface Observer {
  readonly log: Log
  readonly metrics: Metrics
  readonly addresses: Addresses
  readonly config: Pick<Config, 'keepsClientAddresses'>
  readonly tracing: Tracing | undefined
}

/** Gives the request its `X-Request-Id`, and sees to its one line in the log and its place in the metrics. */
export function observe(
  { log, metrics, addresses, config, tracing }: Observer,
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
  const span = tracing === undefined ? undefined : arrive(tracing, request, operation)
  request.span = span
  reply.raw.once('close', () => {
    const status = reply.raw.writableFinished ? reply.raw.statusCode : clientGone
    const ms = performance.now() - startedAt
    metrics.requests.observe({ operation, status }, ms / 1000)
    const { asked, operator } = request
    if (asked?.caller !== undefined && 'scope' in asked.caller && asked.caller.scope === 'authOnly') {
      metrics.authOnlyRequests.inc({ operation, status })
    }
    const who = operator === undefined ? whoAsked(asked, status) : whichOperator(asked, operator)
    log.info(
      {
        operation,
        method: request.method,
        status,
        ms: Math.round(ms * 10) / 10,
        requestId: request.id,
        ...who,
        // What is undefined is left out of the line.
        address,
        trace: span?.traceId,
      },
      requestLine,
    )
    if (span !== undefined) endSpan(span, request, status, who)
  })
}

/** Probes are not traced: they would be most of what there is, and say nothing. */
function arrive(tracing: Tracing, { headers, routeOptions }: FastifyRequest, operation: string): Span | undefined {
  if (routeOptions.config.allowPlain === true) return undefined
  return tracing.arrive(operation, headers.traceparent, { kind: 'server' })
}

/** It says what the line in the log says, but for the address. */
function endSpan(span: Span, { method, id, routeOptions }: FastifyRequest, status: number, who: object = {}): void {
  span.setAttributes({
    ...{ 'http.request.method': method, 'http.response.status_code': status, 'parley.request_id': id },
    ...(routeOptions.url !== undefined && { 'http.route': routeOptions.url }),
    ...Object.fromEntries(Object.entries(who).map(([name, value]) => [`parley.${name}`, value])),
  })
  span.end(status >= 500 || status === clientGone ? String(status) : undefined)
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
    key: caller.keyDigest && keyFingerprint(caller.keyDigest),
    uid: caller.kind === 'user' ? loggedUid(caller.uid, status) : undefined,
  }
}

/** A request that names a user is refused if there is none; what it names then may be anything, a key for instance. */
function loggedUid(uid: string, status: number): string {
  return status < 400 ? uid : redact(uid.slice(0, limits.uidLength))
}
