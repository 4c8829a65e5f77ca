import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import { ApiError } from '@parley/contract'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Route } from '../call.ts'
import type { Context } from '../context.ts'
import { sendError, toApiError, unsupportedMediaType } from './errors.ts'
import { registerOpenApi } from './openapi.ts'
import { registerOperations } from './operations.ts'
import { registerProbes } from './probes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Operation id, or the name of a path that is none of the contract's. */
    operation?: string
    /** Answers over plain HTTP too when HTTPS is required: for probes inside the deployment. */
    allowPlain?: boolean
  }
}

export interface TlsMaterial {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

const defaultBodyLimit = 1024 * 1024
/** Longer than the idle timeout of usual load balancers, so that they close first. */
const keepAliveTimeoutMs = 75_000
const requestTimeoutMs = 60_000

/** Builds the HTTP server out of the areas' routes. Protocol only: no rule of the chat is in here. */
export async function buildHttpServer(
  context: Context,
  routes: readonly Route[],
  tls: TlsMaterial | undefined,
): Promise<FastifyInstance> {
  const { config, log, metrics } = context
  const idPrefix = randomBytes(6).toString('hex')
  let requests = 0

  const app = Fastify({
    ...(tls && { https: { cert: tls.cert, key: tls.key } }),
    logger: false,
    trustProxy: config.trustProxy === true || config.trustProxy === false ? config.trustProxy : [...config.trustProxy],
    genReqId: () => `${idPrefix}-${(++requests).toString(36)}`,
    bodyLimit: defaultBodyLimit,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 512, caseSensitive: true },
    rewriteUrl: stripVersion,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      void reply.header('x-request-id', request.id)
      const unknown = error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      sendError(
        reply,
        unknown ? apiNotFound(request.method, request.url) : new ApiError('ERR_BAD_REQUEST', error.message),
      )
    },
    clientErrorHandler: answerMalformedHttp,
  } as object) as unknown as FastifyInstance

  readJsonBodies(app)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (config.requireHttps && request.protocol !== 'https' && request.routeOptions.config.allowPlain !== true) {
      throw new ApiError('ERR_BAD_REQUEST', 'This service is reached over HTTPS only (REQUIRE_HTTPS is set).')
    }
  })
  app.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.config.operation ?? 'unknown'
    const status = reply.statusCode
    metrics.requests.observe({ operation, status }, reply.elapsedTime / 1000)
    log.info(
      { operation, method: request.method, status, ms: Math.round(reply.elapsedTime * 10) / 10, requestId: request.id },
      'request',
    )
  })
  app.setErrorHandler((error, request, reply) => sendError(reply, toApiError(error, log, request.id)))
  app.setNotFoundHandler((request, reply) => sendError(reply, apiNotFound(request.method, request.url)))

  await app.register(cors, {
    origin: config.corsOrigins.includes('*') ? '*' : [...config.corsOrigins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    exposedHeaders: ['x-request-id', 'retry-after', 'x-rate-limit', 'x-rate-limit-remaining', 'x-rate-limit-reset'],
    maxAge: 86_400,
  })
  registerProbes(app, context)
  await registerOpenApi(app, context, routes)
  registerOperations(app, context, routes)
  return app
}

/** Every operation answers under `/v3` and `/v3.0`, and without either (client dialect). */
function stripVersion(request: { url?: string }): string {
  const url = request.url ?? '/'
  const match = /^\/v3(?:\.0)?(?=\/|\?|$)/.exec(url)
  const rest = match === null ? url : url.slice(match[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

function apiNotFound(method: string, url: string): ApiError {
  return new ApiError('ERR_API_NOT_FOUND', `There is no operation ${method} ${url.split('?')[0]}.`)
}

/**
 * JSON only, read as it is (Fastify's own parsers would take text and coerce). An empty body counts as absent, whatever
 * the content type says.
 */
function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else parseJson(request, body, done)
  })
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else done(unsupportedMediaType())
  })
}

function answerMalformedHttp(
  this: unknown,
  error: Error & { code?: string },
  socket: Socket & { _httpMessage?: IncomingMessage },
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) {
    const body = JSON.stringify(new ApiError('ERR_BAD_REQUEST', 'This is not valid HTTP.').toBody())
    socket.write(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}
