import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { limits } from './limits.ts'

/** Any JSON object: stored and returned as it was sent. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

/** Epoch seconds in a request: an integer, or the same as a decimal string. */
export const EpochSecondsIn = Type.Unsafe<number | string>({
  anyOf: [
    { type: 'integer', minimum: 0, maximum: 99_999_999_999 },
    { type: 'string', pattern: '^[0-9]{1,11}$' },
  ],
  description: 'Epoch seconds, as an integer or a decimal string',
})

/** A message id in a request: a positive integer below 2^53, or the same as a decimal string. */
export const MessageIdIn = Type.Unsafe<number | string>({
  anyOf: [
    { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: '^[0-9]{1,16}$' },
  ],
  description: 'Message id, as an integer or a decimal string',
})

/** uid, guid or role id in a request; stored and compared in lower case. */
export const IdIn = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' })

/**
 * The same schema with error codes of its own, by the JSON Schema keyword that a value breaks: `{ type: 'ERR_...' }`. What
 * breaks another keyword is `ERR_BAD_REQUEST`.
 */
export function withErrorCodes<Schema extends TSchema>(
  schema: Schema,
  codes: Readonly<Record<string, ErrorCode>>,
): Schema {
  return { ...schema, [errorCodesKey]: codes }
}

/** The member of a schema that holds its error codes. */
export const errorCodesKey = 'x-error-codes'

/** Role of AI agents: built in, as the default role is. */
export const agenticRole = '@agentic'

/** Role that a user gets: one of the app's roles, or that of agents. */
export const RoleOfUserIn = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^(?:[A-Za-z0-9_-]+|@[Aa][Gg][Ee][Nn][Tt][Ii][Cc])$',
})

/** `avatar`, `icon`, `link`: an absolute URL of at most 3,000 characters; the image itself is not stored. */
export const UrlIn = Type.String({ minLength: 1, maxLength: 3000, pattern: '^[A-Za-z][A-Za-z0-9+.-]*://[^\\s]+$' })

export const NameIn = Type.String({ minLength: 1, maxLength: 100 })

export const TagsIn = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 25 })

/** One of the given strings, as a plain JSON Schema enum (one validation error instead of one per choice). */
export function oneOf<const Values extends readonly string[]>(...values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] })
}

export const GroupTypeIn = oneOf('public', 'password', 'private')
export const ScopeIn = oneOf('admin', 'moderator', 'participant')
export const ReceiverType = oneOf('user', 'group')

const Epoch = Type.Integer({ description: 'Epoch seconds' })

/** A user in a response; optional fields are left out if they have no value. */
export const User = Type.Object(
  {
    uid: Type.String(),
    name: Type.String(),
    avatar: Type.Optional(Type.String()),
    link: Type.Optional(Type.String()),
    role: Type.Optional(Type.String()),
    status: Type.Optional(oneOf('available', 'offline')),
    statusMessage: Type.Optional(Type.String()),
    metadata: Type.Optional(JsonObject),
    tags: Type.Optional(Type.Array(Type.String())),
    createdAt: Type.Optional(Epoch),
    updatedAt: Type.Optional(Epoch),
    lastActiveAt: Type.Optional(Epoch),
    deactivatedAt: Type.Optional(Epoch),
    conversationId: Type.Optional(Type.String({ description: 'Conversation between this user and the viewer' })),
    blockedByMe: Type.Optional(Type.Boolean()),
    blockedByMeAt: Type.Optional(Epoch),
    hasBlockedMe: Type.Optional(Type.Boolean()),
    blockedAt: Type.Optional(Epoch),
  },
  { additionalProperties: false },
)
export type User = Static<typeof User>

/** A group in a response; `scope`, `joinedAt`, `hasJoined`, `isBanned` refer to the viewer. */
export const Group = Type.Object(
  {
    guid: Type.String(),
    name: Type.String(),
    type: oneOf('public', 'password', 'private'),
    icon: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    owner: Type.Optional(Type.String()),
    metadata: Type.Optional(JsonObject),
    tags: Type.Optional(Type.Array(Type.String())),
    membersCount: Type.Optional(Type.Integer()),
    onlineMembersCount: Type.Optional(Type.Integer()),
    conversationId: Type.Optional(Type.String()),
    createdAt: Type.Optional(Epoch),
    updatedAt: Type.Optional(Epoch),
    updatedBy: Type.Optional(Type.String()),
    scope: Type.Optional(ScopeIn),
    joinedAt: Type.Optional(Epoch),
    hasJoined: Type.Optional(Type.Boolean()),
    isBanned: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type Group = Static<typeof Group>

/**
 * A message in a response. `data` is what was sent plus `entities` (sender and receiver; for an action `by`, `on` and
 * `for`). `id` and `parentId` are decimal strings.
 */
export const Message = Type.Object(
  {
    id: Type.String(),
    muid: Type.Optional(Type.String()),
    conversationId: Type.String(),
    sender: Type.String(),
    receiverType: ReceiverType,
    receiver: Type.String(),
    category: Type.String(),
    type: Type.String(),
    data: JsonObject,
    parentId: Type.Optional(Type.String()),
    quotedMessageId: Type.Optional(Type.String()),
    quotedMessage: Type.Optional(JsonObject),
    tags: Type.Optional(Type.Array(Type.String())),
    sentAt: Epoch,
    deliveredAt: Type.Optional(Epoch),
    readAt: Type.Optional(Epoch),
    deliveredToMeAt: Type.Optional(Epoch),
    readByMeAt: Type.Optional(Epoch),
    editedAt: Type.Optional(Epoch),
    editedBy: Type.Optional(Type.String()),
    deletedAt: Type.Optional(Epoch),
    deletedBy: Type.Optional(Type.String()),
    updatedAt: Epoch,
    replyCount: Type.Optional(Type.Integer()),
    unreadRepliesCount: Type.Optional(Type.Integer()),
    threadSubscribed: Type.Optional(Type.Boolean()),
    reactions: Type.Optional(
      Type.Array(
        Type.Object({
          reaction: Type.String(),
          count: Type.Integer(),
          reactedByMe: Type.Optional(Type.Boolean()),
        }),
      ),
    ),
    pinnedBy: Type.Optional(Type.String()),
    pinnedAt: Type.Optional(Epoch),
    savedAt: Type.Optional(Epoch),
  },
  { additionalProperties: false },
)
export type Message = Static<typeof Message>

/** A conversation as one of its participants sees it. */
export const Conversation = Type.Object(
  {
    conversationId: Type.String(),
    conversationType: ReceiverType,
    unreadMessageCount: Type.Optional(Type.String({ description: 'Decimal string' })),
    createdAt: Type.Optional(Epoch),
    updatedAt: Type.Optional(Epoch),
    lastMessage: Type.Optional(Message),
    conversationWith: Type.Optional(JsonObject),
    tags: Type.Optional(Type.Array(Type.String())),
    pinnedBy: Type.Optional(Type.String()),
    pinnedAt: Type.Optional(Epoch),
  },
  { additionalProperties: false },
)
export type Conversation = Static<typeof Conversation>

/** In `meta` of what a search counted, where there is more than was counted. */
export const CountAtLeast = Type.Optional(
  Type.Boolean({
    description: `true where the search has more than ${limits.countedHits} hits: so many were counted. Otherwise absent, and counts are exact`,
  }),
)

/** `meta` of the counts of a search; without it they are exact. */
export const CountMeta = Type.Object({ countAtLeast: CountAtLeast })
export type CountMeta = Static<typeof CountMeta>

/** `meta` of page lists; `pagination.total` is exact, in a search up to `limits.countedHits`. */
export const PageMeta = Type.Object({
  countAtLeast: CountAtLeast,
  pagination: Type.Object({
    total: Type.Integer(),
    count: Type.Integer(),
    per_page: Type.Integer(),
    current_page: Type.Integer(),
    total_pages: Type.Integer(),
  }),
})
export type PageMeta = Static<typeof PageMeta>

/** `cursor` of page lists, in `meta` or next to it: where a client that syncs by `updatedAt` continues. */
export const UpdatedAtCursor = Type.Object({ updatedAt: Epoch, affix: oneOf('append', 'prepend') })

const MessageCursor = Type.Object({
  affix: oneOf('append', 'prepend'),
  id: Type.Optional(Type.String()),
  sentAt: Type.Optional(Epoch),
  updatedAt: Type.Optional(Epoch),
})

/**
 * `meta` of cursor lists. Older front ends expect `cursor` and `pagination` on every page, even on the last one. There
 * is no `total_pages`, since it would make them stop.
 */
export const CursorMeta = Type.Object({
  previous: Type.Optional(MessageCursor),
  current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
  next: Type.Optional(MessageCursor),
  cursor: MessageCursor,
  pagination: Type.Object({ count: Type.Integer(), per_page: Type.Integer() }),
})
export type CursorMeta = Static<typeof CursorMeta>

/** Response to deletions and marks. */
export const Outcome = Type.Object({ success: Type.Boolean(), message: Type.String() })

/** The same object, in which these members are required too. For documents: see `Plain`. */
export function requiring(schema: TObject, ...members: string[]): TSchema {
  const { required = [] } = schema as { required?: readonly string[] }
  return { ...schema, required: [...new Set([...required, ...members])] }
}

/** The envelope of one entity: `{"data": ...}`. */
export function enveloped<T extends TSchema>(data: T) {
  return Type.Object({ data })
}

/** The envelope of a page list: `{"data": [...], "meta": {"pagination": ...}, "cursor"?: ...}`. */
export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({ data: Type.Array(item), meta: PageMeta, cursor: Type.Optional(UpdatedAtCursor) })
}

/** The same, with the cursor in `meta`: `{"data": [...], "meta": {"pagination": ..., "cursor"?: ...}}`. */
export function syncPageOf<T extends TSchema>(item: T) {
  const meta = Type.Object({ ...PageMeta.properties, cursor: Type.Optional(UpdatedAtCursor) })
  return Type.Object({ data: Type.Array(item), meta })
}

/** The envelope of a cursor list: `{"data": [...], "meta": {"current": ...}}`. */
export function cursorPageOf<T extends TSchema>(item: T) {
  return Type.Object({ data: Type.Array(item), meta: CursorMeta })
}

/** Query parameters of page lists: `page` (from 1) and `perPage` or `per_page` (1 to `max`). */
export function pageQuery(max = 1000) {
  return {
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
    perPage: Type.Optional(Type.Integer({ minimum: 1, maximum: max, default: 100 })),
  }
}

export const NoParams = Type.Object({})
export const NoQuery = Type.Object({})
export const UidParams = Type.Object({ uid: Type.String() })
export const GuidParams = Type.Object({ guid: Type.String() })
