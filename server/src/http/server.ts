import { randomBytes } from 'node:crypto'
import cors from '@fastify/cors'
import { ApiError, badRequest, limits } from '@parley/contract'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { AdminRoute } from '../areas/operators/index.ts'
import type { Route } from '../call.ts'
import type { Context } from '../context.ts'
import { isHost } from '../protocol/addresses.ts'
import { apiNotFound, httpsRequired, sendError, toApiError } from '../protocol/errors.ts'
import { createOperatorFace } from './admin/face.ts'
import { adminPrefix } from './admin/gate.ts'
import { registerAdminOpenApi } from './admin/openapi.ts'
import { registerAdminOperations } from './admin/operations.ts'
import { readJsonBodies } from './body.ts'
import { limitClients } from './client-limit.ts'
import { endConnectionsInTime } from './connections.ts'
import { registerConsole } from './console.ts'
import { registerDemo } from './demo.ts'
import { createPublicFace, type Face } from './face.ts'
import { registerFront } from './front.ts'
import { registerMailReplies } from './mail-replies.ts'
import { answerMalformed, passOverExpectations } from './malformed.ts'
import { registerMedia } from './media.ts'
import { observe } from './observe.ts'
import { registerOperations } from './operations.ts'
import { registerProbes } from './probes.ts'
import { registerAsyncApi } from './reference/asyncapi.ts'
import { registerReference } from './reference/docs.ts'
import { registerOpenApi } from './reference/openapi.ts'
import { serializerOf } from './serializers.ts'
import { registerUnsubscribe } from './unsubscribe.ts'
import { UpgradableRequest } from './upgradable.ts'
import { registerUploadAddress } from './upload-address.ts'
import { registerUploads } from './uploads.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Operation id, or the name of a path that is none of the contract's. */
    operation?: string
    /** Answers over plain HTTP too when HTTPS is required: for probes inside the deployment. */
    allowPlain?: boolean
    /** Answers without a prefix only: it is none of the contract's, and a proxy can keep it from the public side by name. */
    withoutPrefix?: boolean
  }
}

export interface TlsMaterial {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

/** Longer than the idle timeout of usual load balancers, so that they close first. */
const keepAliveTimeoutMs = 75_000
/** For a whole request, so that an import of 16 MB also comes in over a slow line; headers have a minute (Node's default). */
const requestTimeoutMs = 300_000
/** Headers that pages of other origins may read; one text, since an array is joined with each answer. */
const exposedHeaders = 'x-request-id, retry-after, x-rate-limit, x-rate-limit-remaining, x-rate-limit-reset'
/** Ids in paths have no limit of their own: one that is too long is just unknown. Node bounds the whole address. */
const maxParamLength = 64 * 1024

/** What a port serves: the public API and its pages, the admin API, or both. */
export type ServedPart = 'all' | 'public' | 'admin'

/** Builds the HTTP server out of the areas' routes. Protocol only: no rule of the chat is in here. */
export async function buildHttpServer(
  context: Context,
  { routes, adminRoutes }: { readonly routes: readonly Route[]; readonly adminRoutes: readonly AdminRoute[] },
  tls: TlsMaterial | undefined,
  part: ServedPart = 'all',
): Promise<FastifyInstance> {
  const { config, log } = context
  const newRequestId = countRequests()
  // Node's own refusal of a request without Host has no body; ours is in findUnfit.
  const node = { requireHostHeader: false, IncomingMessage: UpgradableRequest }

  const app = Fastify({
    ...(tls === undefined ? { http: node } : { https: { cert: tls.cert, key: tls.key, ...node } }),
    logger: false,
    trustProxy: config.trustProxy === true || config.trustProxy === false ? config.trustProxy : [...config.trustProxy],
    genReqId: newRequestId,
    bodyLimit: limits.bodyBytes.json,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength, caseSensitive: true },
    rewriteUrl: stripVersion,
    // Addresses that cannot be decoded; no hook runs for them.
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      observe(context, request, reply, 'unknown')
      sendError(reply, new ApiError('ERR_BAD_REQUEST', error.message, [{ path: 'url', message: 'is not valid' }]))
    },
    clientErrorHandler: (error: Error, socket: Parameters<typeof answerMalformed>[3]) =>
      answerMalformed(context, newRequestId(), error, socket),
  } as object) as unknown as FastifyInstance

  // Before anything is registered, or the routes of plugins answer in Fastify's own shape.
  app.setErrorHandler((error, request, reply) =>
    sendError(reply, toApiError(error, log, request.id, request.routeOptions.bodyLimit)),
  )
  app.setNotFoundHandler((request, reply) => sendError(reply, apiNotFound(request)))
  app.setSerializerCompiler(({ schema }) => serializerOf({ schema: schema as object }))
  passOverExpectations(app.server)
  endConnectionsInTime(app, { opensSockets: part !== 'admin' })
  readJsonBodies(app)
  app.addHook('onRequest', (request, reply, done) => {
    observe(context, request, reply, request.routeOptions.config.operation ?? 'unknown')
    const isUnknown = request.method === 'OPTIONS' && (!isPreflight(request) || isOfAdmin(request))
    done(isUnknown ? apiNotFound(request) : undefined)
  })
  await app.register(cors, {
    origin: config.corsOrigins.includes('*') ? '*' : [...config.corsOrigins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    exposedHeaders,
    maxAge: 86_400,
  })
  // After CORS, so that a page is also told why it was refused.
  limitClients(app, context)
  app.addHook('onRequest', (request, _reply, done) => done(findUnfit(request, context)))

  registerUploads(app)
  const faces: Face[] = []
  if (part !== 'admin') {
    registerProbes(app, context)
    registerMedia(app, context)
    registerUploadAddress(app, context)
    registerUnsubscribe(app, context)
    registerMailReplies(app, context)
    registerOpenApi(app, context, routes)
    registerAsyncApi(app)
    // Where only some networks may see it, or on a port of its own, others are not led there.
    const isConsoleHere = config.console && part === 'all' && config.adminAllow === undefined
    registerFront(app, { ...config, console: isConsoleHere })
    if (config.docs) registerReference(app)
    if (config.demo) registerDemo(app, context.log)
    faces.push(createPublicFace(context))
  }
  if (part !== 'public' && config.console) {
    registerAdminOperations(app, context, adminRoutes)
    registerAdminOpenApi(app, context, adminRoutes)
    registerConsole(app, context)
    faces.push(createOperatorFace(context))
  }
  registerOperations(app, context, routes, faces)
  return app
}

/** What can be said without looking at credentials or body. */
function findUnfit(request: FastifyRequest, { addresses, config }: Context): ApiError | undefined {
  const { allowPlain, withoutPrefix } = request.routeOptions.config
  if (request.is404 || (withoutPrefix === true && versionPrefix.test(pathOf(request.originalUrl)))) {
    return apiNotFound(request)
  }
  const host = addresses.hostOf(request.raw)
  // In HTTP/1.0 probes come without one.
  if (host === '' && (request.raw.httpVersion === '1.1' || allowPlain !== true)) {
    return badRequest([{ path: 'headers/host', message: 'is required' }])
  }
  if (host !== '' && !isHost(host)) return badRequest([{ path: 'headers/host', message: 'is not a valid host' }])
  if (config.requireHttps && !addresses.isOverTls(request.raw) && allowPlain !== true) {
    return httpsRequired()
  }
  return undefined
}

/** The admin API is for pages of its own origin alone. */
function isOfAdmin({ url }: FastifyRequest): boolean {
  return url.startsWith(`${adminPrefix}/`)
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/** Every operation answers under `/v3` and `/v3.0`, and without either (client dialect). Proxies may send whole addresses. */
function stripVersion(request: { url?: string }): string {
  const rest = pathOf(request.url ?? '/').replace(versionPrefix, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

const versionPrefix = /^\/v3(?:\.0)?(?=\/|\?|$)/

function pathOf(address: string): string {
  return address.startsWith('/') ? address : address.replace(/^https?:\/\/[^/?#]*/i, '')
}

/** Makes request ids: a prefix of this process and a count. Those that clients send are not believed. */
function countRequests(): () => string {
  const prefix = randomBytes(6).toString('hex')
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}
