import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { cursorPageOf, enveloped, Message, NoQuery, oneOf, User } from '../schemas.ts'

/** One user's reaction on one message. Ids are decimal strings and rise in the order in which reactions are given. */
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
  summary: 'List every reaction on a message',
  description: `One row for each user and reaction, oldest first; affix=prepend without id gives the newest page. ${limits.reactionLimit.default} rows where no limit is asked for.`,
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
  summary: 'List who gave one reaction on a message',
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
  summary: 'Put a reaction on a message',
  description: `Given already, it stays as it is. A message takes ${limits.reactionsPerMessage} different reactions, each from any number of users. Answers the message with its reactions, in data and beside it.`,
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
  summary: "Take the acting user's reaction off a message",
  description: 'Not given, nothing changes. Answers the message with its reactions.',
  onBehalfOf: 'required',
  params: ReactionParams,
  query: NoQuery,
  answer: enveloped(Message),
  errors,
})
