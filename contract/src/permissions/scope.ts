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
  editGroup: ['Changes the group', allowOrDeny],
  deleteGroup: ['Deletes the group', allowOrDeny],
  leaveGroup: ['Leaves the group', allowOrDeny],
  listMembers: ['Sees the members', allowOrDeny],
  'listMembers.allowedScopes': ['Scopes of the members shown', scopes],
  addMembers: ['Adds members', allowOrDeny],
  'addMembers.allowedScopes': ['Scopes that can be given to new members', scopes],
  kickMembers: ['Removes members', allowOrDeny],
  'kickMembers.allowedScopes': ['Scopes of the members that can be removed', scopes],
  listBannedUsers: ['Sees who is banned', allowOrDeny],
  ban: ['Bans users', allowOrDeny],
  'ban.allowedScopes': ['Scopes of the members that can be banned', scopes],
  unban: ['Lifts bans', allowOrDeny],

  // Messages; reading them is not denied as a whole, only narrowed
  'listMessages.allowedMessageCategories': ['Message categories that can be read', messageCategories],
  'listMessages.allowedMessageTypes': ['Message types that can be read', messageTypes],
  'listMessages.historyBeforeJoin': ['Reads what was written before joining', allowOrDeny],
  sendMessage: ['Sends messages', allowOrDeny],
  'sendMessage.allowedMessageCategories': ['Message categories that can be sent', messageCategories],
  'sendMessage.allowedMessageTypes': ['Message types that can be sent', messageTypes],
  'sendMessage.allowedCustomTypes': ['Custom message types that can be sent', customTypes],
  'sendMessage.mimeTypeAccessControl': ['How the mime types of attachments are read', whiteOrBlackList],
  'sendMessage.mimeTypes': ['Mime types of attachments', mimeTypes],
  // The older way to write the two above.
  'sendMessage.allowedMimeTypes': ['Mime types of attachments that can be sent', mimeTypes],
  editMessage: ['Edits messages', allowOrDeny],
  deleteMessage: ['Deletes messages', allowOrDeny],

  // Threads
  listThreadedMessages: ['Reads threads', allowOrDeny],
  sendThreadedMessage: ['Replies in threads', allowOrDeny],
  'sendThreadedMessage.allowedMessageCategories': ['Message categories of replies', messageCategories],
  'sendThreadedMessage.allowedMessageTypes': ['Message types of replies', messageTypes],
  'sendThreadedMessage.allowedCustomTypes': ['Custom message types of replies', customTypes],
  'sendThreadedMessage.mimeTypeAccessControl': ['How the mime types of replies are read', whiteOrBlackList],
  'sendThreadedMessage.mimeTypes': ['Mime types of attachments of replies', mimeTypes],
  editThreadedMessage: ['Edits replies', allowOrDeny],
  deleteThreadedMessage: ['Deletes replies', allowOrDeny],

  // Reactions
  listReactions: ['Sees who reacted', allowOrDeny],
  'listReactions.allowedScopes': ['Scopes of the members whose reactions are shown', scopes],
  addReaction: ['Reacts, and takes reactions back', allowOrDeny],

  // Calls
  initiateCall: ['Starts calls', allowFriendsOrDeny],
  'initiateCall.allowedScopes': ['Scopes of the members that can be called', scopes],
  'initiateCall.allowedType': ['Kinds of calls that can be started', callTypes],
  joinCall: ['Joins calls', allowOrDeny],
} as const satisfies Record<string, PermissionRow>

/** What a scope is denied as long as nothing is set; all else is allowed. */
export const deniedByDefault: Readonly<Record<GroupScope, readonly (keyof typeof scopeTable)[]>> = {
  admin: ['deleteGroup'],
  moderator: ['deleteGroup', 'editGroup', 'addMembers'],
  participant: ['deleteGroup', 'editGroup', 'addMembers', 'kickMembers', 'listBannedUsers', 'ban', 'unban'],
}
