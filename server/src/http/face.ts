import type { Operation } from '@parley/contract'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Audit, AuditActor } from '../chat/audit/audit.ts'
import type { App, Caller } from '../chat/identity.ts'
import type { RateLimitName } from '../config/rate-limits.ts'
import type { Context } from '../context.ts'
import { databaseAway } from '../faults.ts'
import type { CallerKind } from '../limits/rate-limiter.ts'
import { authenticate, checkAccess, resolveApp } from '../protocol/caller.ts'
import type { Deed, DeedLog } from './admin/deeds.ts'
import { createExhausted } from './exhausted.ts'
import { kindOf, takeFromLimits } from './rate-limits.ts'
import { auditActorOf } from './reader.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What is known of a request before its body was read. */
    asked: Asked | undefined
  }
}

/** Before authentication, and if it fails, there is no caller. */
export interface Asked {
  readonly app: App
  readonly caller?: Caller
}

/** The limits of an operation, by the kind of caller. */
export type LimitedBy = Readonly<Record<CallerKind, readonly RateLimitName[]>>

/** By which the operations of the contract are called: the public API, or that of operators. */
export interface Face {
  /** Before the path of each operation. */
  readonly prefix: string
  readonly config: FastifyContextConfig
  /**
   * Finds the app and the caller, notes them in `asked`, and counts the request.
   * @param limitedBy the limits of the operation
   * @throws what refuses them
   */
  arrive(request: FastifyRequest, reply: FastifyReply, operation: Operation, limitedBy: LimitedBy): Promise<void>
  /** Who the request writes to the audit log as. */
  actorOf(request: FastifyRequest, caller: Caller): AuditActor
  /** Sees to it that what a call changes is in the audit log. */
  follow?(audit: Audit, deed: Deed): DeedLog
  /** Looks at the query, once it is known to be as declared. @throws what refuses it */
  checkQuery?(request: FastifyRequest, operation: Operation, query: Record<string, unknown>): void
  /** Looks at the body, once it is known to be as declared. @throws what refuses it */
  checkBody?(request: FastifyRequest, operation: Operation, body: unknown): void
  /** What becomes of an answer on its way out. */
  onAnswer?(request: FastifyRequest, reply: FastifyReply, answer: string): string | Promise<string>
}

/** The public API: by API key or auth token. */
export function createPublicFace(context: Context): Face {
  const exhausted = createExhausted(context.limits)
  const { rateLimiter } = context.limits
  return {
    prefix: '',
    config: {},
    async arrive(request, reply, operation, limitedBy) {
      if (!context.monitor.available) throw databaseAway()
      const app = await resolveApp(context, context.addresses.hostOf(request.raw), request.headers)
      request.asked = { app }
      // Beside a key it does not count.
      const token = request.headers.apikey === undefined ? request.headers.authtoken : undefined
      await exhausted.check(app, token, reply)
      const caller = await authenticate(context, app, operation, request.headers, request.client)
      request.asked = { app, caller }
      checkAccess(operation, caller)
      const limited = limitedBy[kindOf(caller)]
      if (limited.length === 0) return
      await takeFromLimits(rateLimiter, reply, app, caller, limited).catch((error: unknown) => {
        exhausted.note(app, token, error)
        throw error
      })
    },
    actorOf: (request, caller) => auditActorOf(caller, request.clientAddress),
  }
}
