import { Type } from 'typebox'
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
  summary: 'Pin a message in its conversation, as the app or as a user',
  description: 'Pinned again, the first pin stays. Pins of the app and of users share the limit of 100 a conversation.',
  onBehalfOf: 'optional',
  answer: enveloped(Message),
  errors: [...errors, 'ERR_MESSAGE_ACTION_NOT_ALLOWED', 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED'],
})

export const unpinMessage = defineOperation({
  ...shared,
  id: 'unpin-message',
  method: 'DELETE',
  path: '/messages/{id}/pin',
  summary: 'Unpin a message, whoever pinned it',
  onBehalfOf: 'optional',
  answer: enveloped(Message),
  errors,
})

export const saveMessage = defineOperation({
  ...shared,
  id: 'save-message',
  method: 'POST',
  path: '/messages/{id}/save',
  summary: "Put a message on the acting user's private saved list",
  onBehalfOf: 'required',
  answer: enveloped(Message),
  errors: [...errors, 'ERR_MESSAGE_ACTION_NOT_ALLOWED', 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED'],
})

export const unsaveMessage = defineOperation({
  ...shared,
  id: 'unsave-message',
  method: 'DELETE',
  path: '/messages/{id}/save',
  summary: "Take a message off the acting user's saved list",
  onBehalfOf: 'required',
  answer: enveloped(Message),
  errors,
})

export const markInteracted = defineOperation({
  ...shared,
  id: 'mark-message-as-interacted',
  method: 'PATCH',
  path: '/messages/{id}/interacted',
  summary: 'Note that the acting user used elements of an interactive message',
  description: 'Each id must be one that the message declares. The first time is kept.',
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
  description: 'Bots are users of role "bot".',
  access: {},
  onBehalfOf: 'ignored',
  params: Type.Object({ uid: Type.String({ description: 'uid of the bot' }) }),
  errors: [...sendMessage.errors, 'ERR_BOT_NOT_FOUND'],
})
