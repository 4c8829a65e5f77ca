import { type Static, Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import {
  type CountMeta,
  type CursorMeta,
  cursorPageOf,
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
  withErrorCodes,
} from '../schemas.ts'

const shared = { area: 'Messages', rateLimit: 'standard' } as const

/** `data` of a message. */
const ContentIn = withErrorCodes(JsonObject, { type: 'ERR_INVALID_MESSAGE_DATA' })

/** What a message says, as most messages do: other members are stored and returned as they were sent. */
export const MessageData = Type.Object(
  {
    text: Type.Optional(Type.String({ description: 'Required in a text; the caption of files otherwise' })),
    attachments: Type.Optional(
      Type.Array(
        Type.Object(
          {
            url: Type.String(),
            name: Type.Optional(Type.String()),
            extension: Type.Optional(Type.String()),
            mimeType: Type.Optional(Type.String()),
            size: Type.Optional(Type.Integer({ description: 'Bytes' })),
          },
          { additionalProperties: true },
        ),
        { description: 'Files, by their addresses; required in an image, video, audio or file' },
      ),
    ),
    metadata: Type.Optional(JsonObject),
    customData: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ ...JsonObject, description: 'Required in a custom message' }),
    ),
    interactiveData: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ ...JsonObject, description: 'Of an interactive message' }),
    ),
  },
  { additionalProperties: true },
)

const sendable = {
  category: Type.Optional(
    Type.Unsafe<string>({ type: 'string', enum: ['message', 'custom', 'interactive'], default: 'message' }),
  ),
  type: Type.Optional(
    Type.String({
      description:
        'text (the default), image, video, audio or file; of a custom message any name, of an interactive one card by default',
    }),
  ),
  data: MessageData,
  muid: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Your own id: sent again, it is stored once' }),
  ),
  quotedMessageId: Type.Optional(MessageIdIn),
  tags: Type.Optional(TagsIn),
}

/** A message to one receiver. */
export const MessageToSend = Type.Object({
  receiver: Type.String({ minLength: 1, maxLength: 100, description: 'uid or guid' }),
  receiverType: ReceiverType,
  ...sendable,
  parentId: Type.Optional(MessageIdIn),
})

/** A reply: its receiver is that of its thread. */
export const ReplyToSend = Type.Object({
  receiver: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'uid or guid' })),
  receiverType: Type.Optional(ReceiverType),
  ...sendable,
})

/** Response to a message sent to `multipleReceivers`: the outcome for each receiver. */
const ManyOutcomes = Type.Object({
  uids: Type.Optional(JsonObject),
  guids: Type.Optional(JsonObject),
})

const MessageIdParams = Type.Object({ id: Type.String({ description: 'Message id' }) })

/** What may be wrong with what a message says, or between the two whom it is between; of sends and of edits. */
export const contentErrors = [
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
  'ERR_BLOCKED_BY_WEBHOOK',
] as const

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
    'Sends to a user or a group. With `multipleReceivers: {"uids": [...], "guids": [...]}` in place of receiver and receiverType it sends to several, and the response has an outcome for each: `{"data": {"uids": {"bob": {"success": true, "data": {...}}}}}`. If the sender has already used the muid in this conversation, the stored message is returned and nothing is sent. Without onBehalfOf, the sender is app_system. Up to ten users can be mentioned as <@uid:alice> in data.text, which is also the caption of files; responses list them in data.mentions. <@all:...> is kept as text.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    receiver: Type.Optional(withErrorCodes(IdIn, { minLength: 'ERR_EMPTY_RECEIVER' })),
    receiverType: Type.Optional(Type.String()),
    category: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    data: Type.Optional(ContentIn),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ ...JsonObject, description: 'In a multipart form: data.metadata' }),
    ),
    caption: Type.Optional(Type.String({ description: 'In a multipart form: data.text' })),
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
  plain: { body: MessageToSend, answer: enveloped(Message) },
  errors: [
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_EMPTY_RECEIVER',
    'ERR_INVALID_RECEIVER_TYPE',
    'ERR_EMPTY_MESSAGE_CATEGORY',
    'ERR_INVALID_MESSAGE_CATEGORY',
    'ERR_EMPTY_MESSAGE_TYPE',
    'ERR_INVALID_MESSAGE_TYPE',
    ...contentErrors,
    'ERR_GROUP_NOT_JOINED',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_PERMISSION_DENIED',
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_WRONG_MESSAGE_THREAD',
    'ERR_WRONG_MESSAGE_THREAD_CATEGORY',
    'ERR_MESSAGE_THREAD_NESTING',
  ],
})

/** Filters and cursors of all message lists. */
export const messageListQuery = {
  searchKey: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'Only messages whose text or caption contains this string; works in every script and ignores case, width and repeated spaces',
    }),
  ),
  affix: Type.Optional(oneOf('append', 'prepend')),
  id: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$', description: 'Cursor: id of a message' })),
  sentAt: Type.Optional(Type.Integer({ minimum: 0, description: 'Cursor: epoch seconds' })),
  updatedAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Cursor by time of change, epoch seconds. Without id, the page includes this second, and is longer than limit where more changes share it',
    }),
  ),
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
  withTags: Type.Optional(Type.Boolean({ description: 'Return the tags of each message' })),
  hasAttachments: Type.Optional(Type.Boolean()),
  attachmentTypes: Type.Optional(Type.Array(oneOf('image', 'video', 'audio', 'file'), { maxItems: 4 })),
  hasLinks: Type.Optional(Type.Boolean()),
  hasReactions: Type.Optional(Type.Boolean()),
  hasMentions: Type.Optional(Type.Boolean({ description: 'Only messages that mention a user of the app' })),
  mentionedUids: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Only messages that mention one of these uids' }),
  ),
  myMentionsOnly: Type.Optional(Type.Boolean({ description: 'Only messages that mention the acting user' })),
  mentionsWithTagInfo: Type.Optional(Type.Boolean({ description: 'Return the tags of mentioned users' })),
  mentionsWithBlockedInfo: Type.Optional(
    Type.Boolean({ description: 'Return the blocks between the acting user and mentioned users' }),
  ),
  pinned: Type.Optional(Type.Boolean({ description: 'Only pinned messages' })),
  pinnedBy: Type.Optional(Type.String({ description: 'Only messages pinned by this uid (or app_system)' })),
  saved: Type.Optional(Type.Boolean({ description: 'Only messages saved by the acting user' })),
  hideReplies: Type.Optional(Type.Boolean()),
  hideDeleted: Type.Optional(Type.Boolean()),
  onlyDeleted: Type.Optional(Type.Boolean()),
  fromTimestamp: Type.Optional(Type.Integer({ minimum: 0 })),
  toTimestamp: Type.Optional(Type.Integer({ minimum: 0, description: 'Ignored without fromTimestamp' })),
  hideMessagesFromBlockedUsers: Type.Optional(
    Type.Boolean({
      description: 'Leave out messages of users blocked by the acting user, also where other messages quote them',
    }),
  ),
  hideQuotedMessages: Type.Optional(Type.Boolean()),
  withThreadSubscribed: Type.Optional(
    Type.Boolean({ description: 'Return for each message with a thread whether the acting user follows it' }),
  ),
  unread: Type.Optional(Type.Boolean({ description: 'Only messages that the acting user has not read' })),
  undelivered: Type.Optional(Type.Boolean({ description: 'Only messages not delivered to the acting user' })),
  count: Type.Optional(
    Type.Boolean({
      description:
        'Return the number of messages per conversation instead of messages: `{"data": [{"entityId": "bob", "entityType": "user", "count": 3}]}`',
    }),
  ),
}

/** The rows of a message list; with `count=true` a count for each conversation. */
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
  meta: Type.Optional(Type.Unsafe<CursorMeta | PageMeta | CountMeta>({ type: 'object', additionalProperties: true })),
})

/** A page of messages, without `count`. */
export const MessagePage = cursorPageOf(Message)

export type MessageCount =
  | { entityId: string; entityType: 'user' | 'group'; count: number }
  | { conversationId: string; count: number }

export const listAllMessages = defineOperation({
  ...shared,
  id: 'list-all-messages',
  method: 'GET',
  path: '/messages',
  summary: 'List messages',
  description:
    'With an acting user: of all their conversations. Without: all messages of the app. Pages go by cursors; without affix and cursor the oldest come first.',
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
  plain: { answer: MessagePage },
  errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'],
})

export const listUserMessages = defineOperation({
  ...shared,
  id: 'user-list-user-messages',
  method: 'GET',
  path: '/users/{uid}/messages',
  summary: 'List messages between two users',
  description:
    'The messages between the acting user and uid. Without onBehalfOf: what uid sent or received one-to-one, and sent in groups.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: UidParams,
  query: Type.Object(messageListQuery),
  answer: MessageList,
  plain: { answer: MessagePage },
  errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'],
})

export const listGroupMessages = defineOperation({
  ...shared,
  id: 'user-list-group-messages',
  method: 'GET',
  path: '/groups/{guid}/messages',
  summary: 'List messages of a group',
  description:
    'With an acting user, only for members, and what they may see. Pages go by cursors; without affix and cursor the oldest come first.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: GuidParams,
  query: Type.Object(messageListQuery),
  answer: MessageList,
  plain: { answer: MessagePage },
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
  summary: 'Get a message',
  description:
    'For a message to a group, the sender and the app also get receipts: who received it, out of the users who were members when it was sent, at most 1,000.',
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
    'Only the sender of a message and the app can edit it. Properties sent in data replace those of the message; tags replace its tags. What the message then says must be something its sender may send. Returns the action message of the edit; the edited message is in its data.entities.on.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: MessageIdParams,
  query: NoQuery,
  body: Type.Object({ data: Type.Optional(ContentIn), tags: Type.Optional(TagsIn) }),
  answer: enveloped(Message),
  errors: [...rightsErrors, ...contentErrors],
})

export const deleteMessage = defineOperation({
  ...shared,
  id: 'delete-message',
  method: 'DELETE',
  path: '/messages/{id}',
  summary: 'Delete a message',
  description:
    'The message stays in the history without its content. With permanent it is removed, with its replies and reactions; if the acting user cannot delete the replies of others, those stay and the message is deleted as without permanent. Returns the action message of the deletion. Action messages, and those of calls, can only be removed by the app, with permanent and without an acting user; nobody is told, and the answer is the message as it was.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: MessageIdParams,
  query: NoQuery,
  body: Type.Object({ permanent: Type.Optional(Type.Boolean()) }),
  answer: enveloped(Message),
  errors: rightsErrors,
})
