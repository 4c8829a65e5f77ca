import { Type } from 'typebox'
import { ImportGroupDetails, ImportUser } from '../../import-profiles.ts'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import {
  CursorMeta,
  EpochSecondsIn,
  enveloped,
  IdIn,
  JsonObject,
  Message,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  ReceiverType,
  TagsIn,
  withErrorCodes,
} from '../../schemas.ts'
import { contentErrors } from '../messages.ts'

const shared = { area: 'Moderation', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const

const ContentIn = withErrorCodes(JsonObject, { type: 'ERR_INVALID_MESSAGE_DATA' })

export const sendModeratedMessage = defineOperation({
  ...shared,
  id: 'chat-api-send-message-moderation',
  method: 'POST',
  path: '/moderation/messages',
  summary: 'Hand in a message to be judged and sent',
  description:
    'As a send on behalf of the sender: the same rules hold. Users and groups that do not exist are made first, from the details; the sender joins a group that is made. The message gets its place when it is handed in, so sentAt is checked and otherwise of no effect.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    muid: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    category: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    sender: IdIn,
    receiver: withErrorCodes(IdIn, { minLength: 'ERR_EMPTY_RECEIVER' }),
    receiverType: ReceiverType,
    data: Type.Optional(ContentIn),
    senderUserDetails: Type.Optional(ImportUser),
    receiverUserDetails: Type.Optional(ImportUser),
    receiverGroupDetails: Type.Optional(ImportGroupDetails),
    tags: Type.Optional(TagsIn),
    sentAt: Type.Optional(EpochSecondsIn),
  }),
  answer: enveloped(Message),
  errors: [
    'ERR_IMPORT_UID_ERASED',
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_ROLE_NOT_FOUND',
    'ERR_EMPTY_RECEIVER',
    'ERR_EMPTY_MESSAGE_CATEGORY',
    'ERR_INVALID_MESSAGE_CATEGORY',
    'ERR_EMPTY_MESSAGE_TYPE',
    'ERR_INVALID_MESSAGE_TYPE',
    ...contentErrors,
    'ERR_GROUP_NOT_JOINED',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_PERMISSION_DENIED',
  ],
})

export const listModeratedMessages = defineOperation({
  ...shared,
  id: 'chat-api-list-message-moderation',
  method: 'GET',
  path: '/moderation/messages',
  summary: 'List messages that moderation judged',
  description: 'Whether they were handed in here or sent. Ascending; cursors are those of all message lists.',
  params: NoParams,
  query: Type.Object({
    sender: Type.Optional(Type.String({ maxLength: limits.uidLength, description: 'uid' })),
    receiverUID: Type.Optional(Type.String({ maxLength: limits.uidLength })),
    receiverGUID: Type.Optional(Type.String({ maxLength: limits.uidLength })),
    category: Type.Optional(oneOf('message', 'custom', 'interactive')),
    type: Type.Optional(Type.String()),
    moderationStatus: Type.Optional(oneOf('approved', 'disapproved', 'pending')),
    affix: Type.Optional(oneOf('append', 'prepend')),
    id: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$', description: 'Cursor: id of a message' })),
    sentAt: Type.Optional(Type.Integer({ minimum: 0, description: 'Cursor: epoch seconds' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  }),
  answer: Type.Object({ data: Type.Array(Message), meta: CursorMeta }),
  errors: ['ERR_MESSAGE_ID_NOT_FOUND'],
})

const one = {
  ...shared,
  path: '/moderation/messages/{id}',
  params: Type.Object({ id: Type.String({ description: 'Message id' }) }),
  query: NoQuery,
} as const

export const getModeratedMessage = defineOperation({
  ...one,
  id: 'chat-api-get-message-moderation',
  method: 'GET',
  summary: 'Get a message with its moderation status',
  description: 'Also a message that is held or blocked. `data.moderation` has the status, if rules have judged it.',
  answer: enveloped(Message),
  errors: ['ERR_MESSAGE_ID_NOT_FOUND'],
})

export const updateModeratedMessage = defineOperation({
  ...one,
  id: 'chat-api-update-message-moderation',
  method: 'PUT',
  summary: 'Edit a message, and have it judged anew',
  description:
    'As an edit of its sender; properties of data replace those of the message. Returns the message, with the status that was worked out. An edit that a rule blocks is refused, and the message stays as it was.',
  body: Type.Object({ data: Type.Optional(ContentIn) }),
  answer: enveloped(Message),
  errors: [
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_MESSAGE_ACTION_NOT_ALLOWED',
    ...contentErrors,
    'ERR_PERMISSION_DENIED',
  ],
})

export const deleteModeratedMessage = defineOperation({
  ...one,
  id: 'chat-api-delete-message-moderation',
  method: 'DELETE',
  summary: 'Delete a message with its moderation data',
  description:
    'Removes it for good, with its replies and reactions, and with all that moderation knows of it: decisions, flags, notes.',
  answer: enveloped(Outcome),
  errors: ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_MESSAGE_ACTION_NOT_ALLOWED'],
})
