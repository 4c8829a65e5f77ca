import { type ApiError, furtherRightOf, type Operation, type OperatorRight, rightOf } from '@parley/contract'
import type { FastifyRequest } from 'fastify'
import { everything, isOfApp, listOwnReadings, type Operator, recordReads } from '../../areas/operators/index.ts'
import { AppPausedError, type RegisteredApp, unknownApp } from '../../chat/apps.ts'
import type { AuditActor } from '../../chat/audit/audit.ts'
import type { Caller } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { Face } from '../face.ts'
import { followDeed } from './deeds.ts'
import { actsAsNobody, lacksRight, readingRequired } from './errors.ts'
import { adminPrefix, authenticateOperator, checkGate, isolate } from './gate.ts'
import { leaveOutTexts } from './texts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** IDs of the conversations that the operator may read at the moment, `*` for all of the app, and why. */
    readings: ReadonlyMap<string, string> | undefined
  }
}

/** Says how many texts an answer lacks: begin a reading to see them. */
const leftOutHeader = 'x-texts-left-out'

/** No API key is used. */
const noKey = { keyDigest: Buffer.alloc(0), keyOrigin: Buffer.alloc(0), keyLine: [], scope: 'fullAccess' } as const

/**
 * The operations of the contract for operators, below `/admin/v1/apps/{appId}`: called as the app, with the right that each asks
 * for. An operator looks through a user's eyes (`onBehalfOf`), but never acts as a user.
 */
export function createOperatorFace(context: Context): Face {
  return {
    prefix: `${adminPrefix}/apps/:ofApp`,
    config: { withoutPrefix: true },
    async arrive(request, reply, operation) {
      checkGate(context, request)
      const operator = await authenticateOperator(context, request, reply)
      const { ofApp = '', ...params } = request.params as Record<string, string>
      request.params = params
      const app = await findAppOf(context, operator, ofApp)
      const right = rightOf(operation)
      requireRight(operator, right)
      checkRunning(app, operation, right)
      const caller = callerOf(operation, operator, request)
      const readings = operator.rights.has('read') ? await listOwnReadings(context, app, operator) : []
      request.readings = new Map(readings.map(({ of, reason }) => [of, reason]))
      request.asked = { app, caller }
    },
    actorOf: (request, caller) => ({
      ...actorOf(request),
      uid: caller.kind === 'user' ? caller.uid : undefined,
    }),
    follow: followDeed,
    checkQuery(request, { area }, { searchKey, tags }) {
      // Whoever finds by a text knows it.
      const isOfTexts = (searchKey ?? tags) !== undefined && area === 'Messages'
      if (isOfTexts && !request.readings?.has(everything)) throw refusedTexts(request)
    },
    checkBody({ operator }, operation, body) {
      const right = furtherRightOf(operation, body)
      if (right !== undefined) requireRight(operator as Operator, right)
    },
    onAnswer(request, reply, answer) {
      isolate(reply)
      if (reply.statusCode !== 200) return answer
      const { readings = new Map<string, string>(), operator, asked } = request
      const parsed = JSON.parse(answer)
      const reasonForAll = readings.get(everything)
      if (reasonForAll !== undefined && operator !== undefined && asked !== undefined) {
        // Whoever may read everything is shown all of it; which conversations that were, is recorded.
        const read = new Set<string>()
        leaveOutTexts(parsed, { isOpen: () => true, onRead: (of) => void (readings.has(of) || read.add(of)) })
        if (read.size === 0) return answer
        const audit = context.audit.by(actorOf(request))
        return recordReads({ ...context, audit }, asked.app.appId, operator, read, reasonForAll).then(() => answer)
      }
      const leftOut = leaveOutTexts(parsed, { isOpen: (conversation) => readings.has(conversation) })
      if (leftOut === 0) return answer
      reply.header(leftOutHeader, leftOut)
      const text = JSON.stringify(parsed)
      // Unless the answer is written in portions, its length was set.
      if (reply.hasHeader('content-length')) reply.header('content-length', Buffer.byteLength(text))
      return text
    },
  }
}

/** Who an operator's request writes to the audit log as. */
export function actorOf({ operator, clientAddress }: FastifyRequest): AuditActor {
  return { caller: 'operator', operator: operator?.account.id, token: operator?.tokenId, address: clientAddress }
}

function callerOf(operation: Operation, operator: Operator, { headers, method }: FastifyRequest): Caller {
  const onBehalfOf = headers.onbehalfof
  if (typeof onBehalfOf !== 'string' || operation.onBehalfOf === 'ignored') return { kind: 'app', ...noKey }
  if (method !== 'GET' && method !== 'HEAD') {
    throw actsAsNobody()
  }
  requireRight(operator, 'read')
  return { kind: 'user', uid: onBehalfOf.trim().toLowerCase(), via: 'key', ...noKey }
}

/** @throws 403 `ERR_PERMISSION_DENIED` */
export function requireRight({ rights }: Operator, right: OperatorRight): void {
  if (!rights.has(right)) throw lacksRight(right)
}

/** @throws 404 `ERR_APP_NOT_FOUND`: an app that the operator has nothing to do with is as unknown as one that does not exist */
export async function findAppOf({ apps }: Context, operator: Operator, name: string): Promise<RegisteredApp> {
  const app = await apps.find(name.toLowerCase())
  if (app === undefined || !isOfApp(operator, app.appId)) throw unknownApp(name)
  return app
}

/** Of a paused app there is to see what there was, and its settings, rules and keys can be changed. */
const changesPaused: ReadonlySet<OperatorRight> = new Set(['rules', 'configure', 'keys'])

/** Seconds. It goes on when somebody resumes it: whoever waited would be told so too late. */
const untilResumed = 60

/** @throws 404 for an app that is being removed; 503 `ERR_MISSION_FAILED` where what is asked waits until the app goes on */
function checkRunning(app: RegisteredApp, { method }: Operation, right: OperatorRight): void {
  if (app.removingAt !== null) throw unknownApp(app.name)
  if (app.pausedAt === null || method === 'GET' || changesPaused.has(right)) return
  throw new AppPausedError(app.name, 'Resume it first.').retryAfter(untilResumed)
}

function refusedTexts({ operator }: FastifyRequest): ApiError {
  return operator?.rights.has('read') === true ? readingRequired() : lacksRight('read')
}
