import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, GuidParams, NoParams, NoQuery, Outcome, oneOf, UidParams } from '../schemas.ts'

const shared = {
  area: 'Apps',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  query: NoQuery,
} as const

export const retentionModes = ['delete', 'strip'] as const
export type RetentionMode = (typeof retentionModes)[number]

const Days = Type.Integer({ minimum: 0, maximum: 36_500, description: 'Days that messages are kept; 0: for ever' })
const Mode = oneOf(...retentionModes)

const Retention = Type.Object({
  days: Days,
  mode: Mode,
  isOwn: Type.Boolean({ description: 'The group has its own; else that of the app holds' }),
})

export const getGroupRetention = defineOperation({
  ...shared,
  id: 'get-group-retention',
  method: 'GET',
  path: '/groups/{guid}/retention',
  summary: 'Get how long the messages of a group are kept',
  description: 'Its own rule, or that of the app where isOwn is false.',
  params: GuidParams,
  answer: enveloped(Retention),
  errors: ['ERR_GUID_NOT_FOUND'],
})

export const setGroupRetention = defineOperation({
  ...shared,
  id: 'set-group-retention',
  method: 'PUT',
  path: '/groups/{guid}/retention',
  summary: 'Set how long the messages of a group are kept',
  description:
    'Instead of the settings messageRetentionDays and messageRetention of the app. delete: older messages are removed for good; strip: they stay as deleted ones, without their content.',
  params: GuidParams,
  body: Type.Object({ days: Days, mode: Type.Optional(Mode) }),
  answer: enveloped(Retention),
  errors: ['ERR_GUID_NOT_FOUND'],
})

export const unsetGroupRetention = defineOperation({
  ...shared,
  id: 'unset-group-retention',
  method: 'DELETE',
  path: '/groups/{guid}/retention',
  summary: 'Keep the messages of a group as long as the app has set',
  description:
    'Removes the rule of the group. What the app has set holds for all of its messages, from the next look on.',
  params: GuidParams,
  answer: enveloped(Retention),
  errors: ['ERR_GUID_NOT_FOUND'],
})

const Note = Type.Object({
  note: Type.Optional(Type.String({ maxLength: 500, description: 'Why; for the app alone' })),
})

const Hold = Type.Object({
  uid: Type.Optional(Type.String()),
  conversationId: Type.Optional(Type.String()),
  note: Type.Optional(Type.String()),
  heldAt: Type.Integer({ description: 'Epoch seconds' }),
})

export const listHolds = defineOperation({
  ...shared,
  id: 'list-holds',
  method: 'GET',
  path: '/retention/holds',
  summary: 'List what is on hold, the newest first',
  description: 'At most 1,000.',
  params: NoParams,
  answer: enveloped(Type.Array(Hold)),
  errors: [],
})

export const holdUser = defineOperation({
  ...shared,
  id: 'hold-user',
  method: 'PUT',
  path: '/retention/users/{uid}/hold',
  summary: 'Put a user on hold',
  description:
    'Retention leaves what they wrote, and their one-to-one conversations, until the hold is lifted. Deletions that somebody asks for are not held up.',
  params: UidParams,
  body: Note,
  answer: enveloped(Hold),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PLAN_QUOTA_RESTRICTION'],
})

export const liftHoldOfUser = defineOperation({
  ...shared,
  id: 'lift-hold-of-user',
  method: 'DELETE',
  path: '/retention/users/{uid}/hold',
  summary: 'Lift the hold of a user',
  description: 'What has grown too old meanwhile goes with the next look, unless something else keeps it.',
  params: UidParams,
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_HOLD_NOT_FOUND'],
})

const ConversationParams = Type.Object({ conversationId: Type.String() })

export const holdConversation = defineOperation({
  ...shared,
  id: 'hold-conversation',
  method: 'PUT',
  path: '/retention/conversations/{conversationId}/hold',
  summary: 'Put a conversation on hold',
  description: 'Retention leaves all of it, until the hold is lifted.',
  params: ConversationParams,
  body: Note,
  answer: enveloped(Hold),
  errors: ['ERR_CONVERSATION_NOT_FOUND', 'ERR_PLAN_QUOTA_RESTRICTION'],
})

export const liftHoldOfConversation = defineOperation({
  ...shared,
  id: 'lift-hold-of-conversation',
  method: 'DELETE',
  path: '/retention/conversations/{conversationId}/hold',
  summary: 'Lift the hold of a conversation',
  description: 'What has grown too old meanwhile goes with the next look, unless something else keeps it.',
  params: ConversationParams,
  answer: enveloped(Outcome),
  errors: ['ERR_CONVERSATION_NOT_FOUND', 'ERR_HOLD_NOT_FOUND'],
})
