import type { GovernedOperations } from './governance.ts'

/** A feature that can be restricted for a role, as the list of restrictions describes it. */
export interface RestrictedFeature extends GovernedOperations {
  readonly title: string
  readonly description: string
  /** The route of the contract that it controls, without the host; placeholders in double braces. */
  readonly path: string
}

const prefix = 'u.'

type FeatureRow = readonly [
  title: string,
  description: string,
  path: string,
  operations?: readonly string[],
  within?: readonly string[],
]

/**
 * Every feature that can be restricted: the older way to deny things to a role. If a feature has no operation here
 * (calls, and what the contract names but does not describe), the restriction is only stored and listed.
 */
const table = {
  // Users
  listUsers: ['List users', 'A user may list users', '/v3/users', ['list-users']],
  getUser: ['Get a user', 'A user may read the profile of a user', '/v3/users/{{uid}}', ['get-user']],
  getMyDetails: ['Get own profile', 'A user may read their own profile', '/v3/me', ['get-me']],
  updateAuthToken: [
    'Update own auth token',
    'A user may set the device and app that their auth token is used on, as front ends do at login',
    '/v3/me',
    ['update-authtoken'],
    ['update-me'],
  ],
  logout: ['Log out', 'A user may log out', '/v3/me', ['log-out']],
  listSettings: ['List settings', 'A user may read the settings of the app', '/v3/settings', ['get-settings']],
  blockUser: ['Block users', 'A user may block users', '/v3/blockedusers', ['block-users-as-me']],
  unblockUser: ['Unblock users', 'A user may unblock users', '/v3/blockedusers', ['unblock-users-as-me']],
  getBlockedUsers: [
    'List blocked users',
    'A user may list the users they have blocked',
    '/v3/blockedusers',
    ['list-users-blocked-by-me'],
  ],

  // Groups
  createGroup: ['Create a group', 'A user may create a group', '/v3/groups', ['create-group']],
  listGroups: ['List groups', 'A user may list groups', '/v3/groups', ['list-groups']],
  getGroup: ['Get a group', 'A user may read a group', '/v3/groups/{{guid}}', ['get-group']],
  updateGroup: [
    'Update a group',
    'An owner, admin or moderator may change a group',
    '/v3/groups/{{guid}}',
    ['update-group'],
  ],
  deleteGroup: ['Delete a group', 'A user may delete a group', '/v3/groups/{{guid}}', ['delete-group']],
  patchOwner: [
    'Transfer a group',
    'An owner may transfer the ownership of a group',
    '/v3/groups/{{guid}}/owner',
    ['pass-on-group-ownership'],
  ],

  // Members and bans
  joinGroup: ['Join a group', 'A user may join a group', '/v3/groups/{{guid}}/members', [], ['add-group-members']],
  leaveGroup: ['Leave a group', 'A user may leave a group', '/v3/groups/{{guid}}/members', ['leave-group']],
  addMember: [
    'Add a member',
    'A member may add members to a group',
    '/v3/groups/{{guid}}/members',
    [],
    ['add-group-members', 'put-group-members', 'create-group'],
  ],
  massMemberOperate: [
    'Add and ban several at once',
    'An owner or admin may add members and ban users in bulk',
    '/v3/groups/{{guid}}/members',
    ['put-group-members'],
    ['add-group-members', 'create-group'],
  ],
  listGroupMembers: [
    'List group members',
    'A user may list the members of a group',
    '/v3/groups/{{guid}}/members',
    ['list-group-members'],
  ],
  // The list is the only way to read a member.
  getMember: [
    'Get a group member',
    'A user may read a member of a group',
    '/v3/groups/{{guid}}/members/{{uid}}',
    ['list-group-members'],
  ],
  changeScope: [
    'Change a scope',
    'An owner, admin or moderator may change the scope of a member',
    '/v3/groups/{{guid}}/members/{{uid}}',
    ['change-group-member-scope'],
  ],
  kickMember: [
    'Kick a member',
    'An owner, admin or moderator may kick a member',
    '/v3/groups/{{guid}}/members/{{uid}}',
    ['kick-group-member'],
  ],
  ban: [
    'Ban a user',
    'An owner, admin or moderator may ban a user from a group',
    '/v3/groups/{{guid}}/bannedusers/{{uid}}',
    ['ban-group-user'],
    ['add-group-members', 'put-group-members', 'create-group'],
  ],
  unban: [
    'Unban a user',
    'An owner, admin or moderator may unban a user from a group',
    '/v3/groups/{{guid}}/bannedusers/{{uid}}',
    ['unban-group-user'],
  ],
  listBannedUsers: [
    'List banned users',
    'A user may list who is banned from a group',
    '/v3/groups/{{guid}}/bannedusers',
    ['list-banned-group-users'],
  ],

  // Messages
  createMessage: ['Send a message', 'A user may send messages', '/v3/messages', [], ['send-message']],
  createMessageThread: [
    'Reply in a thread',
    'A user may reply in threads',
    '/v3/messages/{{id}}/thread',
    [],
    ['send-message', 'send-thread-message'],
  ],
  listMessages: [
    'List messages',
    'A user may list the messages of all their conversations',
    '/v3/messages',
    ['list-all-messages'],
  ],
  getUserMessages: [
    'List messages with a user',
    'A user may list the messages of a one-to-one conversation',
    '/v3/users/{{uid}}/messages',
    ['user-list-user-messages'],
  ],
  getGroupMessages: [
    'List messages of a group',
    'A user may list the messages of a group',
    '/v3/groups/{{guid}}/messages',
    ['user-list-group-messages'],
  ],
  listThreadedMessages: [
    'List a thread',
    'A user may list the replies of a thread, and their threads',
    '/v3/messages/{{id}}/thread',
    ['list-all-thread-messages', 'list-all-threads', 'list-user-threads', 'list-group-threads'],
  ],
  getMessage: ['Get a message', 'A user may read a message', '/v3/messages/{{id}}', ['get-message-details']],
  updateMessage: [
    'Edit a message',
    'A sender, moderator or admin may edit a message',
    '/v3/messages/{{id}}',
    ['update-message'],
  ],
  deleteMessage: ['Delete a message', 'A user may delete a message', '/v3/messages/{{id}}', ['delete-message']],
  deleteGroupMessages: [
    'Delete messages of a group',
    'A user may delete the messages of a group',
    '/v3/groups/{{guid}}/messages',
    [],
    ['delete-message'],
  ],

  // Conversations
  listConversations: [
    'List conversations',
    'A user may list their conversations',
    '/v3/conversations',
    ['list-all-conversations'],
  ],
  getConversation: [
    'Get a conversation',
    'A user may read one of their conversations',
    '/v3/users/{{uid}}/conversation',
    ['get-conversation', 'get-user-conversations', 'get-group-conversations'],
  ],
  deleteConversationForUser: [
    'Delete a conversation',
    'A user may delete a conversation for themselves',
    '/v3/users/{{uid}}/conversation',
    ['reset-user-conversation', 'reset-group-conversation', 'delete-conversation'],
  ],

  // Calls
  createCall: ['Start a call', 'A user may start calls', '/v3/calls'],
  listCalls: ['List calls', 'A user may list calls', '/v3/calls'],
  getCall: ['Get a call', 'A user may read a call', '/v3/calls/{{sessionid}}'],
  updateCall: ['Update a call', 'A user may change a call', '/v3/calls/{{sessionid}}'],
  deleteCall: ['Delete a call', 'A user may delete a call', '/v3/calls/{{sessionid}}'],
} as const satisfies Record<string, FeatureRow>

/** Key of a feature without its prefix `u.`. */
export type FeatureKey = keyof typeof table

/** Every feature that can be restricted, by its key without prefix, in the order of the contract's areas. */
export const restrictedFeatures: ReadonlyMap<FeatureKey, RestrictedFeature> = new Map(
  Object.entries(table as Record<FeatureKey, FeatureRow>).map(
    ([key, [title, description, path, operations = [], within = []]]) => [
      key as FeatureKey,
      { title, description, path, operations, within },
    ],
  ),
)

/** The key as responses show it. */
export function featureName(key: FeatureKey): string {
  return prefix + key
}

/** Reads a key with or without its prefix; undefined if there is no such feature. */
export function readFeature(sent: string): FeatureKey | undefined {
  const key = sent.startsWith(prefix) ? sent.slice(prefix.length) : sent
  return Object.hasOwn(table, key) ? (key as FeatureKey) : undefined
}
