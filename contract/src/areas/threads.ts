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
import { MessageList, messageListQuery, sendMessage } from './messages.ts'

/**
 * A thread in a list: its parent message, with what goes on below it. `updatedAt` is the time of the last reply, by which
 * the list is ordered. `subscribed` and `participatedByMe` (wrote the parent or a reply) are the acting user's.
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
  takesFiles: true,
  method: 'POST',
  path: '/messages/{id}/thread',
  summary: 'Send a reply in the thread of a message',
  description:
    'Takes the same body as sending a message; the receiver is the other side, or the group, of the conversation of the parent. Receivers of another conversation are refused with ERR_WRONG_MESSAGE_THREAD, in multipleReceivers one by one.',
  onBehalfOf: 'required',
  params: ParentParams,
  query: NoQuery,
  body: Type.Object(replyBody),
  answer: sendMessage.answer,
  errors: [...sendMessage.errors],
})

const { hideReplies: __, ...replyFilters } = messageListQuery

export const listThreadMessages = defineOperation({
  ...shared,
  id: 'list-all-thread-messages',
  method: 'GET',
  path: '/messages/{id}/thread',
  summary: 'List the replies in the thread of a message',
  onBehalfOf: 'optional',
  params: ParentParams,
  query: Type.Object(replyFilters),
  answer: MessageList,
  errors: [...parentErrors, 'ERR_PERMISSION_DENIED'],
})

const listQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.threadLimit.max })),
  affix: Type.Optional(oneOf('append', 'prepend')),
  updatedAt: Type.Optional(Type.Integer({ minimum: 0, description: 'Cursor: time of the last reply, epoch seconds' })),
  id: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,16}$',
      description: 'Cursor, beside updatedAt: id of the parent message, which tells threads of one second apart',
    }),
  ),
  participatedByMe: Type.Optional(
    Type.Boolean({ description: 'Only threads in which the acting user wrote the parent or a reply' }),
  ),
  withUnreadReplyCount: Type.Optional(Type.Boolean()),
  withMentionCount: Type.Optional(Type.Boolean()),
})

const listOrder =
  'Threads with the newest reply first. As in every list with a cursor, affix=prepend (the default here) goes towards older ones and append towards newer ones; within a page the newest stays first.'

export const listThreads = defineOperation({
  ...shared,
  id: 'list-all-threads',
  method: 'GET',
  path: '/threads',
  summary: "List threads of the app, or of the acting user's conversations",
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
  summary: 'List the threads between the acting user and uid',
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
  summary: 'List the threads of a group',
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
  summary: 'Let the acting user follow a thread',
  description: 'Who starts a thread, replies in it or is mentioned in a reply follows it anyway.',
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
  summary: 'Stop following a thread',
  description: 'The next own reply, or mention in one, subscribes again.',
  onBehalfOf: 'required',
  params: ParentParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: parentErrors,
})
