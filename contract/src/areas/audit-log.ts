import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { NoParams, oneOf } from '../schemas.ts'

/** What is recorded in the audit log. */
export const auditActions = [
  'app_created',
  'app_settings_updated',
  'app_paused',
  'app_resumed',
  'app_deleted',
  'app_undeleted',
  'app_removed',
  'notification_settings_updated',
  'apikey_created',
  'apikey_updated',
  'apikey_deleted',
  'token_created',
  'token_deleted',
  'user_created',
  'user_updated',
  'user_deleted',
  'group_retention_updated',
  'retention_hold_set',
  'retention_hold_lifted',
  'person_export_asked',
  'person_export_released',
  'person_export_made',
  'person_export_fetched',
  'user_banned',
  'user_unbanned',
  'group_deleted',
  'role_created',
  'role_updated',
  'role_deleted',
  'role_permissions_updated',
  'role_features_updated',
  'scope_permissions_updated',
  'data_imported',
  'webhook_created',
  'webhook_updated',
  'webhook_deleted',
  'provider_created',
  'provider_updated',
  'provider_deleted',
  'moderation_engine_updated',
  'moderation_engine_deleted',
  'moderation_rule_created',
  'moderation_rule_updated',
  'moderation_rule_deleted',
  'moderation_dry_run_started',
  'moderation_list_created',
  'moderation_list_updated',
  'moderation_list_deleted',
  'moderation_reason_created',
  'moderation_reason_updated',
  'moderation_reason_deleted',
  'message_reviewed',
  'moderation_acted',
  'operator_created',
  'operator_updated',
  'operator_deleted',
  'operator_invited',
  'operator_invitation_withdrawn',
  'operator_signed_in',
  'operator_signed_out',
  'operator_session_ended',
  'operator_password_changed',
  'operator_linked',
  'operator_unlinked',
  'operator_sign_in_refused',
  'operator_totp_enabled',
  'operator_totp_disabled',
  'operator_token_created',
  'operator_token_deleted',
  'reading_opened',
  'doctor_started',
  'doctor_stopped',
  'master_key_changed',
] as const
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
