import { type Static, Type } from 'typebox'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, oneOf } from '../../schemas.ts'

/** Why somebody was not notified. Those after `TWILIO_CREATE_ERROR` are beyond the public contract. */
export const notificationReasons = [
  'MESSAGES_PREFERENCE',
  'REPLIES_PREFERENCE',
  'QUOTED_REPLIES_PREFERENCE',
  'MESSAGE_ACTIONS_PREFERENCE',
  'REACTIONS_PREFERENCE',
  'GROUP_ACTIONS_PREFERENCE',
  'DND_PREFERENCE',
  'MUTE_PREFERENCE',
  'SCHEDULE_PREFERENCE',
  'CALL_PREFERENCE',
  'QUOTA_PREFERENCE',
  'MISSING_EMAIL',
  'MISSING_PHNO',
  'INVALID_PUSH_PROVIDER_ID',
  'TIMED_OUT',
  'NOT_FOUND',
  'TWILIO_CREATE_ERROR',
  'BLOCKED',
  'NOT_VISIBLE',
  'ALREADY_READ',
  'NOT_SHOWN',
  'ALREADY_TOLD',
  'UNSUBSCRIBED',
  'PROVIDER_ERROR',
] as const
export type NotificationReason = (typeof notificationReasons)[number]

/** What happened, in the words of the logs. `messages_read` is beyond the public contract. */
export const notificationTriggers = [
  'after_message',
  'message_deleted',
  'message_edited',
  'message_reaction_added',
  'initiated',
  'rejected',
  'cancelled',
  'unanswered',
  'after_group_joined',
  'after_group_left',
  'after_group_members_added',
  'after_group_members_kicked',
  'after_group_members_banned',
  'after_group_members_unbanned',
  'after_scope_changed',
  'messages_read',
] as const
export type NotificationTrigger = (typeof notificationTriggers)[number]

export const channels = ['push', 'email', 'sms'] as const
export type Channel = (typeof channels)[number]
/** Those that tell of what stays unread, some time later. */
export type UnreadChannel = Exclude<Channel, 'push'>
export const providerKinds = ['fcm', 'apns', 'web_push', 'sendgrid', 'smtp', 'twilio', 'custom'] as const

const milliseconds = Type.Integer({ description: 'Epoch milliseconds' })

/** One notification to one user, device or address: what became of it. */
export const NotificationLog = Type.Object(
  {
    _id: Type.String(),
    processingStartedAtMS: milliseconds,
    processingEndedAtMS: Type.Optional(milliseconds),
    totalProcessingTimeInMS: Type.Optional(Type.Integer()),
    component: Type.String(),
    channel: oneOf(...channels),
    provider: Type.String(),
    providerId: Type.Optional(Type.String()),
    messageId: Type.Optional(Type.Integer()),
    reactionId: Type.Optional(Type.Integer()),
    trigger: Type.String(),
    messageSentAtMS: Type.Optional(milliseconds),
    sender: Type.Optional(Type.String({ description: 'Who sent the message' })),
    reactionSender: Type.Optional(Type.String()),
    receiver: Type.String({ description: 'uid or guid' }),
    reactionReceiver: Type.Optional(Type.String()),
    receiverType: oneOf('user', 'group'),
    member: Type.Optional(Type.String({ description: 'The member of a group who was to be notified' })),
    uid: Type.String({ description: 'Who was to be notified' }),
    tokenType: Type.Optional(Type.String()),
    pushToken: Type.Optional(Type.String({ description: 'Shortened' })),
    notificationTriggered: Type.Boolean({ description: 'Whether a provider is, or was, called' }),
    reason: Type.Optional(Type.String({ description: 'Why no provider was called, or why it was given up' })),
    success: Type.Optional(Type.Boolean({ description: 'Whether the provider accepted it; absent while it waits' })),
    attempts: Type.Integer(),
    nextAttemptAtMS: Type.Optional(milliseconds),
    answer: Type.Optional(
      Type.Object(
        { status: Type.Optional(Type.Integer()), text: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    ),
    error: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
export type NotificationLog = Static<typeof NotificationLog>

const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const name = Type.String({ minLength: 1, maxLength: 100 })
const { default: fallback, max } = limits.notificationLogLimit

export const listNotificationLogs = defineOperation({
  area: 'Notifications',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  id: 'notifications-logs',
  method: 'GET',
  path: '/notifications/v1/logs',
  summary: 'List what became of notifications, newest page first',
  description:
    'Rows ascend. `affix=prepend` with the `logId` of `meta.previous` goes on to older ones, `append` with that of `meta.next` to newer ones; without `logId`, `prepend` is the newest page and `append` the oldest. Unlike in other lists with a cursor, `prepend` is the default: without both it is the newest page.',
  params: NoParams,
  query: Type.Object({
    messageId: Type.Optional(id),
    reactionId: Type.Optional(id),
    from: Type.Optional(Type.Integer({ minimum: 0, description: 'Epoch milliseconds: messages sent after this' })),
    to: Type.Optional(Type.Integer({ minimum: 0, description: 'Epoch milliseconds: messages sent up to this' })),
    messageCategory: Type.Optional(oneOf('message', 'custom', 'interactive')),
    messageType: Type.Optional(name),
    trigger: Type.Optional(oneOf(...notificationTriggers)),
    sender: Type.Optional(name),
    reactionSender: Type.Optional(name),
    receiver: Type.Optional(name),
    receiverType: Type.Optional(oneOf('user', 'group')),
    reactionReceiver: Type.Optional(name),
    member: Type.Optional(name),
    channel: Type.Optional(oneOf(...channels)),
    provider: Type.Optional(oneOf(...providerKinds)),
    notificationTriggered: Type.Optional(Type.Boolean()),
    reason: Type.Optional(oneOf(...notificationReasons)),
    success: Type.Optional(Type.Boolean()),
    affix: Type.Optional(oneOf('append', 'prepend')),
    logId: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: max, default: fallback })),
  }),
  answer: Type.Object({
    data: Type.Array(NotificationLog),
    meta: Type.Object({
      previous: Type.Optional(Type.Object({ affix: oneOf('prepend'), logId: Type.String() })),
      current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
      next: Type.Optional(Type.Object({ affix: oneOf('append'), logId: Type.String() })),
    }),
  }),
  errors: [],
})

/** What became of a notification that is over. */
export type NotificationStatus = 'delivered' | 'failed' | 'stopped'

const again = {
  area: 'Notifications',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  method: 'POST',
} as const

export const resendNotification = defineOperation({
  ...again,
  id: 'redeliver-notification',
  path: '/notifications/v1/logs/{logId}/redeliver',
  summary: 'Resend one push of the log',
  description:
    'Whatever became of it, it is decided again and sent soon, under the same ids, with another hour to live. What a gate stops now is not sent. Of a provider that was removed nothing is sent.',
  params: Type.Object({ logId: Type.String() }),
  query: NoQuery,
  answer: enveloped(NotificationLog),
  errors: ['ERR_DELIVERY_NOT_FOUND'],
})

const moment = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Epoch milliseconds, or seconds below 1e11',
})

export const resendNotifications = defineOperation({
  ...again,
  id: 'redeliver-notifications',
  path: '/notifications/v1/logs/redeliver',
  summary: 'Resend pushes of the log, by status and time',
  description: '`from` and `to` limit the time of `processingStartedAtMS`.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    status: oneOf('delivered', 'failed', 'stopped'),
    from: Type.Optional(moment),
    to: Type.Optional(moment),
    uid: Type.Optional(name),
    provider: Type.Optional(oneOf(...providerKinds)),
  }),
  answer: enveloped(
    Type.Object({ count: Type.Integer({ description: 'Number of pushes that are decided and sent again' }) }),
  ),
  errors: [],
})
