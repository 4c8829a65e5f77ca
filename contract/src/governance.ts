import type { RolePermissionKey } from './permissions.ts'
import { type FeatureKey, restrictedFeatures } from './restricted-features.ts'

/** The ids of the operations that one permission or feature of a role controls. */
export interface GovernedOperations {
  /** Refused as a whole if denied. */
  readonly operations: readonly string[]
  /** Only some uses are refused (a reply, a join, a profile change); the operation itself checks. */
  readonly within: readonly string[]
}

const whole = (...operations: string[]): GovernedOperations => ({ operations, within: [] })
const within = (...operations: string[]): GovernedOperations => ({ operations: [], within: operations })

/** A permission that is set to allow or deny, as opposed to one that narrows another. */
type PlainKey = Exclude<RolePermissionKey, `${string}.${string}`>

/** What a role cannot do if a permission is denied. Sub-keys narrow the same operations. */
export const permittedOperations: Readonly<Record<PlainKey, GovernedOperations>> = {
  listUsers: whole('list-users'),
  getUserDetails: whole('get-user'),
  // Front ends log in with the same operation, without any profile fields.
  editProfile: within('update-me'),
  blockUser: whole('block-users-as-me'),
  listBlockedUser: whole('list-users-blocked-by-me'),
  unblockedUser: whole('unblock-users-as-me'),

  listMessages: whole('list-all-messages', 'user-list-user-messages', 'user-list-group-messages'),
  getMessageDetails: whole('get-message-details'),
  sendMessage: within('send-message'),
  editMessage: within('update-message'),
  deleteMessage: within('delete-message'),

  listThreadedMessages: whole(
    'list-all-thread-messages',
    'list-all-threads',
    'list-user-threads',
    'list-group-threads',
  ),
  sendThreadedMessage: within('send-message', 'send-thread-message'),
  editThreadedMessage: within('update-message'),
  deleteThreadedMessage: within('delete-message'),

  listReactions: whole('list-all-reactions', 'get-message-reactions'),
  addReaction: whole('add-message-reactions', 'remove-message-reactions'),

  // Calls are out of scope: these permissions are stored and returned, without effect.
  initiateCall: whole(),
  joinCall: whole(),

  listConversations: whole(
    'list-all-conversations',
    'get-conversation',
    'get-user-conversations',
    'get-group-conversations',
  ),
  updateConversation: whole(
    'update-user-conversation',
    'update-group-conversation',
    'pin-user-conversation',
    'unpin-user-conversation',
    'pin-group-conversation',
    'unpin-group-conversation',
  ),
  deleteConversation: whole('reset-user-conversation', 'reset-group-conversation', 'delete-conversation'),

  listGroups: whole('list-groups'),
  getGroupDetails: whole('get-group'),
  createGroup: whole('create-group'),
  joinGroup: within('add-group-members'),
}

/** The permission a role needs, and the feature that must not be restricted, for an operation as a whole. */
export interface Governance {
  readonly permissions: readonly RolePermissionKey[]
  readonly features: readonly FeatureKey[]
}

/** Undefined if no role can be denied the operation as a whole. */
export function governanceOf(operationId: string): Governance | undefined {
  const permissions = keysOf(Object.entries(permittedOperations), operationId) as RolePermissionKey[]
  const features = keysOf(restrictedFeatures, operationId) as FeatureKey[]
  return permissions.length + features.length === 0 ? undefined : { permissions, features }
}

function keysOf(governed: Iterable<readonly [string, GovernedOperations]>, operationId: string): string[] {
  return [...governed].filter(([, { operations }]) => operations.includes(operationId)).map(([key]) => key)
}
