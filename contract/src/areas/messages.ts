import { type Static, Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import {
  type CursorMeta,
  enveloped,
  GuidParams,
  IdIn,
  JsonObject,
  Message,
  MessageIdIn,
  NoParams,
  NoQuery,
  oneOf,
  type PageMeta,
  ReceiverType,
  TagsIn,
  UidParams,
  User,
} from '../schemas.ts'

const shared = { area: 'Messages', rateLimit: 'standard' } as const

/** Answer of a send to `multipleReceivers`: the outcome for each receiver. */
const ManyOutcomes = Type.Object({
  uids: Type.Optional(JsonObject),
  guids: Type.Optional(JsonObject),
})

const MessageIdParams = Type.Object({ id: Type.String({ description: 'Message id' }) })

const categories = ['message', 'custom', 'interactive', 'action', 'call', 'card'] as const

export const sendMessage = defineOperation({
  ...shared,
  id: 'send-message',
  userRateLimit: 'sendPerUser',
  takesFiles: true,
  method: 'POST',
  path: '/messages',
  summary: 'Send a message',
  description:
    'Sends to a user or a group, or to several with multipleReceivers. A muid that the sender has used in this conversation before answers the message already stored. Without onBehalfOf the sender is app_system. Up to ten users are mentioned as <@uid:alice> in data.text, also in the caption of files; answers show them in data.mentions. <@all:...> is kept as text.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    receiver: Type.Optional(IdIn),
    receiverType: Type.Optional(Type.String()),
    category: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    data: Type.Optional(JsonObject),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ ...JsonObject, description: 'In a form: data.metadata' }),
    ),
    caption: Type.Optional(Type.String({ description: 'In a form: data.text' })),
    muid: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    parentId: Type.Optional(MessageIdIn),
    quotedMessageId: Type.Optional(MessageIdIn),
    tags: Type.Optional(TagsIn),
    multipleReceivers: Type.Optional(
      Type.Object({
        uids: Type.Optional(Type.Array(IdIn, { maxItems: 100 })),
        guids: Type.Optional(Type.Array(IdIn, { maxItems: 100 })),
      }),
    ),
  }),
  answer: enveloped(Type.Unsafe<Message | { uids?: object; guids?: object }>({ anyOf: [Message, ManyOutcomes] })),
  errors: [
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_EMPTY_RECEIVER',
    'ERR_INVALID_RECEIVER_TYPE',
    'ERR_EMPTY_MESSAGE_CATEGORY',
    'ERR_INVALID_MESSAGE_CATEGORY',
    'ERR_EMPTY_MESSAGE_TYPE',
    'ERR_INVALID_MESSAGE_TYPE',
    'ERR_EMPTY_MESSAGE_TEXT',
    'ERR_INVALID_MESSAGE_TEXT',
    'ERR_EMPTY_MESSAGE_FILE',
    'ERR_EMPTY_CUSTOM_DATA',
    'ERR_INVALID_CUSTOM_DATA',
    'ERR_INVALID_MEDIA_MESSAGE',
    'ERR_INVALID_METADATA',
    'ERR_INVALID_MESSAGE_DATA',
    'ERR_BLOCKED_RECEIVER',
    'ERR_BLOCKED_SENDER',
    'ERR_GROUP_NOT_JOINED',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_PERMISSION_DENIED',
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_WRONG_MESSAGE_THREAD',
    'ERR_WRONG_MESSAGE_THREAD_CATEGORY',
    'ERR_MESSAGE_THREAD_NESTING',
  ],
})

/** Filters and cursors that the message lists share. */
export const messageListQuery = {
  searchKey: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'Only messages whose text, or caption of files, contains this: any part of it, in any script, without regard to case, width and runs of blanks',
    }),
  ),
  affix: Type.Optional(oneOf('append', 'prepend')),
  id: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$', description: 'Cursor: id of a message' })),
  sentAt: Type.Optional(Type.Integer({ minimum: 0, description: 'Cursor: epoch seconds' })),
  updatedAt: Type.Optional(Type.Integer({ minimum: 0, description: 'Cursor by change, epoch seconds' })),
  onlyUpdates: Type.Optional(
    Type.Boolean({ description: 'With updatedAt: only messages changed after they were sent' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  perPage: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  category: Type.Optional(oneOf(...categories)),
  categories: Type.Optional(Type.Array(Type.String(), { maxItems: 25 })),
  type: Type.Optional(Type.String()),
  types: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  sender: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 25 })),
  withTags: Type.Optional(Type.Boolean()),
  hasAttachments: Type.Optional(Type.Boolean()),
  attachmentTypes: Type.Optional(Type.Array(oneOf('image', 'video', 'audio', 'file'), { maxItems: 4 })),
  hasLinks: Type.Optional(Type.Boolean()),
  hasReactions: Type.Optional(Type.Boolean()),
  hasMentions: Type.Optional(Type.Boolean({ description: 'Only messages that mention a user of the app' })),
  mentionedUids: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Only messages that mention one of these uids' }),
  ),
  myMentionsOnly: Type.Optional(Type.Boolean({ description: 'Only messages that mention the acting user' })),
  mentionsWithTagInfo: Type.Optional(Type.Boolean({ description: 'Shows the tags of mentioned users' })),
  mentionsWithBlockedInfo: Type.Optional(
    Type.Boolean({ description: 'Shows the blocks between the acting user and mentioned users' }),
  ),
  pinned: Type.Optional(Type.Boolean({ description: 'Only pinned messages' })),
  pinnedBy: Type.Optional(Type.String({ description: 'Only messages that this uid (or app_system) has pinned' })),
  saved: Type.Optional(Type.Boolean({ description: 'Only messages that the acting user has saved' })),
  hideReplies: Type.Optional(Type.Boolean()),
  hideDeleted: Type.Optional(Type.Boolean()),
  onlyDeleted: Type.Optional(Type.Boolean()),
  fromTimestamp: Type.Optional(Type.Integer({ minimum: 0 })),
  toTimestamp: Type.Optional(Type.Integer({ minimum: 0, description: 'Ignored without fromTimestamp' })),
  hideMessagesFromBlockedUsers: Type.Optional(
    Type.Boolean({ description: 'Leaves out messages of users that the acting user has blocked' }),
  ),
  hideQuotedMessages: Type.Optional(Type.Boolean()),
  withThreadSubscribed: Type.Optional(
    Type.Boolean({ description: 'Says of each message with a thread whether the acting user follows it' }),
  ),
  unread: Type.Optional(Type.Boolean({ description: 'Only what the acting user has not read' })),
  undelivered: Type.Optional(Type.Boolean({ description: 'Only what was not delivered to the acting user' })),
  count: Type.Optional(Type.Boolean({ description: 'Counts per conversation instead of messages' })),
}

/** Rows of a message list, or with `count=true` a count for each conversation. */
export const MessageList = Type.Object({
  data: Type.Array(
    Type.Unsafe<Message | MessageCount>({
      anyOf: [
        Message,
        Type.Object({ entityId: Type.String(), entityType: ReceiverType, count: Type.Integer() }),
        Type.Object({ conversationId: Type.String(), count: Type.Integer() }),
      ],
    }),
  ),
  meta: Type.Optional(Type.Unsafe<CursorMeta | PageMeta>({ type: 'object', additionalProperties: true })),
})

export type MessageCount =
  | { entityId: string; entityType: 'user' | 'group'; count: number }
  | { conversationId: string; count: number }

export const listAllMessages = defineOperation({
  ...shared,
  id: 'list-all-messages',
  method: 'GET',
  path: '/messages',
  summary: "List messages of the app, or of the acting user's conversations",
  access: { user: true },
  onBehalfOf: 'optional',
  params: NoParams,
  query: Type.Object({
    ...messageListQuery,
    receiverType: Type.Optional(ReceiverType),
    conversationId: Type.Optional(Type.String({ maxLength: 206 })),
    senders: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
    'sentAt[from]': Type.Optional(Type.Integer({ minimum: 0 })),
    'sentAt[to]': Type.Optional(Type.Integer({ minimum: 0 })),
    'updatedAt[from]': Type.Optional(Type.Integer({ minimum: 0 })),
    'updatedAt[to]': Type.Optional(Type.Integer({ minimum: 0 })),
    'editedAt[from]': Type.Optional(Type.Integer({ minimum: 0 })),
    'editedAt[to]': Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  answer: MessageList,
  errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'],
})

export const listUserMessages = defineOperation({
  ...shared,
  id: 'user-list-user-messages',
  method: 'GET',
  path: '/users/{uid}/messages',
  summary: 'List the messages between the acting user and uid',
  description: 'Without onBehalfOf: what uid sent or received one-to-one and sent in groups.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: UidParams,
  query: Type.Object(messageListQuery),
  answer: MessageList,
  errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'],
})

export const listGroupMessages = defineOperation({
  ...shared,
  id: 'user-list-group-messages',
  method: 'GET',
  path: '/groups/{guid}/messages',
  summary: 'List the messages of a group',
  access: { user: true },
  onBehalfOf: 'optional',
  params: GuidParams,
  query: Type.Object(messageListQuery),
  answer: MessageList,
  errors: [
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GROUP_NOT_JOINED',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_PERMISSION_DENIED',
  ],
})

/** A member of a group who has received a message. */
export const MessageReceipt = Type.Object({
  recipient: User,
  deliveredAt: Type.Integer({ description: 'Epoch seconds' }),
  readAt: Type.Optional(Type.Integer({ description: 'Epoch seconds' })),
})
export type MessageReceipt = Static<typeof MessageReceipt>

const MessageDetails = Type.Object(
  { ...Message.properties, receipts: Type.Optional(Type.Object({ data: Type.Array(MessageReceipt) })) },
  { additionalProperties: false },
)

export const getMessage = defineOperation({
  ...shared,
  id: 'get-message-details',
  method: 'GET',
  path: '/messages/{id}',
  summary: 'Read one message',
  description:
    'For the sender of a message to a group, and for the app, receipts tells who of those who were members when it was sent has received it, 1,000 at most.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: MessageIdParams,
  query: NoQuery,
  answer: enveloped(MessageDetails),
  errors: ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_UID_NOT_FOUND'],
})

const rightsErrors = [
  'ERR_MESSAGE_ID_NOT_FOUND',
  'ERR_UID_NOT_FOUND',
  'ERR_MESSAGE_NOT_A_SENDER',
  'ERR_MESSAGE_ACTION_NOT_ALLOWED',
  'ERR_PERMISSION_DENIED',
] as const

export const updateMessage = defineOperation({
  ...shared,
  id: 'update-message',
  method: 'PUT',
  path: '/messages/{id}',
  summary: 'Edit a message',
  description:
    'Members of data that are sent replace those of the message, tags replace its tags. Answers the action message that tells of the edit; the edited message is its entities.on.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: MessageIdParams,
  query: NoQuery,
  body: Type.Object({ data: Type.Optional(JsonObject), tags: Type.Optional(TagsIn) }),
  answer: enveloped(Message),
  errors: [
    ...rightsErrors,
    'ERR_EMPTY_MESSAGE_TEXT',
    'ERR_INVALID_MESSAGE_TEXT',
    'ERR_EMPTY_MESSAGE_FILE',
    'ERR_EMPTY_CUSTOM_DATA',
    'ERR_INVALID_CUSTOM_DATA',
    'ERR_INVALID_MEDIA_MESSAGE',
    'ERR_INVALID_METADATA',
    'ERR_INVALID_MESSAGE_DATA',
  ],
})

export const deleteMessage = defineOperation({
  ...shared,
  id: 'delete-message',
  method: 'DELETE',
  path: '/messages/{id}',
  summary: 'Delete a message',
  description:
    'Softly: the message stays in the history without its content. With permanent it is gone with its replies and reactions. Answers the action message that tells of it.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: MessageIdParams,
  query: NoQuery,
  body: Type.Object({ permanent: Type.Optional(Type.Boolean()) }),
  answer: enveloped(Message),
  errors: rightsErrors,
})
