import { badRequest, type Governance, governanceOf, type Operation } from '@parley/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Call, ConfirmedActor, RecalledActor, Route } from '../call.ts'
import type { App } from '../chat/identity.ts'
import type { KnownEntity } from '../chat/messages/entity-cache.ts'
import { deniesWhole, requireGoverned } from '../chat/roles/rules.ts'
import { requireActiveUser } from '../chat/users/require.ts'
import type { UserRow } from '../chat/users/rows.ts'
import type { Context } from '../context.ts'
import { checkActorNamed } from '../protocol/caller.ts'
import { apiNotFound, unsupportedMediaType } from '../protocol/errors.ts'
import { compileCheck, sanitize, sanitizeRecords } from '../protocol/validation.ts'
import { contextOf } from '../traced-context.ts'
import type { Asked, Face } from './face.ts'
import { compileQueryReader } from './query.ts'
import { kindOf, takeForReceivers } from './rate-limits.ts'
import { readerOf } from './reader.ts'
import { readTextForm } from './text-form.ts'
import { discardFiles, isForm, type ReadForm, readForm } from './uploads.ts'
import { createUserTurns, type UserTurns } from './user-turns.ts'

type Files = Call<Operation>['files']

/**
 * Makes a route of every operation. The order of checks is the contract's: app, credential, shape, actor, then what their
 * role denies altogether, then the rule.
 */
export function registerOperations(
  server: FastifyInstance,
  context: Context,
  routes: readonly Route[],
  faces: readonly Face[],
): void {
  server.decorateRequest('asked')
  const turns = createUserTurns()
  for (const face of faces) for (const route of routes) registerOperation(server, context, turns, face, route)
}

function registerOperation(
  server: FastifyInstance,
  context: Context,
  turns: UserTurns,
  face: Face,
  { operation, handle, options }: Route,
): void {
  const readQuery = compileQueryReader(operation.query)
  const checkQuery = compileCheck('query', operation.query)
  const readHeaders = operation.headers && compileQueryReader(operation.headers)
  const checkHeaders = operation.headers && compileCheck('headers', operation.headers)
  const checkBody = operation.body && compileCheck('body', operation.body)
  const governance = governanceOf(operation.id)
  const { rateLimiter } = context.limits
  const limitedBy = {
    frontEnd: rateLimiter.limitsOf(operation, 'frontEnd'),
    server: rateLimiter.limitsOf(operation, 'server'),
  }
  const declared = Object.keys((operation.body as { properties?: object } | undefined)?.properties ?? {})

  server.route({
    method: operation.method,
    url: face.prefix + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: operation.id, ...face.config },
    schema: { response: { 200: operation.answer } },
    ...(operation.bodyLimit !== undefined && { bodyLimit: operation.bodyLimit }),
    onRequest: async (request, reply) => {
      // `/users/` is no operation of the contract.
      if (hasEmptyPart(request.params as Record<string, string>)) throw apiNotFound(request)
      await face.arrive(request, reply, operation, limitedBy)
    },
    onSend: (request, reply, payload, done) => {
      const app = request.asked?.app
      if (app === undefined || typeof payload !== 'string') return done(null, payload)
      const link = (answer: string) => {
        if (!answer.includes('/media/')) return done(null, answer)
        context.fileLinks.inText(app, answer).then((text) => done(null, text), done)
      }
      const answer = face.onAnswer?.(request, reply, payload) ?? payload
      if (typeof answer === 'string') return link(answer)
      answer.then(link, done)
    },
    handler: async (request, reply) => {
      const { app, caller } = request.asked as Required<Asked>
      const params = readParams(request)
      const query = sanitize(readQuery(request.query as Record<string, string>), 'query') as Record<string, unknown>
      checkQuery(query)
      face.checkQuery?.(request, operation, query)
      const headers = readHeaders?.(request.headers) ?? {}
      checkHeaders?.(headers)
      const { database: own, policies, media } = context
      const identify = async (readsActor: boolean) => {
        checkActorNamed(operation, caller)
        const actor =
          caller.kind === 'user' && readsActor ? await requireActiveUser(own, app.appId, caller.uid) : undefined
        const policy = actor && (await policies.of(app.appId, actor.role))
        if (governance !== undefined) requireGoverned(policy, governance)
        return { actor: operation.onBehalfOf === 'ignored' ? undefined : actor, policy }
      }
      const check = (sent: unknown) => {
        const body = checkBody && readBody(sent, declared, operation, options)
        checkBody?.(body)
        face.checkBody?.(request, operation, body)
        return body
      }
      const countReceivers = (body: unknown): Promise<void> | undefined => {
        if (options.receiversOf === undefined || !limitedBy[kindOf(caller)].includes('sendPerUser')) return undefined
        return takeForReceivers(rateLimiter, reply, app, caller, options.receiversOf(body as object))
      }
      const reader = readerOf(app, caller, reply)
      const isTrusted = caller.kind !== 'user' || caller.via === 'key' ? caller.scope !== 'authOnly' : false
      const answer = async (acting: Awaited<ReturnType<typeof identify>>, body: unknown, files: Files) => {
        const stripping = context.fileLinks.strip(app, body, !isTrusted)
        if (stripping !== undefined) await stripping
        const host = context.addresses.publicHostOf(request.raw)
        const origin = () => context.addresses.publicUrlOf(request.raw)
        const { actor, policy } = acting
        const call = {
          app,
          caller,
          actor,
          policy,
          host,
          origin,
          params,
          query,
          headers: headers as never,
          body: body as never,
          files,
        }
        const database = own.readAs(reader)
        const audit = context.audit.by(() => face.actorOf(request, caller))
        const deeds = face.follow?.(audit, { operation, app, params, body })
        const audited = deeds?.audit ?? audit
        const answered = await handle(call, contextOf(context, request.span, { database, audit: audited }))
        await deeds?.finish(own)
        return answered
      }
      const takeShortcut = async () => {
        if (options.shortcut === undefined || caller.kind !== 'user' || face.follow !== undefined) return undefined
        const actor = await recallActor(context, app, caller.uid, governance)
        if (actor === undefined) return undefined
        const call = { app, caller, actor, params, query }
        return options.shortcut(call, contextOf(context, request.span, { database: own.readAs(reader) }))
      }
      const isTextForm = operation.readsFile !== undefined && isForm(request)
      if (!isForm(request) || isTextForm) {
        const sent = isTextForm
          ? await readTextForm(request, operation, context.config.uploadStallSeconds)
          : request.body
        const body = check(sent)
        await countReceivers(body)
        return turns.run(caller, reader, async () => {
          const shortcut = await takeShortcut()
          return shortcut ?? answer(await identify(options.checksActor !== true), body, [])
        })
      }
      if (operation.takesFiles !== true) throw unsupportedMediaType()
      // Of a form everything is asked before it is read; its fields are checked as they come.
      const acting = await identify(true)
      const judge = async ({ body, files }: ReadForm) => {
        const fields = check(body) as Record<string, unknown>
        await options.judgeForm?.({ app, caller, params, ...acting, body: fields, files }, context)
      }
      const uid = caller.kind === 'user' ? caller.uid : undefined
      const form = await readForm(request, { app, uid, judge }, context)
      try {
        const body = check(form.body)
        await countReceivers(body)
        return await turns.run(caller, reader, () => answer(acting, body, form.files))
      } catch (error) {
        await discardFiles(media, app, form.files)
        throw error
      }
    },
  })
}

/** Who acts, for a shortcut; undefined where they may not make the call, as they are remembered. */
async function recallActor(
  { messages: { entities }, policies }: Pick<Context, 'messages' | 'policies'>,
  { appId }: App,
  uid: string,
  governance: Governance | undefined,
): Promise<RecalledActor | undefined> {
  const admit = async (known: KnownEntity<UserRow>): Promise<ConfirmedActor | undefined> => {
    const { row } = known
    if (row === undefined || row.deactivatedAt !== null) return undefined
    const policy = await policies.of(appId, row.role)
    if (policy !== undefined && deniesWhole(policy, governance)) return undefined
    return { known, row, policy }
  }
  const remembered = entities.lastRead(appId, uid)
  const taken = remembered && (await admit(remembered))
  if (remembered !== undefined && taken === undefined) return undefined
  return {
    uid,
    revision: remembered?.revision ?? 0,
    policy: taken?.policy,
    async confirm(current) {
      if (current === undefined) return undefined
      if (current.revision === taken?.known.revision) return taken
      return admit(await entities.user(appId, uid, current))
    },
  }
}

function hasEmptyPart(params: Record<string, string>): boolean {
  for (const name in params) if (params[name] === '') return true
  return false
}

function readParams(request: FastifyRequest): Record<string, string> {
  const params = request.params as Record<string, string>
  for (const [name, value] of Object.entries(params)) {
    if (value.includes('\0')) throw badRequest([{ path: `params/${name}`, message: 'contains a NUL character' }])
  }
  return params
}

/** The body as far as it is declared: unknown members are ignored, so no rule can meet one by accident. */
function readBody(
  sent: unknown,
  declared: readonly string[],
  { needsBody }: Route['operation'],
  { takesRecords }: Route['options'],
): unknown {
  if (sent === undefined && needsBody === true) throw badRequest([{ path: 'body', message: 'is required' }])
  const body = sent === undefined ? {} : takesRecords ? sanitizeRecords(sent, declared) : sanitize(sent, 'body')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const members = body as Record<string, unknown>
  const read: Record<string, unknown> = {}
  for (const name of declared) if (Object.hasOwn(members, name)) read[name] = members[name]
  return read
}
