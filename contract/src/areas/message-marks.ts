import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { enveloped, Message, NoQuery, Outcome } from '../schemas.ts'
import { sendMessage } from './messages.ts'

const MessageIdParams = Type.Object({ id: Type.String({ description: 'Message id' }) })

const shared = {
  area: 'Messages',
  access: { user: true },
  rateLimit: 'standard',
  params: MessageIdParams,
  query: NoQuery,
} as const

const errors = ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_UID_NOT_FOUND'] as const

export const pinMessage = defineOperation({
  ...shared,
  id: 'pin-message',
  method: 'POST',
  path: '/messages/{id}/pin',
  summary: 'Pin a message in its conversation',
  description: `Pins as the acting user, or without onBehalfOf as the app. Pinning a pinned message changes nothing. A conversation can have ${limits.pinnedMessagesPerConversation} pinned messages unless the app's settings say otherwise.`,
  onBehalfOf: 'optional',
  answer: enveloped(Message),
  errors: [
    ...errors,
    'ERR_MESSAGE_ACTION_NOT_ALLOWED',
    'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED',
    'ERR_PERMISSION_DENIED',
    'ERR_BLOCKED_RECEIVER',
    'ERR_BLOCKED_SENDER',
  ],
})

export const unpinMessage = defineOperation({
  ...shared,
  id: 'unpin-message',
  method: 'DELETE',
  path: '/messages/{id}/pin',
  summary: 'Unpin a message',
  description:
    'Whoever pinned it. In a group the acting user needs the right to pin. One that is not pinned stays as it is.',
  onBehalfOf: 'optional',
  answer: enveloped(Message),
  errors: [...errors, 'ERR_PERMISSION_DENIED'],
})

export const saveMessage = defineOperation({
  ...shared,
  id: 'save-message',
  method: 'POST',
  path: '/messages/{id}/save',
  summary: 'Save a message for the acting user',
  description: `Only the acting user sees which messages they have saved. A user can save ${limits.savedMessagesPerUser} messages unless the app's settings say otherwise.`,
  onBehalfOf: 'required',
  answer: enveloped(Message),
  errors: [...errors, 'ERR_MESSAGE_ACTION_NOT_ALLOWED', 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED'],
})

export const unsaveMessage = defineOperation({
  ...shared,
  id: 'unsave-message',
  method: 'DELETE',
  path: '/messages/{id}/save',
  summary: 'Remove a saved message of the acting user',
  description:
    'One that is not saved stays as it is. Of a message that the user does not see any more, the answer has no content.',
  onBehalfOf: 'required',
  answer: enveloped(Message),
  errors,
})

export const markInteracted = defineOperation({
  ...shared,
  id: 'mark-message-as-interacted',
  method: 'PATCH',
  path: '/messages/{id}/interacted',
  summary: "Record the acting user's interactions with an interactive message",
  description: 'Each ID must be an element of the message. Only the first interaction with an element is recorded.',
  onBehalfOf: 'required',
  body: Type.Object({
    interactions: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 100 }),
  }),
  answer: enveloped(Outcome),
  errors: [...errors, 'ERR_MESSAGE_ACTION_NOT_ALLOWED'],
})

export const sendBotMessage = defineOperation({
  ...sendMessage,
  id: 'send-bot-message',
  path: '/bots/{uid}/messages',
  summary: 'Send a message as a bot',
  description: 'A bot is a user with the role "bot".',
  access: {},
  onBehalfOf: 'ignored',
  params: Type.Object({ uid: Type.String({ description: 'uid of the bot' }) }),
  errors: [...sendMessage.errors, 'ERR_BOT_NOT_FOUND'],
})
