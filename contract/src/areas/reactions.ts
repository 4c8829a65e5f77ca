import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { cursorPageOf, enveloped, Message, NoQuery, oneOf, User } from '../schemas.ts'

/** One user's reaction to one message. Ids are decimal strings that increase with each reaction. */
export const Reaction = Type.Object({
  id: Type.String(),
  messageId: Type.String(),
  reaction: Type.String(),
  uid: Type.String(),
  reactedAt: Type.Integer({ description: 'Epoch seconds' }),
  reactedBy: User,
})
export type Reaction = Static<typeof Reaction>

const MessageIdParams = Type.Object({ id: Type.String({ description: 'Message id' }) })

const ReactionParams = Type.Object({
  id: Type.String({ description: 'Message id' }),
  reaction: Type.String({
    description: `An emoji or other text of at most ${limits.reactionLength} characters, URL-encoded`,
  }),
})

const listQuery = Type.Object({
  affix: Type.Optional(oneOf('append', 'prepend')),
  id: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$', description: 'Cursor: id of a reaction' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.reactionLimit.max })),
})

const shared = { area: 'Messages', access: { user: true }, rateLimit: 'standard' } as const

const errors = ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'] as const

export const listReactions = defineOperation({
  ...shared,
  id: 'list-all-reactions',
  method: 'GET',
  path: '/messages/{id}/reactions',
  summary: 'List all reactions to a message',
  description: `One row per user and reaction, oldest first. The permission listReactions decides who sees them; how many gave each reaction is part of the message. affix=prepend without id returns the newest page. The default limit is ${limits.reactionLimit.default} rows.`,
  onBehalfOf: 'optional',
  params: MessageIdParams,
  query: listQuery,
  answer: cursorPageOf(Reaction),
  errors,
})

export const listReactionsOfKind = defineOperation({
  ...shared,
  id: 'get-message-reactions',
  method: 'GET',
  path: '/messages/{id}/reactions/{reaction}',
  summary: 'List the users who gave one reaction to a message',
  description: 'Like the list of all reactions, for one of them.',
  onBehalfOf: 'optional',
  params: ReactionParams,
  query: listQuery,
  answer: cursorPageOf(Reaction),
  errors,
})

export const addReaction = defineOperation({
  ...shared,
  id: 'add-message-reactions',
  method: 'POST',
  path: '/messages/{id}/reactions/{reaction}',
  summary: 'Add a reaction to a message',
  description: `Adding the same reaction again changes nothing. A message can have ${limits.reactionsPerMessage} different reactions, each from any number of users. Returns the message with its reactions, both in data and as the field reactions.`,
  onBehalfOf: 'required',
  params: ReactionParams,
  query: NoQuery,
  answer: enveloped(Message),
  errors: [...errors, 'ERR_MESSAGE_ACTION_NOT_ALLOWED', 'ERR_BLOCKED_RECEIVER', 'ERR_BLOCKED_SENDER'],
})

export const removeReaction = defineOperation({
  ...shared,
  id: 'remove-message-reactions',
  method: 'DELETE',
  path: '/messages/{id}/reactions/{reaction}',
  summary: "Remove the acting user's reaction to a message",
  description: 'Removing a reaction that does not exist changes nothing. Returns the message with its reactions.',
  onBehalfOf: 'required',
  params: ReactionParams,
  query: NoQuery,
  answer: enveloped(Message),
  errors,
})
