import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import {
  cursorPageOf,
  enveloped,
  GuidParams,
  Message,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  UidParams,
} from '../schemas.ts'
import { MessageList, MessagePage, messageListQuery, ReplyToSend, sendMessage } from './messages.ts'

/**
 * A thread in a list: its parent message, with details about its replies. The list is ordered by `updatedAt`, the time of
 * the last reply. `subscribed` and `participatedByMe` (wrote the parent or a reply) refer to the acting user.
 */
export const Thread = Type.Object({
  ...Message.properties,
  replyCount: Type.Integer({ description: 'Replies that are not deleted' }),
  lastReply: Type.Optional(Message),
  unreadReplyCount: Type.Optional(Type.Integer({ description: 'With withUnreadReplyCount' })),
  mentionCount: Type.Optional(
    Type.Integer({ description: 'With withMentionCount: unread replies that mention the acting user' }),
  ),
  subscribed: Type.Optional(Type.Boolean()),
  participatedByMe: Type.Optional(Type.Boolean()),
})
export type Thread = Static<typeof Thread>

const shared = { area: 'Messages', access: { user: true }, rateLimit: 'standard' } as const

const ParentParams = Type.Object({ id: Type.String({ description: 'Id of the parent message' }) })

const parentErrors = ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_UID_NOT_FOUND'] as const

const { parentId: _, ...replyBody } = sendMessage.body.properties

export const sendThreadMessage = defineOperation({
  ...shared,
  id: 'send-thread-message',
  userRateLimit: 'sendPerUser',
  takesFiles: true,
  method: 'POST',
  path: '/messages/{id}/thread',
  summary: 'Reply in a thread',
  description:
    "Takes the same body as sending a message. The receiver must be the other user, or the group, of the parent's conversation; any other receiver fails with ERR_WRONG_MESSAGE_THREAD (in multipleReceivers, each on its own).",
  onBehalfOf: 'required',
  params: ParentParams,
  query: NoQuery,
  body: Type.Object(replyBody),
  answer: sendMessage.answer,
  plain: { body: ReplyToSend, answer: enveloped(Message) },
  errors: [...sendMessage.errors],
})

const { hideReplies: __, ...replyFilters } = messageListQuery

export const listThreadMessages = defineOperation({
  ...shared,
  id: 'list-all-thread-messages',
  method: 'GET',
  path: '/messages/{id}/thread',
  summary: 'List the replies of a thread',
  description: 'Pages go by cursors, as in lists of messages, with the same filters.',
  onBehalfOf: 'optional',
  params: ParentParams,
  query: Type.Object(replyFilters),
  answer: MessageList,
  plain: { answer: MessagePage },
  errors: [...parentErrors, 'ERR_PERMISSION_DENIED'],
})

const listQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.threadLimit.max })),
  affix: Type.Optional(oneOf('append', 'prepend')),
  updatedAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Cursor: time of the last reply, epoch seconds. Without id, the page includes this second, and is longer than limit where more threads share it',
    }),
  ),
  id: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,16}$',
      description: 'Cursor, together with updatedAt: id of the parent message, for threads with the same second',
    }),
  ),
  participatedByMe: Type.Optional(
    Type.Boolean({ description: 'Only threads in which the acting user wrote the parent or a reply' }),
  ),
  withUnreadReplyCount: Type.Optional(Type.Boolean()),
  withMentionCount: Type.Optional(Type.Boolean()),
})

const listOrder =
  'Threads with the newest reply first. As in every cursor list, affix=prepend (the default here) returns older threads and append newer ones; within a page the newest is always first.'

export const listThreads = defineOperation({
  ...shared,
  id: 'list-all-threads',
  method: 'GET',
  path: '/threads',
  summary: 'List threads',
  description: listOrder,
  onBehalfOf: 'optional',
  params: NoParams,
  query: listQuery,
  answer: cursorPageOf(Thread),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'],
})

export const listUserThreads = defineOperation({
  ...shared,
  id: 'list-user-threads',
  method: 'GET',
  path: '/users/{uid}/threads',
  summary: 'List threads between two users',
  description: listOrder,
  onBehalfOf: 'required',
  params: UidParams,
  query: listQuery,
  answer: cursorPageOf(Thread),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'],
})

export const listGroupThreads = defineOperation({
  ...shared,
  id: 'list-group-threads',
  method: 'GET',
  path: '/groups/{guid}/threads',
  summary: 'List threads of a group',
  description: listOrder,
  onBehalfOf: 'optional',
  params: GuidParams,
  query: listQuery,
  answer: cursorPageOf(Thread),
  errors: [
    'ERR_GUID_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_GROUP_NOT_JOINED',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_PERMISSION_DENIED',
  ],
})

const subscriptionErrors = [
  ...parentErrors,
  'ERR_PERMISSION_DENIED',
  'ERR_MESSAGE_THREAD_NESTING',
  'ERR_WRONG_MESSAGE_THREAD_CATEGORY',
] as const

export const subscribeThread = defineOperation({
  ...shared,
  id: 'subscribe-thread',
  method: 'POST',
  path: '/messages/{id}/thread/subscription',
  summary: 'Follow a thread as the acting user',
  description: 'Users who start a thread, reply in it or are mentioned in a reply follow it automatically.',
  onBehalfOf: 'required',
  params: ParentParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: subscriptionErrors,
})

export const unsubscribeThread = defineOperation({
  ...shared,
  id: 'unsubscribe-thread',
  method: 'DELETE',
  path: '/messages/{id}/thread/subscription',
  summary: 'Unfollow a thread as the acting user',
  description: 'The next reply of the user, or mention in a reply, makes them follow it again.',
  onBehalfOf: 'required',
  params: ParentParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: parentErrors,
})
