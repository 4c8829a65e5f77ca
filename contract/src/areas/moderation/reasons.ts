import { type Static, Type } from 'typebox'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, Outcome } from '../../schemas.ts'
import {
  ModerationDescriptionIn,
  ModerationIdIn,
  ModerationLimit,
  ModerationListMeta,
  ModerationNameIn,
} from './rules.ts'

const described = {
  id: Type.String(),
  name: Type.String(),
  description: Type.Optional(Type.String()),
}

/** A reason that users can give for flagging a message. */
export const Reason = Type.Object(
  {
    ...described,
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    updatedAt: Type.Integer({ description: 'Epoch seconds' }),
    default: Type.Optional(Type.Boolean({ description: 'true on predefined reasons' })),
  },
  { additionalProperties: false },
)
export type Reason = Static<typeof Reason>

/** A reason among others: times are texts there. */
export const ListedReason = Type.Object(
  {
    ...described,
    createdAt: Type.String({ description: 'Epoch seconds, as a decimal string' }),
    updatedAt: Type.String({ description: 'Epoch seconds, as a decimal string' }),
    default: Type.Boolean({ description: 'Whether it is predefined' }),
  },
  { additionalProperties: false },
)

const shared = { area: 'Moderation', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const
const one = {
  ...shared,
  path: '/moderation/reasons/{id}',
  params: Type.Object({ id: Type.String() }),
  query: NoQuery,
} as const
const unknownReason = ['ERR_REASON_NOT_FOUND'] as const

export const createReason = defineOperation({
  ...shared,
  id: 'create-reason',
  method: 'POST',
  path: '/moderation/reasons',
  summary: 'Create a reason for flagging messages',
  description: `An app can have ${limits.moderation.reasonsPerApp} besides the predefined ones. Front ends find them in their settings, as flagReasons.`,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    id: ModerationIdIn,
    name: ModerationNameIn,
    description: Type.Optional(ModerationDescriptionIn),
  }),
  answer: enveloped(Reason),
  errors: ['ERR_REASON_ALREADY_EXISTS'],
})

export const listReasons = defineOperation({
  ...shared,
  id: 'list-reasons',
  method: 'GET',
  path: '/moderation/reasons',
  summary: 'List the reasons for flagging messages',
  description: 'The predefined ones, then those of the app, the oldest first.',
  params: NoParams,
  query: Type.Object(ModerationLimit),
  answer: Type.Object({ data: Type.Array(ListedReason), meta: ModerationListMeta }),
  errors: [],
})

export const getReason = defineOperation({
  ...one,
  id: 'get-reason-details',
  method: 'GET',
  summary: 'Get a reason for flagging messages',
  description: 'One of the predefined ones, or of the app.',
  answer: enveloped(Reason),
  errors: unknownReason,
})

export const updateReason = defineOperation({
  ...one,
  id: 'update-reason-details',
  method: 'PUT',
  summary: 'Rename a reason for flagging messages',
  description: 'Also predefined ones. Beyond the public contract the description can be changed, too.',
  body: Type.Object({ name: ModerationNameIn, description: Type.Optional(ModerationDescriptionIn) }),
  answer: enveloped(Reason),
  errors: unknownReason,
})

export const deleteReason = defineOperation({
  ...one,
  id: 'delete-reason',
  method: 'DELETE',
  summary: 'Delete a reason for flagging messages',
  description: 'Also predefined ones. Messages that were flagged with it keep its id.',
  answer: Outcome,
  errors: unknownReason,
})
