import { type Static, Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { JsonObject, NoParams } from '../schemas.ts'

/** Something that happened, as the sockets of the user were sent it. */
export const FeedEvent = Type.Object({
  id: Type.String({ description: 'Decimal string; rises' }),
  frame: Type.Unsafe<Record<string, unknown>>({
    ...JsonObject,
    description: 'The frame of the socket: `{type, sender, receiver, receiverType, body}`, see /asyncapi.json',
  }),
})
export type FeedEvent = Static<typeof FeedEvent>

/** Beyond the public contract: what the sockets of a user were sent, for those who missed it. */
export const listMyEvents = defineOperation({
  id: 'list-my-events',
  area: 'Users',
  access: { user: true },
  onBehalfOf: 'required',
  rateLimit: 'standard',
  method: 'GET',
  path: '/me/events',
  summary: 'Catch up on what the sockets of the user were sent',
  description:
    'Without `after`, there are no events, only `meta.after` to start from; take it before you read lists. Afterwards each request returns what happened since, oldest first, as frames of the socket: messages, edits, deletions, reactions, receipts, pins, saves, changes of members, as far as the user may see them now. Repeat the request with `meta.after` while `meta.more` is true. With `meta.reload`, events are missing: read the lists again. From the first request on, events of the app are stored; each request of any of its users extends this for a day. They are kept for as long as all events (`EVENTS_RETENTION_DAYS`).',
  params: NoParams,
  query: Type.Object({
    after: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,16}$', description: '`meta.after` of the previous response' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
  }),
  answer: Type.Object({
    data: Type.Array(FeedEvent),
    meta: Type.Object({
      after: Type.String({ description: 'For `after` of the next request' }),
      more: Type.Boolean({ description: 'There is more to ask for, at once' }),
      reload: Type.Optional(Type.Boolean({ description: 'true: events after the given place are gone' })),
    }),
  }),
  errors: [],
})
