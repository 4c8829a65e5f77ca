import { type Static, type TSchema, Type } from 'typebox'
import { Conversation, IdIn, JsonObject, Message, MessageIdIn, oneOf, ReceiverType, User } from './schemas.ts'

/**
 * The frames of the socket: each one JSON object, as text. Clients authenticate with the first frame and then receive
 * events. The AsyncAPI document and the validation of frames from clients are derived from these declarations.
 */

/** Paths of the socket, on the same port as the REST operations. */
export const socketPaths = ['/', '/v3', '/v3.0'] as const

/** Why the service closed a socket. Codes below 4000 are from RFC 6455, the others are defined by this service. */
export const socketCloses = {
  binary: { code: 1003, meaning: 'A frame was not text.' },
  notJson: { code: 1007, meaning: 'A frame was not a JSON object.' },
  tooBig: { code: 1009, meaning: 'A frame was too large.' },
  restart: { code: 1012, meaning: 'The service is stopping or restarting. Reconnect.' },
  tryAgain: { code: 1013, meaning: 'Events may have been missed. Reconnect and list what is new.' },
  notAuthenticated: { code: 4401, meaning: 'The first frame was not an auth frame, or its token is not valid.' },
  sessionEnded: { code: 4403, meaning: 'The token ended or was deleted, or its user was deactivated or deleted.' },
  authTimeout: { code: 4408, meaning: 'No auth frame arrived in time.' },
  replaced: { code: 4409, meaning: 'The user has opened too many newer sockets.' },
  idle: { code: 4410, meaning: 'The client sent nothing for too long, not even a pong.' },
  tooSlow: { code: 4413, meaning: 'The client reads frames too slowly.' },
  tooFast: {
    code: 4429,
    meaning: 'The client sends too many frames, or too many that fail, or its app makes too many requests.',
  },
  paused: { code: 4503, meaning: 'The app is paused. Reconnect later.' },
} as const

export type SocketClose = keyof typeof socketCloses

const DeviceId = Type.String({
  maxLength: 1000,
  description: 'One per device or browser tab; the same as the header `resource` of its REST requests',
})
const AppId = Type.String({ maxLength: 100 })
const Epoch = Type.Integer({ description: 'Epoch seconds' })

export const presenceSubscriptions = ['ALL_USERS', 'FRIENDS', 'ROLES', 'NONE'] as const
export type PresenceSubscription = (typeof presenceSubscriptions)[number]

/** A user in frames: without metadata and tags. */
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
    Type.String({ maxLength: 100, description: 'uid of the user; refused if the token belongs to another user' }),
  ),
  body: Type.Object({
    auth: Type.String({
      minLength: 1,
      maxLength: 8000,
      description: 'The auth token (`jwt` of PUT /me), or a JWT of the app’s own issuer',
    }),
    deviceId: Type.Optional(DeviceId),
    presenceSubscription: Type.Optional(
      Type.Unsafe<PresenceSubscription>({
        type: 'string',
        enum: [...presenceSubscriptions],
        description: 'Whose presence to receive; NONE by default',
      }),
    ),
    roles: Type.Optional(Type.Array(IdIn, { maxItems: 25, description: 'With ROLES: the roles' })),
    hideMessagesFromBlockedUsers: Type.Optional(
      Type.Boolean({
        description: 'Leave out group messages of users blocked by this user, like the filter of message lists',
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

/** Marks all messages up to this one; stored. */
export const ReceiptsFrameIn = Type.Object({
  ...addressed,
  type: oneOf('receipts'),
  messageSender: Type.Optional(Type.String({ maxLength: 100 })),
  body: Type.Object({ action: oneOf('delivered', 'read'), messageId: MessageIdIn }),
})

/** Sent to connected receivers, never stored. */
export const TransientFrameIn = Type.Object({
  ...addressed,
  type: oneOf('transient_message'),
  body: Type.Object({ data: Type.Unsafe<unknown>({ description: 'Anything' }) }),
})

export type TypingFrameIn = Static<typeof TypingFrameIn>
export type ReceiptsFrameIn = Static<typeof ReceiptsFrameIn>
export type TransientFrameIn = Static<typeof TransientFrameIn>

// What the service sends

/** The response to the first frame. After any code but 200 the socket is closed. */
export const AuthAnswer = Type.Object({
  type: oneOf('auth'),
  body: Type.Object({
    code: Type.String({ description: '200, 400, 401, 429 or 503' }),
    status: Type.String({ description: 'OK, or the error code' }),
  }),
})

export const PongFrame = Type.Object({ action: oneOf('pong') })

/** A frame of the client was not valid or not allowed. The socket stays open. */
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

/** Goes to everyone who subscribed to it, so it has no receiver. */
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
    id: Type.String({ description: 'Id of the reaction' }),
    messageId: Type.String(),
    reaction: Type.String(),
    uid: Type.String(),
    reactedAt: Epoch,
    reactedBy: SocketUser,
    conversationId: Type.String(),
    receiver: Type.String(),
    receiverType: ReceiverType,
    parentId: Type.Optional(
      Type.String({ description: 'If the message is a reply: the parent message of the thread' }),
    ),
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

/** Goes to the sender of the message alone. */
export const ModerationFrame = envelope('on_moderation_status_changed', Message)

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
  { name: 'auth', summary: 'Authenticates the client; the first frame', schema: AuthFrame },
  { name: 'ping', summary: 'The heartbeat', schema: PingFrame },
  { name: 'typing', summary: 'The user starts or stops typing', schema: TypingFrameIn },
  {
    name: 'receipts',
    summary: 'Marks the messages up to this one as delivered or read; stored',
    schema: ReceiptsFrameIn,
  },
  { name: 'transient', summary: 'A message to connected receivers; not stored', schema: TransientFrameIn },
]

export const serverFrames: readonly FrameDeclaration[] = [
  { name: 'authAnswer', summary: 'Whether the login was accepted', schema: AuthAnswer },
  { name: 'pong', summary: 'The response to a ping', schema: PongFrame },
  { name: 'message', summary: 'A new message, or an action: an edit, a deletion, a group event', schema: MessageFrame },
  { name: 'typingIndicator', summary: 'A user starts or stops typing', schema: TypingFrame },
  { name: 'receipt', summary: 'A user received or read the messages up to this one', schema: ReceiptsFrame },
  { name: 'presence', summary: 'A user came online or went offline', schema: PresenceFrame },
  { name: 'reaction', summary: 'A reaction was added or removed', schema: ReactionFrame },
  { name: 'messagePin', summary: 'A message was pinned or unpinned', schema: MessagePinFrame },
  { name: 'messageSave', summary: 'The user saved a message, or removed a saved one', schema: MessageSaveFrame },
  { name: 'conversationPin', summary: 'The user pinned or unpinned a conversation', schema: ConversationPinFrame },
  { name: 'interaction', summary: 'A user reached the goal of an interactive message', schema: InteractionFrame },
  {
    name: 'moderation',
    summary: 'Moderation decided about a message of the user; `data.moderation` says what',
    schema: ModerationFrame,
  },
  {
    name: 'transientMessage',
    summary: 'A message that another client sent to connected receivers',
    schema: TransientFrame,
  },
  { name: 'error', summary: 'A frame of this client was refused', schema: ErrorFrame },
]
