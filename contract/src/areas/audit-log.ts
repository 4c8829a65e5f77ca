import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { NoParams, oneOf } from '../schemas.ts'
import { auditActions } from './audit-actions.ts'

export type AuditAction = (typeof auditActions)[number]

export const auditTargetTypes = [
  'app',
  'apikey',
  'user',
  'group',
  'role',
  'webhook',
  'provider',
  'engine',
  'rule',
  'list',
  'reason',
  'message',
  'conversation',
  'operator',
  'session',
  'doctor',
  'master_key',
] as const

export const auditCallers = ['fullAccess', 'authOnly', 'token', 'operator', 'command', 'service'] as const

const fingerprint = { description: 'The first 8 digits of the digest of an API key, as in the log' }

export const AuditEntry = Type.Object({
  id: Type.String(),
  action: oneOf(...auditActions),
  createdAt: Type.Integer(),
  actor: Type.Object({
    caller: oneOf(...auditCallers),
    key: Type.Optional(Type.String(fingerprint)),
    uid: Type.Optional(Type.String({ description: 'The acting user' })),
    operator: Type.Optional(Type.String({ description: 'ID of the operator' })),
    token: Type.Optional(Type.String({ description: 'ID of the personal token that the operator acted by' })),
    address: Type.Optional(Type.String({ description: 'IP address of the client' })),
  }),
  target: Type.Object({ type: oneOf(...auditTargetTypes), id: Type.String() }),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})
export type AuditEntry = Static<typeof AuditEntry>

const time = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }))

/** Beyond the public contract: who did what an operator may have to account for. */
export const listAuditLog = defineOperation({
  id: 'list-audit-log',
  area: 'Apps',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  method: 'GET',
  path: '/audit-log',
  summary: 'List the audit log, newest entries first',
  description: 'All filters can be combined. For the next page, send `meta.next.before` as `before`.',
  params: NoParams,
  query: Type.Object({
    action: Type.Optional(oneOf(...auditActions)),
    key: Type.Optional(Type.String({ pattern: '^[0-9a-f]{8}$', ...fingerprint })),
    uid: Type.Optional(Type.String({ minLength: 1, maxLength: limits.uidLength, description: 'The acting user' })),
    operator: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$', description: 'ID of the operator' })),
    targetType: Type.Optional(oneOf(...auditTargetTypes)),
    target: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'ID of the target' })),
    from: time('Only entries from this time on'),
    to: time('Only entries up to this time'),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    before: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}_[0-9]{1,15}$', description: 'Only older entries' })),
  }),
  answer: Type.Object({
    data: Type.Array(AuditEntry),
    meta: Type.Object({
      current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
      next: Type.Optional(Type.Object({ before: Type.String() })),
    }),
  }),
  errors: [],
})
