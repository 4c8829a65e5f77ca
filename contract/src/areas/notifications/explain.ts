import { type Static, Type } from 'typebox'
import { TemplatesIn } from '../../notifications/templates.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, JsonObject, MessageIdIn, NoParams, NoQuery, oneOf } from '../../schemas.ts'
import { channels, NotificationLog } from './logs.ts'

const shared = {
  area: 'Notifications',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  params: NoParams,
} as const

/** One thing that was looked at. */
const NotificationGate = Type.Object(
  {
    gate: Type.String({
      description:
        'messages, replies, ...; dnd, mute, schedule, privacyTemplate, blocks, online, read; of e-mail and SMS also window, quota, address, unsubscribed; when it was about to be sent also timeToLive, membership, message, account, device, shown. Where nothing was planned: provider, sender, membership, account, pushGroupSize, emailGroupSize, smsGroupSize, messages, replies, ..., device, shown, sendNotification, category, message',
    }),
    value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], { description: 'What it said' }),
    setBy: oneOf('user', 'app', 'default', 'chat'),
    passes: Type.Boolean(),
  },
  { additionalProperties: false },
)
export type NotificationGate = Static<typeof NotificationGate>

/** Why a user is in no log of an event, or in none of one channel. */
export const unplannedReasons = [
  'ERASED',
  'HELD',
  'DELETED',
  'HIDDEN',
  'NOT_NOTIFYING',
  'NO_EVENT',
  'NO_PROVIDER',
  'OWN_ACTION',
  'NOT_A_PARTICIPANT',
  'DEACTIVATED',
  'GROUP_TOO_LARGE',
  'NOT_CHOSEN',
  'NO_DEVICE',
  'MESSAGES_ONLY',
  'NOTHING_SHOWN',
  'NOT_LISTED',
  'NOT_PLANNED',
] as const
export type UnplannedReason = (typeof unplannedReasons)[number]

const unplanned = (description: string) =>
  Type.Unsafe<UnplannedReason>({ type: 'string', enum: [...unplannedReasons], description })

const Explanation = Type.Object(
  {
    uid: Type.String(),
    notifications: Type.Array(
      Type.Object(
        { ...NotificationLog.properties, gates: Type.Array(NotificationGate) },
        { additionalProperties: false },
      ),
      {
        description:
          'One for each event and device, oldest first: what was looked at, and what became of it. An e-mail or SMS is here if it lists the message, or may do so when its window ends; it was decided by the newest message that it lists',
      },
    ),
    unplanned: Type.Optional(
      unplanned(
        'Only without notifications. ERASED: the message was removed for good. HELD: moderation holds it. DELETED: it is deleted. HIDDEN: it is hidden from the user. NOT_NOTIFYING: nobody is notified of such a message, of a custom one without `data.sendNotification: true`. NO_EVENT: no event of it is in the log. NO_PROVIDER: the app has none that is enabled. OWN_ACTION: they did it themselves. NOT_A_PARTICIPANT, DEACTIVATED: as things are now. GROUP_TOO_LARGE: the group has more members than the setting pushGroupSize, emailGroupSize or smsGroupSize. NOT_CHOSEN: only who chose so is told of this. NO_DEVICE: no device is registered. MESSAGES_ONLY: e-mails and SMS tell of new messages only. NOTHING_SHOWN: an edit or a deletion of a message that was not sent to any device. NOT_LISTED: an e-mail or SMS about the conversation was decided without the message: it was read by then, or not wanted. NOT_PLANNED: it was not planned then, or is waiting for it',
      ),
    ),
    gates: Type.Optional(
      Type.Array(NotificationGate, {
        description: 'Only with `unplanned`: what stopped it before anything was planned',
      }),
    ),
    channels: Type.Optional(
      Type.Array(
        Type.Object(
          {
            channel: oneOf(...channels),
            unplanned: unplanned('As the other `unplanned`'),
            gates: Type.Optional(Type.Array(NotificationGate)),
          },
          { additionalProperties: false },
        ),
        {
          description:
            'Only with notifications: why there are none by the other channels. Absent where nothing else may be told of the message',
        },
      ),
    ),
  },
  { additionalProperties: false },
)
export type Explanation = Static<typeof Explanation>

export const explainNotification = defineOperation({
  ...shared,
  id: 'explain-notification',
  method: 'GET',
  path: '/notifications/v1/explain',
  summary: 'Explain why a user was notified of a message or an event, or was not',
  description:
    'Give `messageId` or `eventId` (as in `GET /events`). Every gate is listed with its value at that time. Of a message that is deleted, held by moderation or hidden from the user, only that gate is told.',
  query: Type.Object({
    uid: Type.String({ minLength: 1, maxLength: 100 }),
    messageId: Type.Optional(MessageIdIn),
    eventId: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$' })),
  }),
  answer: enveloped(Explanation),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'],
})

const Preview = Type.Object(
  {
    uid: Type.String(),
    channel: oneOf(...channels),
    provider: Type.String(),
    providerId: Type.String(),
    tokenType: Type.Optional(Type.String()),
    notificationTriggered: Type.Boolean({ description: 'Whether it would be sent now' }),
    reason: Type.Optional(Type.String()),
    gates: Type.Array(NotificationGate),
    title: Type.String({ description: 'Of an e-mail: its subject. Empty for SMS' }),
    body: Type.String(),
  },
  { additionalProperties: false },
)
export type Preview = Static<typeof Preview>

export const previewNotification = defineOperation({
  ...shared,
  id: 'preview-notification',
  method: 'POST',
  path: '/notifications/v1/preview',
  summary: 'Preview who would be notified of a message, and how',
  description:
    'Nothing is sent or stored. Of a group, the first 100 users and devices are listed. E-mails and SMS are shown as if this were the only unread message; what was sent before is not counted. `templates` are taken as if they were saved, to see what a change of them says.',
  query: NoQuery,
  body: Type.Object({
    sender: Type.String({ minLength: 1, maxLength: 100 }),
    receiver: Type.String({ minLength: 1, maxLength: 100 }),
    receiverType: oneOf('user', 'group'),
    category: Type.Optional(oneOf('message', 'custom', 'interactive')),
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    data: JsonObject,
    parentId: Type.Optional(MessageIdIn),
    quotedMessageId: Type.Optional(MessageIdIn),
    templates: Type.Optional(TemplatesIn),
  }),
  answer: enveloped(Type.Object({ notifications: Type.Array(Preview) })),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND'],
})
