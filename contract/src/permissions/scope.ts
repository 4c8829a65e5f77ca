import {
  allowFriendsOrDeny,
  allowOrDeny,
  callTypes,
  customTypes,
  type GroupScope,
  messageCategories,
  messageTypes,
  mimeTypes,
  type PermissionRow,
  scopes,
  whiteOrBlackList,
} from './kinds.ts'

/** Permissions of the members of one scope in one group. */
export const scopeTable = {
  // The group and its members
  editGroup: ['Edit the group', allowOrDeny],
  deleteGroup: ['Delete the group', allowOrDeny],
  leaveGroup: ['Leave the group', allowOrDeny],
  listMembers: ['List the members', allowOrDeny],
  'listMembers.allowedScopes': ['Scopes of the members listed', scopes],
  addMembers: ['Add members', allowOrDeny],
  'addMembers.allowedScopes': ['Scopes that can be given to new members', scopes],
  kickMembers: ['Kick members', allowOrDeny],
  'kickMembers.allowedScopes': ['Scopes of the members that can be kicked', scopes],
  listBannedUsers: ['List the banned users', allowOrDeny],
  ban: ['Ban users', allowOrDeny],
  'ban.allowedScopes': ['Scopes of the members that can be banned', scopes],
  unban: ['Unban users', allowOrDeny],

  // Messages. Reading them cannot be denied as a whole, only narrowed.
  'listMessages.allowedMessageCategories': ['Message categories that can be read', messageCategories],
  'listMessages.allowedMessageTypes': ['Message types that can be read', messageTypes],
  'listMessages.historyBeforeJoin': ['Read messages sent before they joined', allowOrDeny],
  sendMessage: ['Send messages', allowOrDeny],
  'sendMessage.allowedMessageCategories': ['Message categories that can be sent', messageCategories],
  'sendMessage.allowedMessageTypes': ['Message types that can be sent', messageTypes],
  'sendMessage.allowedCustomTypes': ['Custom message types that can be sent', customTypes],
  'sendMessage.mimeTypeAccessControl': [
    'Whether the listed MIME types of attachments are allowed or denied',
    whiteOrBlackList,
  ],
  'sendMessage.mimeTypes': ['MIME types of attachments', mimeTypes],
  // The older form of the two above.
  'sendMessage.allowedMimeTypes': ['MIME types of attachments that can be sent', mimeTypes],
  editMessage: ['Edit messages', allowOrDeny],
  deleteMessage: ['Delete messages', allowOrDeny],

  // Threads
  listThreadedMessages: ['Read threads', allowOrDeny],
  sendThreadedMessage: ['Reply in threads', allowOrDeny],
  'sendThreadedMessage.allowedMessageCategories': ['Message categories of replies', messageCategories],
  'sendThreadedMessage.allowedMessageTypes': ['Message types of replies', messageTypes],
  'sendThreadedMessage.allowedCustomTypes': ['Custom message types of replies', customTypes],
  'sendThreadedMessage.mimeTypeAccessControl': [
    'Whether the listed MIME types of replies are allowed or denied',
    whiteOrBlackList,
  ],
  'sendThreadedMessage.mimeTypes': ['MIME types of attachments in replies', mimeTypes],
  editThreadedMessage: ['Edit replies', allowOrDeny],
  deleteThreadedMessage: ['Delete replies', allowOrDeny],

  // Reactions
  listReactions: ['See who reacted', allowOrDeny],
  'listReactions.allowedScopes': ['Scopes of the members whose reactions are shown', scopes],
  addReaction: ['Add and remove reactions', allowOrDeny],

  // Calls
  initiateCall: ['Start calls', allowFriendsOrDeny],
  'initiateCall.allowedScopes': ['Scopes of the members that can be called', scopes],
  'initiateCall.allowedType': ['Types of calls that can be started', callTypes],
  joinCall: ['Join calls', allowOrDeny],
} as const satisfies Record<string, PermissionRow>

/** What a scope is denied by default; everything else is allowed. */
export const deniedByDefault: Readonly<Record<GroupScope, readonly (keyof typeof scopeTable)[]>> = {
  admin: ['deleteGroup'],
  moderator: ['deleteGroup', 'editGroup', 'addMembers'],
  participant: ['deleteGroup', 'editGroup', 'addMembers', 'kickMembers', 'listBannedUsers', 'ban', 'unban'],
}
