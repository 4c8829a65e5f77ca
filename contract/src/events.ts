import { type Static, type TSchema, Type } from 'typebox'
import { Group, JsonObject, Message, oneOf, ReceiverType, ScopeIn, User } from './schemas.ts'
import type { TriggerId } from './triggers.ts'

/** The triggers that this service fires, without those of the legacy envelope alone. */
export type EventTriggerId = Extract<
  TriggerId,
  | `message_${string}`
  | `group_${string}`
  | `moderation_${string}`
  | 'user_mentioned'
  | 'user_blocked'
  | 'user_unblocked'
  | 'user_connection_status_changed'
>

/** A message; if it was permanently deleted before the event was sent, only its ids. */
const EventMessage = Type.Union([
  Message,
  Type.Object(
    { id: Type.String(), conversationId: Type.Optional(Type.String()), sentAt: Type.Optional(Type.Integer()) },
    { additionalProperties: false },
  ),
])

/** A group; if it was deleted before the event was sent, only its ids. */
const EventGroup = Type.Partial(Group)

const Users = Type.Record(Type.String(), User)

const MessageEvent = Type.Object({ message: EventMessage })

/**
 * `message` is the action message: `data.action` is `edited` or `deleted`, `data.entities` has the user who did it
 * (`by`), the receiver (`for`) and the message (`on`).
 */
const ChangeEvent = Type.Object({ message: Type.Union([Message, JsonObject]) })

const Receipt = (...actions: string[]) =>
  Type.Object({
    receiver: Type.String({ description: 'One-to-one: the sender of the message. Group: the guid.' }),
    receiverType: ReceiverType,
    type: Type.Literal('receipts'),
    sender: Type.String({ description: 'uid of the user who received or read it' }),
    messageSender: Type.Optional(Type.String()),
    body: Type.Object({
      action: oneOf(...actions),
      messageId: Type.String({ description: 'The newest message covered; all earlier ones are covered too' }),
      user: Type.Object(
        {
          hasBlockedMe: Type.Boolean(),
          blockedByMe: Type.Boolean(),
          deactivatedAt: Type.Integer({ description: '0 if not deactivated' }),
          status: Type.Literal('online'),
        },
        { additionalProperties: true, description: 'A user, as seen by the sender of the message' },
      ),
      timestamp: Type.Integer({ description: 'Epoch seconds' }),
    }),
  })

const ReactionEvent = Type.Object({
  reaction: Type.Object({
    id: Type.String(),
    messageId: Type.String(),
    reaction: Type.Optional(Type.String({ description: 'Absent if the message was permanently deleted' })),
    uid: Type.String(),
    reactedAt: Type.Integer({ description: 'Epoch seconds' }),
    reactedBy: User,
  }),
})

/** Each of `users` with the id of the conversation with `by`. */
const BlockEvent = Type.Object({ users: Users, by: User })

const Milliseconds = Type.Integer({ description: 'Epoch milliseconds' })

const ConnectionEvent = Type.Object({
  timestamp: Milliseconds,
  user: User,
  status: oneOf('online', 'offline'),
  currentConnection: Type.Object({
    action: oneOf('connected', 'disconnected'),
    appInfo: Type.Optional(JsonObject),
    platform: Type.Optional(Type.String()),
    userAgent: Type.Optional(Type.String()),
    connectedAt: Milliseconds,
  }),
  userPresenceChanged: Type.Boolean(),
})

const GroupEvent = Type.Object({ group: EventGroup })

/** Members by uid (a map even for one member), each with the id of the conversation with `by`. */
const MemberEvent = Type.Object({ group: EventGroup, members: Users, by: User })

/** The user did it: there is no `by`. */
const OwnMemberEvent = Type.Object({ group: EventGroup, members: Users })

const RescopedMember = Type.Object(
  { ...User.properties, scope: ScopeIn, oldScope: ScopeIn },
  { additionalProperties: false },
)

const TransferredGroup = Type.Object(
  { ...EventGroup.properties, owner: Type.String(), oldOwner: Type.String() },
  { additionalProperties: false },
)

/** The condition of a rule that a message met, and the rule as it was then. */
const ModerationHit = Type.Object({
  condition: JsonObject,
  rule: Type.Object({
    id: Type.String(),
    name: Type.String(),
    revisionId: Type.String(),
    action: Type.Array(Type.String()),
    blockedAt: Type.String({ description: 'Epoch seconds, a dot, the id of the message with 15 digits' }),
  }),
})

/** `data.moderation.status` of the message is what was decided, whatever became of it since. */
const ManualApprovalEvent = Type.Object({
  message: EventMessage,
  moderation: Type.Array(ModerationHit),
  reviewed: Type.Boolean(),
})

/** What is known of an engine's failure; absent members are left out. */
const EngineFailure = Type.Object(
  {
    category: oneOf('http_4xx', 'http_5xx', 'timeout', 'connection_error', 'invalid_response', 'not_configured'),
    errorMessage: Type.String(),
    failedAt: Type.Integer({ description: 'Epoch seconds' }),
    responseBodyTruncated: Type.Boolean(),
    httpStatus: Type.Optional(Type.Integer()),
    responseBody: Type.Optional(
      Type.String({
        description: 'The first 2 KB; absent once the message is edited or deleted, since it may quote it',
      }),
    ),
    timeoutMs: Type.Optional(Type.Integer()),
    validationErrors: Type.Optional(Type.Array(Type.String())),
    context: JsonObject,
  },
  { additionalProperties: false },
)

const EngineFailureEvent = Type.Object({
  resource: Type.Partial(
    Type.Object({
      id: Type.String(),
      conversationId: Type.String(),
      sender: Type.String(),
      receiverType: ReceiverType,
      receiver: Type.String(),
      category: Type.String(),
      type: Type.String(),
      sentAt: Type.Integer({ description: 'Epoch seconds' }),
    }),
    { description: 'The message; if it was permanently deleted before the event was sent, only its place' },
  ),
  contentType: oneOf('text', 'image', 'video', 'audio', 'file'),
  outcome: oneOf('approved', 'disapproved'),
  completedAt: Type.Integer({ description: 'Epoch seconds' }),
  failures: Type.Array(EngineFailure),
})

/** `data` of each event in the current envelope, by trigger. */
export const eventData = {
  message_sent: MessageEvent,
  message_edited: ChangeEvent,
  message_deleted: ChangeEvent,
  message_delivery_receipt: Receipt('delivered'),
  message_read_receipt: Receipt('read'),
  message_delivered_to_all: Receipt('deliveredToAll'),
  message_read_by_all: Receipt('readByAll'),
  message_reaction_added: ReactionEvent,
  message_reaction_removed: ReactionEvent,
  user_mentioned: MessageEvent,
  user_blocked: BlockEvent,
  user_unblocked: BlockEvent,
  user_connection_status_changed: ConnectionEvent,
  group_created: Type.Object({ group: EventGroup, members: Users }),
  group_updated: GroupEvent,
  group_deleted: GroupEvent,
  group_owner_transferred: Type.Object({ group: TransferredGroup }),
  group_member_joined: OwnMemberEvent,
  group_member_left: OwnMemberEvent,
  group_member_added: MemberEvent,
  group_member_kicked: MemberEvent,
  group_member_banned: MemberEvent,
  group_member_unbanned: MemberEvent,
  group_member_scope_changed: Type.Object({
    group: EventGroup,
    members: Type.Record(Type.String(), RescopedMember),
    by: User,
  }),
  moderation_engine_approved: MessageEvent,
  moderation_engine_blocked: MessageEvent,
  moderation_manual_approved: ManualApprovalEvent,
  moderation_engine_failed: EngineFailureEvent,
} as const satisfies Record<EventTriggerId, TSchema>

/** Every kind of event. */
export const eventTriggerIds = Object.keys(eventData) as EventTriggerId[]

const LegacyConnection = Type.Object({
  connected_at: Milliseconds,
  cometchat_device_id: Type.String(),
  session_id: Type.String(),
  platform: Type.Optional(Type.String()),
})

const legacyReceipt = {
  messageId: Type.String(),
  messageSender: Type.Optional(Type.String()),
  receiptSender: Type.String(),
  receiptReceiver: Type.String(),
  receiverType: ReceiverType,
}

/** `data` in the legacy envelope, by trigger. */
export const legacyEventData = {
  after_message: EventMessage,
  message_delivery_receipt: Type.Object({
    ...legacyReceipt,
    receiptType: Type.Literal('delivered'),
    deliveredAt: Type.Integer(),
  }),
  message_read_receipt: Type.Object({
    ...legacyReceipt,
    receiptType: Type.Literal('read'),
    readAt: Type.Integer(),
  }),
  after_connection_status_changed: Type.Object({
    user: Type.Object({
      uid: Type.String(),
      status: oneOf('online', 'offline'),
      status_updated: Type.Boolean(),
      status_updated_at: Milliseconds,
    }),
    event: Type.Object({ type: oneOf('connected', 'disconnected'), at: Milliseconds, event_for: LegacyConnection }),
    connections: Type.Array(LegacyConnection),
  }),
  moderation_engine_approved: EventMessage,
  moderation_engine_blocked: EventMessage,
  moderation_manual_approved: ManualApprovalEvent,
  moderation_engine_failed: EngineFailureEvent,
} as const

/** An event as `GET /events` returns it. Webhook deliveries have `webhook` instead of `id` and `createdAt`. */
export const PulledEvent = Type.Object(
  {
    id: Type.String({ description: 'Increases over time; the same in each webhook delivery of this event' }),
    trigger: oneOf(...eventTriggerIds),
    data: JsonObject,
    appId: Type.String(),
    region: Type.String(),
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
  },
  { additionalProperties: false },
)
export type PulledEvent = Static<typeof PulledEvent>
