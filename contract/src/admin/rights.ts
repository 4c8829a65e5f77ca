import type { Area, Operation } from '../operation.ts'

/** What operators are. A role is a set of rights; which apps they have it for is a matter of the account. */
export const operatorRoles = ['owner', 'developer', 'moderator', 'support'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** What operators may do, each with what it means. */
export const operatorRights = {
  look: 'See users, groups, settings, rules, logs and figures, without what people wrote',
  read: 'Read what people wrote, for a reason that is recorded',
  moderate: 'Decide about messages and users: review, ban, delete, end sessions',
  rules: 'Change rules and lists of moderation, and try them',
  manage: 'Create and change users, groups and messages, and import',
  configure: 'Change settings, roles, permissions, webhooks and providers, pause the app',
  keys: 'See and change API keys and auth tokens',
  apps: 'Create and delete apps',
  health: 'See how the deployment does: database, disk, jobs, what the doctor found',
  doctor: 'Run the doctor',
  operators: 'Invite and change operators',
} as const
export type OperatorRight = keyof typeof operatorRights

/** What is of the whole deployment is no right of an operator of some apps. */
export const deploymentRights: readonly OperatorRight[] = ['apps', 'health', 'doctor', 'operators']

/** Reading is a right of its own: an account may have it beyond its role, or lack it. */
export const rightsOfRoles: Readonly<Record<OperatorRole, readonly OperatorRight[]>> = {
  owner: Object.keys(operatorRights) as OperatorRight[],
  developer: ['look', 'read', 'rules', 'manage', 'configure', 'keys', 'health', 'doctor'],
  moderator: ['look', 'read', 'moderate', 'rules', 'health'],
  support: ['look', 'health'],
}

/** The right that writing asks for, by area. */
const writing: Readonly<Record<Area, OperatorRight>> = {
  'API Keys': 'keys',
  Apps: 'configure',
  'Auth Tokens': 'keys',
  'Banned Users': 'moderate',
  'Blocked Users': 'manage',
  Conversations: 'manage',
  'Data Import': 'manage',
  Friends: 'manage',
  'Group Members': 'manage',
  Groups: 'manage',
  Messages: 'manage',
  Metrics: 'configure',
  Moderation: 'rules',
  Notifications: 'configure',
  RBAC: 'configure',
  'Restrict Features': 'configure',
  Roles: 'configure',
  Users: 'manage',
  Webhooks: 'configure',
}

/** What is otherwise than its area: what moderators do, and what shows credentials of others. */
const exceptions: Readonly<Partial<Record<OperatorRight, readonly string[]>>> = {
  moderate: [
    'deactivate-users',
    'reactivate-users',
    'flush-authtokens',
    'kick-group-member',
    'delete-message',
    'flag-a-message',
    'review-flagged-messages',
    'blockreview-flagged-message',
    'review-blocked-message',
    'review-blocked-messages',
    'claim-moderated-messages',
    'release-moderation-claims',
    'add-moderation-note',
    'delete-moderation-note',
  ],
  manage: [
    'get-user-export',
    'chat-api-send-message-moderation',
    'chat-api-update-message-moderation',
    'chat-api-delete-message-moderation',
  ],
  configure: [
    'get-moderation-engines',
    'update-custom-api-engine',
    'update-labels-engine',
    'update-llm-engine',
    'delete-labels-engine',
    'delete-llm-engine',
    'get-smtp-provider',
    'get-web-push-provider',
    'notifications-push-list-apns-providers',
    'notifications-push-list-fcm-providers',
    'notifications-list-push-custom-provider',
    'notifications-list-email-custom-provider',
    'notifications-list-sms-custom-provider',
    'notifications-email-list-sendgrid-details',
    'notifications-sms-list-twilio-details',
    'list-webhooks',
    'get-webhook',
    'list-webhooks-here',
    'get-webhook-here',
  ],
}

const exceptional = new Map(
  Object.entries(exceptions).flatMap(([right, ids]) => ids.map((id) => [id, right as OperatorRight] as const)),
)

/** The right that an operation of the public contract asks of an operator who calls it for an app. */
export function rightOf({ id, area, method }: Pick<Operation, 'id' | 'area' | 'method'>): OperatorRight {
  const exception = exceptional.get(id)
  if (exception !== undefined) return exception
  if (method !== 'GET') return writing[area]
  return writing[area] === 'keys' ? 'keys' : 'look'
}

/**
 * The right that a body asks for beside that of its operation: whoever makes a key or an auth token by the way, or says who signs
 * tokens of users, could do all that these open.
 */
export function furtherRightOf({ id }: Pick<Operation, 'id'>, body: unknown): OperatorRight | undefined {
  return makesCredentials[id]?.(body as Record<string, unknown>) === true ? 'keys' : undefined
}

const makesCredentials: Readonly<Record<string, (body: Record<string, unknown>) => boolean>> = {
  'create-user': ({ withAuthToken }) => withAuthToken === true,
  'import-records': ({ records }) => Object.values(records ?? {}).some(isCredential),
  'update-app-settings': (settings) => ['jwtIssuer', 'jwtAudience', 'jwtKeysUrl'].some((name) => name in settings),
}

function isCredential(record: { kind?: unknown } | null): boolean {
  return record?.kind === 'apiKey' || record?.kind === 'authToken'
}
