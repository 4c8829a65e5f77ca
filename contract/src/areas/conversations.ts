import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import {
  Conversation,
  enveloped,
  GuidParams,
  IdIn,
  MessageIdIn,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  pageOf,
  pageQuery,
  ReceiverType,
  TagsIn,
  UidParams,
} from '../schemas.ts'

const shared = { area: 'Conversations', access: { user: true }, rateLimit: 'standard' } as const

const userErrors = ['ERR_UID_NOT_FOUND', 'ERR_CONVERSATION_NOT_ACCESSIBLE'] as const
const groupErrors = ['ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND', 'ERR_CONVERSATION_NOT_ACCESSIBLE'] as const

const MarkBody = Type.Object({ messageId: Type.Optional(MessageIdIn) })

export const listConversations = defineOperation({
  ...shared,
  id: 'list-all-conversations',
  method: 'GET',
  path: '/conversations',
  summary: 'List conversations',
  description:
    "With onBehalfOf: that user's conversations, pinned ones first, then by last message, newest first. Without: all conversations, each once for every participant, by uid, then by last message; with unique=1 only once.",
  onBehalfOf: 'optional',
  params: NoParams,
  query: Type.Object({
    searchKey: Type.Optional(Type.String({ description: 'Part of the name of the other user or the group' })),
    conversationType: Type.Optional(oneOf('user', 'group')),
    withTags: Type.Optional(
      Type.Boolean({ description: 'Return the tags that the participant gave each conversation' }),
    ),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 25 })),
    withUserAndGroupTags: Type.Optional(
      Type.Boolean({ description: 'Return the tags of the other user or of the group, too' }),
    ),
    userTags: Type.Optional(Type.Array(Type.String(), { maxItems: 25 })),
    groupTags: Type.Optional(Type.Array(Type.String(), { maxItems: 25 })),
    unread: Type.Optional(Type.Boolean({ description: 'Only conversations with unread messages' })),
    includeBlockedUsers: Type.Optional(Type.Boolean()),
    withBlockedInfo: Type.Optional(Type.Boolean()),
    hideAgentic: Type.Optional(Type.Boolean()),
    onlyAgentic: Type.Optional(Type.Boolean()),
    unique: Type.Optional(Type.Boolean({ description: 'Without an acting user: list each conversation only once' })),
    useCursoredIndex: Type.Optional(
      Type.Boolean({ description: 'Accepted, without effect: the list is always paged' }),
    ),
    ...pageQuery(),
  }),
  answer: pageOf(Conversation),
  errors: ['ERR_UID_NOT_FOUND'],
})

export const getConversation = defineOperation({
  ...shared,
  id: 'get-conversation',
  method: 'GET',
  path: '/conversations/{conversationId}',
  summary: 'Get a conversation by its ID',
  description:
    'As the acting user sees it: last message, unread count, tags, pin. By the user or the group it is with, it can be read without knowing its ID.',
  deprecated: true,
  onBehalfOf: 'required',
  params: Type.Object({ conversationId: Type.String() }),
  query: NoQuery,
  answer: enveloped(Conversation),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_CONVERSATION_NOT_FOUND'],
})

export const getUserConversation = defineOperation({
  ...shared,
  id: 'get-user-conversations',
  method: 'GET',
  path: '/users/{uid}/conversation',
  summary: 'Get the conversation with a user',
  description: 'As the acting user sees it: last message, unread count, tags, pin.',
  onBehalfOf: 'required',
  params: UidParams,
  query: NoQuery,
  answer: enveloped(Conversation),
  errors: userErrors,
})

export const getGroupConversation = defineOperation({
  ...shared,
  id: 'get-group-conversations',
  method: 'GET',
  path: '/groups/{guid}/conversation',
  summary: 'Get the conversation with a group',
  description: 'As the acting user sees it: last message, unread count, tags, pin.',
  onBehalfOf: 'required',
  params: GuidParams,
  query: NoQuery,
  answer: enveloped(Conversation),
  errors: groupErrors,
})

/** The contract spells the confirmation of the one-to-one marks with a capital M. */
const UserMarked = enveloped(Type.Object({ success: Type.Boolean(), Message: Type.String() }))
const GroupMarked = enveloped(Type.Object({ success: Type.Boolean(), message: Type.String() }))
const MarkedUnread = enveloped(
  Type.Object({ success: Type.Boolean(), message: Type.String(), conversation: Type.Optional(Conversation) }),
)

const userMark = {
  ...shared,
  onBehalfOf: 'required',
  params: UidParams,
  query: NoQuery,
  body: MarkBody,
  errors: [...userErrors, 'ERR_MESSAGE_ID_NOT_FOUND'],
} as const

const groupMark = {
  ...shared,
  onBehalfOf: 'required',
  params: GuidParams,
  query: NoQuery,
  body: MarkBody,
  errors: [...groupErrors, 'ERR_MESSAGE_ID_NOT_FOUND'],
} as const

export const markUserDelivered = defineOperation({
  ...userMark,
  id: 'mark-conversation-as-delivered',
  method: 'POST',
  path: '/users/{uid}/conversation/delivered',
  summary: 'Mark the messages from a user as delivered',
  description:
    'Marks what uid sent to the acting user, up to messageId, or all of it. An earlier mark is never moved back. Takes the same time for any number of messages.',
  answer: UserMarked,
})

export const markUserRead = defineOperation({
  ...userMark,
  id: 'mark-conversation-as-read',
  method: 'POST',
  path: '/users/{uid}/conversation/read',
  summary: 'Mark the messages from a user as read',
  description:
    'Marks all messages up to this one; without messageId all that there are. Marks never move back, and what is read also counts as delivered.',
  answer: UserMarked,
})

export const markUserUnread = defineOperation({
  ...userMark,
  id: 'mark-conversation-as-unread',
  userRateLimit: 'markUnreadPerUser',
  method: 'DELETE',
  path: '/users/{uid}/conversation/read',
  summary: 'Mark the messages from a user as unread',
  description:
    'Marks messageId and everything after it; without messageId, the newest message of the other user. Receipts do not change.',
  answer: MarkedUnread,
})

export const markGroupDelivered = defineOperation({
  ...groupMark,
  id: 'mark-group-conversation-as-delivered',
  method: 'POST',
  path: '/groups/{guid}/conversation/delivered',
  summary: 'Mark the messages of a group as delivered',
  description: 'Marks all messages up to this one; without messageId all that there are. Marks never move back.',
  answer: GroupMarked,
})

export const markGroupRead = defineOperation({
  ...groupMark,
  id: 'mark-group-conversation-as-read',
  method: 'POST',
  path: '/groups/{guid}/conversation/read',
  summary: 'Mark the messages of a group as read',
  description:
    'Marks all messages up to this one; without messageId all that there are. Marks never move back, and what is read also counts as delivered.',
  answer: GroupMarked,
})

export const markGroupUnread = defineOperation({
  ...groupMark,
  id: 'mark-group-conversation-as-unread',
  userRateLimit: 'markUnreadPerUser',
  method: 'DELETE',
  path: '/groups/{guid}/conversation/read',
  summary: 'Mark the messages of a group as unread',
  description:
    'This message and all after it count as unread again; without messageId the newest of another member. Receipts that others have seen stay.',
  answer: MarkedUnread,
})

const TagsBody = Type.Object({ tags: Type.Optional(TagsIn) })

export const updateUserConversation = defineOperation({
  ...shared,
  id: 'update-user-conversation',
  method: 'PUT',
  path: '/users/{uid}/conversation',
  summary: 'Set the tags of the conversation with a user',
  description: 'Tags are those of the acting user alone, and replace the ones before; an empty list removes them.',
  onBehalfOf: 'required',
  params: UidParams,
  query: NoQuery,
  body: TagsBody,
  answer: enveloped(Conversation),
  errors: userErrors,
})

export const updateGroupConversation = defineOperation({
  ...shared,
  id: 'update-group-conversation',
  method: 'PUT',
  path: '/groups/{guid}/conversation',
  summary: 'Set the tags of the conversation with a group',
  description: 'Tags are those of the acting user alone, and replace the ones before; an empty list removes them.',
  onBehalfOf: 'required',
  params: GuidParams,
  query: NoQuery,
  body: TagsBody,
  answer: enveloped(Conversation),
  errors: groupErrors,
})

export const resetUserConversation = defineOperation({
  ...shared,
  id: 'reset-user-conversation',
  method: 'DELETE',
  path: '/users/{uid}/conversation',
  summary: 'Clear the conversation with a user, for the acting user',
  description:
    'Hides the messages up to now from the acting user, and removes the conversation from their list until the next message; with preserveOrder it keeps its place. deleteMessagesPermanently deletes the messages for both users if sent with an API key; with an auth token it only hides them.',
  onBehalfOf: 'required',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({
    deleteMessagesPermanently: Type.Optional(Type.Boolean()),
    preserveOrder: Type.Optional(Type.Boolean()),
  }),
  answer: enveloped(Outcome),
  errors: userErrors,
})

export const resetGroupConversation = defineOperation({
  ...shared,
  id: 'reset-group-conversation',
  method: 'DELETE',
  path: '/groups/{guid}/conversation',
  summary: 'Clear the conversation with a group, for the acting user',
  description:
    'Hides the messages up to now from the acting user, and removes the conversation from their list until the next message; with preserveOrder it keeps its place. The other members see what they saw.',
  onBehalfOf: 'required',
  params: GuidParams,
  query: NoQuery,
  body: Type.Object({ preserveOrder: Type.Optional(Type.Boolean()) }),
  answer: enveloped(Outcome),
  errors: groupErrors,
})

export const deleteConversation = defineOperation({
  ...shared,
  id: 'delete-conversation',
  method: 'DELETE',
  path: '/conversations/{conversationId}',
  summary: 'Delete a conversation and its messages for everyone',
  description:
    'In groups only for admins. Not available with auth tokens: users can only clear a conversation for themselves.',
  deprecated: true,
  access: {},
  onBehalfOf: 'required',
  params: Type.Object({ conversationId: Type.String() }),
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_CONVERSATION_NOT_FOUND', 'ERR_GROUP_NO_ADMIN_SCOPE'],
})

const PinnedConversation = Type.Object({
  conversationId: Type.String(),
  conversationType: ReceiverType,
  pinnedBy: Type.Optional(Type.String()),
  pinnedAt: Type.Optional(Type.Integer()),
})

export const listAppPinnedConversations = defineOperation({
  ...shared,
  id: 'list-global-pinned-conversations',
  method: 'GET',
  path: '/conversations/pinned',
  summary: 'List the conversations pinned for everyone',
  description: "They stand first in every user's list of conversations, where the user takes part.",
  onBehalfOf: 'ignored',
  params: NoParams,
  query: NoQuery,
  answer: enveloped(Type.Array(PinnedConversation)),
  errors: [],
})

export const replaceAppPinnedConversations = defineOperation({
  ...shared,
  id: 'replace-global-pinned-conversations',
  method: 'PUT',
  path: '/conversations/pinned',
  summary: 'Set the conversations pinned for everyone',
  description: `Replaces the whole list; an empty one unpins all. An app can pin ${limits.pinnedConversationsPerApp} unless its settings say otherwise.`,
  access: {},
  onBehalfOf: 'ignored',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    pinnedConversations: Type.Array(Type.Object({ uid: Type.Optional(IdIn), guid: Type.Optional(IdIn) }), {
      maxItems: 100,
    }),
  }),
  answer: enveloped(Type.Array(PinnedConversation)),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND', 'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'],
})

const userPin = {
  ...shared,
  path: '/users/{uid}/conversation/pin',
  onBehalfOf: 'required',
  params: UidParams,
  query: NoQuery,
  answer: enveloped(PinnedConversation),
} as const

const groupPin = {
  ...shared,
  path: '/groups/{guid}/conversation/pin',
  onBehalfOf: 'required',
  params: GuidParams,
  query: NoQuery,
  answer: enveloped(PinnedConversation),
} as const

const pinErrors = ['ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED', 'ERR_SYSTEM_PINNED_CONVERSATION'] as const

export const pinUserConversation = defineOperation({
  ...userPin,
  id: 'pin-user-conversation',
  method: 'POST',
  summary: 'Pin the conversation with a user, for the acting user',
  description: 'Pinned conversations stand first in the list of the acting user. Pinning a pinned one changes nothing.',
  errors: [...userErrors, ...pinErrors],
})

export const unpinUserConversation = defineOperation({
  ...userPin,
  id: 'unpin-user-conversation',
  method: 'DELETE',
  summary: 'Unpin the conversation with a user, for the acting user',
  description:
    'Unpinning one that is not pinned changes nothing. A conversation that is pinned for everyone stays pinned.',
  errors: [...userErrors, 'ERR_SYSTEM_PINNED_CONVERSATION'],
})

export const pinGroupConversation = defineOperation({
  ...groupPin,
  id: 'pin-group-conversation',
  method: 'POST',
  summary: 'Pin the conversation with a group, for the acting user',
  description: 'Pinned conversations stand first in the list of the acting user. Pinning a pinned one changes nothing.',
  errors: [...groupErrors, ...pinErrors],
})

export const unpinGroupConversation = defineOperation({
  ...groupPin,
  id: 'unpin-group-conversation',
  method: 'DELETE',
  summary: 'Unpin the conversation with a group, for the acting user',
  description:
    'Unpinning one that is not pinned changes nothing. A conversation that is pinned for everyone stays pinned.',
  errors: [...groupErrors, 'ERR_SYSTEM_PINNED_CONVERSATION'],
})
