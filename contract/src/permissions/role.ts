import {
  allOrFriends,
  allowFriendsOrDeny,
  allowOrDeny,
  customTypes,
  groupTypes,
  joinableGroupTypes,
  messageCategories,
  messageTypes,
  mimeTypes,
  type PermissionRow,
  receiverTypes,
  roles,
  scopes,
  whiteOrBlackList,
} from './kinds.ts'

/** Permissions of a role, in force all over the app for the users who hold it. Nothing is restricted by default. */
export const roleTable = {
  // Users
  listUsers: ['Sees the list of users', allowOrDeny],
  'listUsers.mode': ['Whom the list of users shows', allOrFriends],
  'listUsers.allowedRoles': ['Roles that the list of users shows', roles],
  getUserDetails: ['Sees the profile of a user', allowOrDeny],
  'getUserDetails.mode': ['Whose profiles can be seen', allOrFriends],
  'getUserDetails.allowedRoles': ['Roles whose profiles can be seen', roles],
  editProfile: ['Changes the own profile', allowOrDeny],
  blockUser: ['Blocks users', allowOrDeny],
  'blockUser.allowedRoles': ['Roles that can be blocked', roles],
  listBlockedUser: ['Sees the own block list', allowOrDeny],
  'listBlockedUser.allowedRoles': ['Roles that the block list shows', roles],
  unblockedUser: ['Lifts own blocks', allowOrDeny],
  'unblockedUser.allowedRoles': ['Roles that can be unblocked', roles],

  // Messages
  listMessages: ['Reads messages', allowOrDeny],
  'listMessages.mode': ['Whose messages can be read', allOrFriends],
  'listMessages.allowedReceiverTypes': ['Whether talks or groups can be read', receiverTypes],
  'listMessages.allowedSenderRoles': ['Roles whose messages can be read', roles],
  'listMessages.allowedMessageCategories': ['Message categories that can be read', messageCategories],
  'listMessages.allowedMessageTypes': ['Message types that can be read', messageTypes],
  getMessageDetails: ['Opens a single message', allowOrDeny],
  'getMessageDetails.mode': ['Whose messages can be opened', allOrFriends],
  sendMessage: ['Sends messages', allowOrDeny],
  'sendMessage.mode': ['Whom messages can be sent to', allOrFriends],
  'sendMessage.allowedReceiverTypes': ['Whether users or groups can be written to', receiverTypes],
  'sendMessage.allowedReceiverRoles': ['Roles that can be written to', roles],
  'sendMessage.allowedMessageCategories': ['Message categories that can be sent', messageCategories],
  'sendMessage.allowedMessageTypes': ['Message types that can be sent', messageTypes],
  'sendMessage.allowedCustomTypes': ['Custom message types that can be sent', customTypes],
  'sendMessage.mimeTypeAccessControl': ['How the mime types of attachments are read', whiteOrBlackList],
  'sendMessage.mimeTypes': ['Mime types of attachments', mimeTypes],
  // The older way to write the two above.
  'sendMessage.allowedMimeTypes': ['Mime types of attachments that can be sent', mimeTypes],
  editMessage: ['Edits own messages', allowOrDeny],
  'editMessage.denyForScopes': ['Group scopes whose messages cannot be edited', scopes],
  deleteMessage: ['Deletes own messages', allowOrDeny],
  'deleteMessage.denyForScopes': ['Group scopes whose messages cannot be deleted', scopes],

  // Threads
  listThreadedMessages: ['Reads threads', allowOrDeny],
  sendThreadedMessage: ['Replies in threads', allowOrDeny],
  'sendThreadedMessage.allowedReceiverTypes': ['Whether talks or groups can be replied in', receiverTypes],
  'sendThreadedMessage.allowedReceiverRoles': ['Roles that can be replied to in one-to-one talks', roles],
  'sendThreadedMessage.allowedMessageCategories': ['Message categories of replies', messageCategories],
  'sendThreadedMessage.allowedMessageTypes': ['Message types of replies', messageTypes],
  'sendThreadedMessage.allowedCustomTypes': ['Custom message types of replies', customTypes],
  'sendThreadedMessage.mimeTypeAccessControl': ['How the mime types of replies are read', whiteOrBlackList],
  'sendThreadedMessage.mimeTypes': ['Mime types of attachments of replies', mimeTypes],
  editThreadedMessage: ['Edits own replies', allowOrDeny],
  deleteThreadedMessage: ['Deletes own replies', allowOrDeny],

  // Reactions
  listReactions: ['Sees who reacted', allowOrDeny],
  addReaction: ['Reacts, and takes reactions back', allowOrDeny],

  // Calls
  initiateCall: ['Starts calls', allowFriendsOrDeny],
  'initiateCall.mode': ['Who can be called', allOrFriends],
  'initiateCall.allowedReceiverTypes': ['Whether users or groups can be called', receiverTypes],
  'initiateCall.allowedReceiverRoles': ['Roles that can be called', roles],
  joinCall: ['Joins calls', allowOrDeny],

  // Conversations
  listConversations: ['Sees the own conversations', allowOrDeny],
  updateConversation: ['Changes own conversations', allowOrDeny],
  deleteConversation: ['Clears own conversations', allowOrDeny],

  // Groups
  listGroups: ['Sees the list of groups', allowOrDeny],
  'listGroups.allowedGroupTypes': ['Group types that the list shows', groupTypes],
  getGroupDetails: ['Opens a group', allowOrDeny],
  'getGroupDetails.allowedGroupTypes': ['Group types that can be opened', groupTypes],
  createGroup: ['Creates groups', allowOrDeny],
  'createGroup.allowedGroupTypes': ['Group types that can be created', groupTypes],
  joinGroup: ['Joins groups', allowOrDeny],
  'joinGroup.allowedGroupTypes': ['Group types that can be joined', joinableGroupTypes],
} as const satisfies Record<string, PermissionRow>
