import { type AdminOperation, badRequest } from '@parley/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdminCall, AdminRoute, Operator } from '../../areas/operators/index.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { compileCheck, sanitize } from '../../protocol/validation.ts'
import { contextOf } from '../../traced-context.ts'
import { compileQueryReader } from '../query.ts'
import { noTokens } from './errors.ts'
import { actorOf, findAppOf, requireRight } from './face.ts'
import {
  adminPrefix,
  authenticateOperator,
  checkGate,
  isolate,
  originOf,
  requirePrivate,
  sessionCookie,
  signInCookie,
} from './gate.ts'

/** Makes a route of every operation of the admin API. The order of checks: the gate, who calls, the right, the app, the shape. */
export function registerAdminOperations(
  server: FastifyInstance,
  context: Context,
  routes: readonly AdminRoute[],
): void {
  server.decorateRequest('operator')
  server.decorateRequest('readings')
  for (const route of routes) registerAdminOperation(server, context, route)
}

function registerAdminOperation(server: FastifyInstance, context: Context, { operation, handle }: AdminRoute): void {
  const readQuery = compileQueryReader(operation.query)
  const checkQuery = compileCheck('query', operation.query)
  const checkParams = compileCheck('params', operation.params)
  const checkBody = operation.body && compileCheck('body', operation.body)
  const declared = Object.keys((operation.body as { properties?: object } | undefined)?.properties ?? {})

  server.route({
    method: operation.method,
    url: adminPrefix + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: operation.id, withoutPrefix: true },
    schema: { response: { 200: operation.answer } },
    ...(operation.bodyLimit !== undefined && { bodyLimit: operation.bodyLimit }),
    onRequest: async (request, reply) => {
      checkGate(context, request)
      if (operation.access === 'anybody') return
      checkAccess(operation, await authenticateOperator(context, request, reply))
    },
    onSend: (_request, reply, payload, done) => {
      isolate(reply)
      done(null, payload)
    },
    handler: async (request, reply) => {
      if (operation.access === 'anybody') requirePrivate(context, request)
      const params = request.params as Record<string, string>
      const app = await appOf(context, request, params)
      checkParams(sanitize(params, 'params'))
      const query = sanitize(readQuery(request.query as Record<string, string>), 'query')
      checkQuery(query)
      const body = checkBody && readBody(request.body, declared)
      checkBody?.(body)
      const { operator } = request
      const from = { address: request.clientAddress, agent: request.headers['user-agent'] }
      const call = {
        ...{ operator, app, params, query, body, from, client: request.client },
        ...{ address: context.addresses.clientOf(request.raw), origin: originOf(context, request) },
        cookie: sessionCookie(context, request, reply),
        signInCookie: signInCookie(context, request, reply),
      }
      const audit = context.audit.by(actorOf(request))
      return handle(call as unknown as AdminCall<AdminOperation>, contextOf(context, request.span, { audit }))
    },
  })
}

/** @throws 403 `ERR_PERMISSION_DENIED` */
function checkAccess({ access, sessionOnly }: AdminOperation, operator: Operator): void {
  if (sessionOnly === true && operator.sessionId === undefined) {
    throw noTokens()
  }
  if (access !== 'signedIn' && access !== 'anybody') requireRight(operator, access)
}

/** The app that a path names. @throws 404 `ERR_APP_NOT_FOUND`, also for an app that the operator has nothing to do with */
async function appOf(
  context: Context,
  { operator }: FastifyRequest,
  { appId }: Record<string, string>,
): Promise<App | undefined> {
  return appId === undefined ? undefined : findAppOf(context, operator as Operator, appId)
}

/** The body as far as it is declared. */
function readBody(sent: unknown, declared: readonly string[]): unknown {
  const body = sent === undefined ? {} : sanitize(sent, 'body')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest([{ path: 'body', message: 'must be object' }])
  }
  const members = body as Record<string, unknown>
  return Object.fromEntries(
    declared.filter((name) => Object.hasOwn(members, name)).map((name) => [name, members[name]]),
  )
}
