import { type Static, type TSchema, Type } from 'typebox'
import { Conversation, IdIn, JsonObject, Message, MessageIdIn, oneOf, ReceiverType, User } from './schemas.ts'

/**
 * The frames of the socket: one JSON object each, as text. Clients say who they are in the first one; what happens is
 * told from then on. The AsyncAPI document and the checks of what clients send are made from these declarations.
 */

/** Paths on which a socket opens, on the port of the REST operations. */
export const socketPaths = ['/', '/v3', '/v3.0'] as const

/** Why a socket was closed by the service. Codes below 4000 are those of RFC 6455, the others are this service's own. */
export const socketCloses = {
  binary: { code: 1003, meaning: 'A frame was not text.' },
  notJson: { code: 1007, meaning: 'A frame was not one JSON object.' },
  tooBig: { code: 1009, meaning: 'A frame was larger than frames may be.' },
  restart: { code: 1012, meaning: 'The service stops or starts anew. Connect again.' },
  tryAgain: { code: 1013, meaning: 'Something may have been missed. Connect again and list what is new.' },
  notAuthenticated: { code: 4401, meaning: 'The first frame was no auth frame, or its token is not valid.' },
  sessionEnded: { code: 4403, meaning: 'The token was dropped, or its user was deactivated or deleted.' },
  authTimeout: { code: 4408, meaning: 'No auth frame came in time.' },
  replaced: { code: 4409, meaning: 'The user has as many newer sockets as one may have.' },
  idle: { code: 4410, meaning: 'Nothing was heard from the client for too long, not even an answer to a ping.' },
  tooSlow: { code: 4413, meaning: 'The client reads more slowly than frames are sent to it.' },
  tooFast: { code: 4429, meaning: 'The client sends more frames than one may, or its app makes too many requests.' },
} as const

export type SocketClose = keyof typeof socketCloses

const DeviceId = Type.String({
  maxLength: 1000,
  description: 'One for each device or browser tab: header `resource` of its REST calls',
})
const AppId = Type.String({ maxLength: 100 })
const Epoch = Type.Integer({ description: 'Epoch seconds' })

export const presenceSubscriptions = ['ALL_USERS', 'FRIENDS', 'ROLES', 'NONE'] as const
export type PresenceSubscription = (typeof presenceSubscriptions)[number]

/** A user as frames show him: nothing of his metadata or tags. */
export const SocketUser = Type.Object(
  {
    uid: User.properties.uid,
    name: User.properties.name,
    avatar: User.properties.avatar,
    link: User.properties.link,
    role: User.properties.role,
    status: User.properties.status,
    statusMessage: User.properties.statusMessage,
    createdAt: User.properties.createdAt,
    lastActiveAt: User.properties.lastActiveAt,
  },
  { additionalProperties: false },
)
export type SocketUser = Static<typeof SocketUser>

// What clients send

/** The first frame. */
export const AuthFrame = Type.Object({
  type: oneOf('auth'),
  appId: Type.Optional(AppId),
  deviceId: Type.Optional(DeviceId),
  sender: Type.Optional(
    Type.String({ maxLength: 100, description: 'uid of the token; refused when it is of another' }),
  ),
  body: Type.Object({
    auth: Type.String({ minLength: 1, maxLength: 1000, description: 'The auth token (`jwt` of PUT /me)' }),
    deviceId: Type.Optional(DeviceId),
    presenceSubscription: Type.Optional(
      Type.Unsafe<PresenceSubscription>({
        type: 'string',
        enum: [...presenceSubscriptions],
        description: 'Whose coming and going is told; NONE where it is left out',
      }),
    ),
    roles: Type.Optional(Type.Array(IdIn, { maxItems: 25, description: 'With ROLES: which' })),
    hideMessagesFromBlockedUsers: Type.Optional(
      Type.Boolean({
        description: 'In groups, tell nothing of users whom this one has blocked; as the filter of lists',
      }),
    ),
    params: Type.Optional(
      Type.Object({
        platform: Type.Optional(Type.String({ maxLength: 100 })),
        userAgent: Type.Optional(Type.String({ maxLength: 1000 })),
        deviceId: Type.Optional(DeviceId),
        appInfo: Type.Optional(JsonObject),
      }),
    ),
  }),
})
export type AuthFrame = Static<typeof AuthFrame>

/** The heartbeat. */
export const PingFrame = Type.Object({ action: oneOf('ping'), ack: Type.Optional(Type.Unsafe<unknown>({})) })

const addressed = {
  appId: Type.Optional(AppId),
  sender: Type.Optional(Type.String({ maxLength: 100 })),
  receiver: IdIn,
  receiverType: ReceiverType,
  deviceId: Type.Optional(DeviceId),
}

export const TypingFrameIn = Type.Object({
  ...addressed,
  type: oneOf('typing_indicator'),
  body: Type.Object({ action: oneOf('started', 'ended'), metadata: Type.Optional(JsonObject) }),
})

/** Stored as a mark up to the message. */
export const ReceiptsFrameIn = Type.Object({
  ...addressed,
  type: oneOf('receipts'),
  messageSender: Type.Optional(Type.String({ maxLength: 100 })),
  body: Type.Object({ action: oneOf('delivered', 'read'), messageId: MessageIdIn }),
})

/** Passed on to those who are connected, never stored. */
export const TransientFrameIn = Type.Object({
  ...addressed,
  type: oneOf('transient_message'),
  body: Type.Object({ data: Type.Unsafe<unknown>({ description: 'Anything' }) }),
})

export type TypingFrameIn = Static<typeof TypingFrameIn>
export type ReceiptsFrameIn = Static<typeof ReceiptsFrameIn>
export type TransientFrameIn = Static<typeof TransientFrameIn>

// What the service sends

/** The answer to the first frame; any code but 200 is followed by a close. */
export const AuthAnswer = Type.Object({
  type: oneOf('auth'),
  body: Type.Object({
    code: Type.String({ description: '200, or 400, 401, 503' }),
    status: Type.String({ description: 'OK, or the error code' }),
  }),
})

export const PongFrame = Type.Object({ action: oneOf('pong') })

/** A client's frame that was not understood, or not allowed. The socket stays open. */
export const ErrorFrame = Type.Object({
  type: oneOf('error'),
  body: Type.Object({
    code: Type.String(),
    message: Type.String(),
    devMessage: Type.Optional(Type.String()),
    frame: Type.Optional(Type.String({ description: 'Type of the frame that was refused' })),
  }),
})

const envelope = <Name extends string, Body extends TSchema>(type: Name, body: Body, extra: object = {}) =>
  Type.Object({
    appId: AppId,
    type: oneOf(type),
    sender: Type.String({ description: 'uid' }),
    receiver: Type.String({ description: 'uid or guid' }),
    receiverType: ReceiverType,
    deviceId: Type.Optional(DeviceId),
    ...extra,
    body,
  })

export const MessageFrame = envelope('message', Message)

export const TypingFrame = envelope(
  'typing_indicator',
  Type.Object({ action: oneOf('started', 'ended'), user: SocketUser, metadata: Type.Optional(JsonObject) }),
)

export const ReceiptsFrame = envelope(
  'receipts',
  Type.Object({
    action: oneOf('delivered', 'read', 'deliveredToAll', 'readByAll'),
    messageId: Type.String(),
    user: SocketUser,
    timestamp: Epoch,
  }),
  { messageSender: Type.Optional(Type.String({ description: 'uid' })) },
)

/** Goes to whoever asked for it, so it names no receiver. */
export const PresenceFrame = Type.Object({
  appId: AppId,
  type: oneOf('presence'),
  sender: Type.String({ description: 'uid' }),
  body: Type.Object({ action: oneOf('online', 'offline'), user: SocketUser, timestamp: Epoch }),
})

export const ReactionFrame = envelope(
  'reaction',
  Type.Object({
    action: oneOf('message_reaction_added', 'message_reaction_removed'),
    id: Type.String({ description: 'Of the reaction' }),
    messageId: Type.String(),
    reaction: Type.String(),
    uid: Type.String(),
    reactedAt: Epoch,
    reactedBy: SocketUser,
    conversationId: Type.String(),
    receiver: Type.String(),
    receiverType: ReceiverType,
    parentId: Type.Optional(Type.String({ description: 'Where the message is a reply: the message that it answers' })),
  }),
)

/** Goes to those who take part in the conversation. */
export const MessagePinFrame = envelope(
  'message_pin',
  Type.Object({ action: oneOf('pinned', 'unpinned'), message: Message }),
)

/** Goes to the user's own other devices. */
export const MessageSaveFrame = envelope(
  'message_save',
  Type.Object({ action: oneOf('saved', 'unsaved'), message: Message }),
)

/** Goes to the user's own other devices. */
export const ConversationPinFrame = envelope(
  'conversation_pin',
  Type.Object({ action: oneOf('pinned', 'unpinned'), conversation: Conversation }),
)

/** Goes to the sender of the message, and to the user's own other devices. */
export const InteractionFrame = envelope(
  'interaction_completed',
  Type.Object({
    messageId: Type.String(),
    user: SocketUser,
    interactions: Type.Array(Type.Object({ elementId: Type.String(), interactedAt: Epoch })),
  }),
  { messageSender: Type.String({ description: 'uid' }) },
)

export const TransientFrame = envelope(
  'transient_message',
  Type.Object({ user: SocketUser, data: Type.Unsafe<unknown>({}) }),
)

/** One kind of frame, for the AsyncAPI document. */
export interface FrameDeclaration {
  readonly name: string
  readonly summary: string
  readonly schema: TSchema
}

export const clientFrames: readonly FrameDeclaration[] = [
  { name: 'auth', summary: 'Says who connects; the first frame', schema: AuthFrame },
  { name: 'ping', summary: 'The heartbeat', schema: PingFrame },
  { name: 'typing', summary: 'The user begins or stops typing', schema: TypingFrameIn },
  { name: 'receipts', summary: 'Messages up to this one were delivered or read; stored', schema: ReceiptsFrameIn },
  { name: 'transient', summary: 'Something for those who are connected; not stored', schema: TransientFrameIn },
]

export const serverFrames: readonly FrameDeclaration[] = [
  { name: 'authAnswer', summary: 'Whether the login was accepted', schema: AuthAnswer },
  { name: 'pong', summary: 'The answer to a ping', schema: PongFrame },
  { name: 'message', summary: 'A new message, or an action: edited, deleted, group events', schema: MessageFrame },
  { name: 'typingIndicator', summary: 'Somebody begins or stops typing', schema: TypingFrame },
  { name: 'receipt', summary: 'Somebody got or read messages up to this one', schema: ReceiptsFrame },
  { name: 'presence', summary: 'Somebody came or went', schema: PresenceFrame },
  { name: 'reaction', summary: 'A reaction was given or taken back', schema: ReactionFrame },
  { name: 'messagePin', summary: 'A message was pinned or unpinned', schema: MessagePinFrame },
  { name: 'messageSave', summary: 'The user saved a message, or took it off the list', schema: MessageSaveFrame },
  { name: 'conversationPin', summary: 'The user pinned or unpinned a conversation', schema: ConversationPinFrame },
  { name: 'interaction', summary: 'Somebody reached the goal of an interactive message', schema: InteractionFrame },
  { name: 'transientMessage', summary: 'What another client sent to those who are connected', schema: TransientFrame },
  { name: 'error', summary: 'A frame of this client was refused', schema: ErrorFrame },
]
