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

/** Permissions of a role. They apply in the whole app, to the users who have the role. By default nothing is denied. */
export const roleTable = {
  // Users
  listUsers: ['List users', allowOrDeny],
  'listUsers.mode': ['Which users are listed', allOrFriends],
  'listUsers.allowedRoles': ['Roles of the users listed', roles],
  getUserDetails: ['View user profiles', allowOrDeny],
  'getUserDetails.mode': ['Whose profiles can be viewed', allOrFriends],
  'getUserDetails.allowedRoles': ['Roles whose profiles can be viewed', roles],
  editProfile: ['Edit their own profile', allowOrDeny],
  blockUser: ['Block users', allowOrDeny],
  'blockUser.allowedRoles': ['Roles that can be blocked', roles],
  listBlockedUser: ['List the users they have blocked', allowOrDeny],
  'listBlockedUser.allowedRoles': ['Roles of the blocked users listed', roles],
  unblockedUser: ['Unblock users', allowOrDeny],
  'unblockedUser.allowedRoles': ['Roles that can be unblocked', roles],

  // Messages
  listMessages: ['Read messages', allowOrDeny],
  'listMessages.mode': ['Whose messages can be read', allOrFriends],
  'listMessages.allowedReceiverTypes': ['Whether messages with users, in groups or both can be read', receiverTypes],
  'listMessages.allowedSenderRoles': ['Roles whose messages can be read', roles],
  'listMessages.allowedMessageCategories': ['Message categories that can be read', messageCategories],
  'listMessages.allowedMessageTypes': ['Message types that can be read', messageTypes],
  getMessageDetails: ['Open a single message', allowOrDeny],
  'getMessageDetails.mode': ['Whose messages can be opened', allOrFriends],
  sendMessage: ['Send messages', allowOrDeny],
  'sendMessage.mode': ['Who can be sent messages', allOrFriends],
  'sendMessage.allowedReceiverTypes': ['Whether users, groups or both can be sent messages', receiverTypes],
  'sendMessage.allowedReceiverRoles': ['Roles that can be sent messages', roles],
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
  editMessage: ['Edit their own messages', allowOrDeny],
  'editMessage.denyForScopes': ['Group scopes whose messages cannot be edited', scopes],
  deleteMessage: ['Delete their own messages', allowOrDeny],
  'deleteMessage.denyForScopes': ['Group scopes whose messages cannot be deleted', scopes],

  // Threads
  listThreadedMessages: ['Read threads', allowOrDeny],
  sendThreadedMessage: ['Reply in threads', allowOrDeny],
  'sendThreadedMessage.allowedReceiverTypes': ['Whether replies can be sent to users, groups or both', receiverTypes],
  'sendThreadedMessage.allowedReceiverRoles': ['Roles that can be replied to in one-to-one conversations', roles],
  'sendThreadedMessage.allowedMessageCategories': ['Message categories of replies', messageCategories],
  'sendThreadedMessage.allowedMessageTypes': ['Message types of replies', messageTypes],
  'sendThreadedMessage.allowedCustomTypes': ['Custom message types of replies', customTypes],
  'sendThreadedMessage.mimeTypeAccessControl': [
    'Whether the listed MIME types of replies are allowed or denied',
    whiteOrBlackList,
  ],
  'sendThreadedMessage.mimeTypes': ['MIME types of attachments in replies', mimeTypes],
  editThreadedMessage: ['Edit their own replies', allowOrDeny],
  deleteThreadedMessage: ['Delete their own replies', allowOrDeny],

  // Reactions
  listReactions: ['See who reacted', allowOrDeny],
  addReaction: ['Add and remove reactions', allowOrDeny],

  // Calls
  initiateCall: ['Start calls', allowFriendsOrDeny],
  'initiateCall.mode': ['Who can be called', allOrFriends],
  'initiateCall.allowedReceiverTypes': ['Whether users or groups can be called', receiverTypes],
  'initiateCall.allowedReceiverRoles': ['Roles that can be called', roles],
  joinCall: ['Join calls', allowOrDeny],

  // Conversations
  listConversations: ['List their own conversations', allowOrDeny],
  updateConversation: ['Update their own conversations', allowOrDeny],
  deleteConversation: ['Clear their own conversations', allowOrDeny],

  // Groups
  listGroups: ['List groups', allowOrDeny],
  'listGroups.allowedGroupTypes': ['Types of the groups listed', groupTypes],
  getGroupDetails: ['View a group', allowOrDeny],
  'getGroupDetails.allowedGroupTypes': ['Types of the groups that can be viewed', groupTypes],
  createGroup: ['Create groups', allowOrDeny],
  'createGroup.allowedGroupTypes': ['Group types that can be created', groupTypes],
  joinGroup: ['Join groups', allowOrDeny],
  'joinGroup.allowedGroupTypes': ['Group types that can be joined', joinableGroupTypes],
} as const satisfies Record<string, PermissionRow>
