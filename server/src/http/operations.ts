import { badRequest, governanceOf } from '@parley/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Route, Serialized } from '../call.ts'
import type { App, Caller } from '../chat/identity.ts'
import { requireGoverned } from '../chat/roles/rules.ts'
import { requireActiveUser } from '../chat/users/require.ts'
import type { Context } from '../context.ts'
import { authenticate, checkActorNamed, resolveApp } from '../protocol/caller.ts'
import { apiNotFound, databaseAway } from '../protocol/errors.ts'
import { compileCheck, sanitize, sanitizeRecords } from '../protocol/validation.ts'
import { compileQueryReader } from './query.ts'
import { takeFromLimits } from './rate-limits.ts'
import { readerOf } from './reader.ts'
import { isForm, readForm } from './uploads.ts'

/** What the kernel found out about a request before its body was read. */
interface Asked {
  app: App
  caller: Caller
}

/**
 * Makes a route of every operation. The order of checks is the contract's: app, credential, shape, actor, then what their
 * role denies altogether, then the rule.
 */
export function registerOperations(server: FastifyInstance, context: Context, routes: readonly Route[]): void {
  server.decorateRequest('asked')
  for (const route of routes) registerOperation(server, context, route)
}

function registerOperation(server: FastifyInstance, context: Context, { operation, handle, options }: Route): void {
  const readQuery = compileQueryReader(operation.query)
  const checkQuery = compileCheck('query', operation.query)
  const readHeaders = operation.headers && compileQueryReader(operation.headers)
  const checkHeaders = operation.headers && compileCheck('headers', operation.headers)
  const checkBody = operation.body && compileCheck('body', operation.body)
  const governance = governanceOf(operation.id)
  const declared = Object.keys((operation.body as { properties?: object } | undefined)?.properties ?? {})

  server.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: operation.id },
    schema: { response: { 200: operation.answer } },
    ...(operation.bodyLimit !== undefined && { bodyLimit: operation.bodyLimit }),
    onRequest: async (request, reply) => {
      // `/users/` is no operation of the contract.
      if (hasEmptyPart(request.params as Record<string, string>)) throw apiNotFound(request)
      if (!context.monitor.available) throw databaseAway()
      const app = await resolveApp(context, context.addresses.hostOf(request.raw), request.headers)
      const caller = await authenticate(context, app, operation, request.headers)
      if (context.rateLimiter.limits(operation)) {
        await takeFromLimits(context.rateLimiter, reply, app, caller, operation)
      }
      ;(request as AskedRequest).asked = { app, caller }
    },
    handler: async (request, reply) => {
      const { app, caller } = (request as AskedRequest).asked
      const params = readParams(request)
      const query = sanitize(readQuery(request.query as Record<string, string>), 'query') as Record<string, unknown>
      checkQuery(query)
      const headers = readHeaders?.(request.headers) ?? {}
      checkHeaders?.(headers)
      const form = isForm(request) ? await readForm(request, operation, app, context) : undefined
      const files = form?.files ?? []
      try {
        const body = checkBody && readBody(form?.body ?? request.body, declared, options.takesRecords === true)
        checkBody?.(body)
        checkActorNamed(operation, caller)
        const actor =
          caller.kind === 'user' && options.checksActor !== true
            ? await requireActiveUser(context.database, app.appId, caller.uid)
            : undefined
        const policy = actor && (await context.policies.of(app.appId, actor.role))
        if (governance !== undefined) requireGoverned(policy, governance)
        const input = { params, query, headers: headers as never, body: body as never }
        const acting = operation.onBehalfOf === 'ignored' ? undefined : actor
        const call = {
          app,
          caller,
          host: context.addresses.publicHostOf(request.raw),
          files,
          actor: acting,
          policy,
          ...input,
        }
        const database = context.database.readAs(readerOf(app, caller, reply))
        const answer = await handle(call, { ...context, database })
        return answer instanceof Serialized ? written(reply, answer) : answer
      } catch (error) {
        if (files.length > 0)
          await context.media.discard(
            app,
            files.map(({ key }) => key),
          )
        throw error
      }
    },
  })
}

/** Sends an answer as it is: there is nothing left to serialise. */
function written(reply: FastifyReply, { text }: Serialized<unknown>): string {
  reply.header('content-type', 'application/json; charset=utf-8')
  return text
}

function hasEmptyPart(params: Record<string, string>): boolean {
  for (const name in params) if (params[name] === '') return true
  return false
}

type AskedRequest = FastifyRequest & { asked: Asked }

function readParams(request: FastifyRequest): Record<string, string> {
  const params = request.params as Record<string, string>
  for (const [name, value] of Object.entries(params)) {
    if (value.includes('\0')) throw badRequest([{ path: `params/${name}`, message: 'contains a NUL character' }])
  }
  return params
}

/** The body as far as it is declared: unknown members are ignored, so no rule can meet one by accident. */
function readBody(sent: unknown, declared: readonly string[], takesRecords: boolean): unknown {
  const body = sent === undefined ? {} : takesRecords ? sanitizeRecords(sent, declared) : sanitize(sent, 'body')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const members = body as Record<string, unknown>
  const read: Record<string, unknown> = {}
  for (const name of declared) if (Object.hasOwn(members, name)) read[name] = members[name]
  return read
}
