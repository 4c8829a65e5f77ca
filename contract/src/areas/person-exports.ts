import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, NoParams, NoQuery, oneOf, UidParams } from '../schemas.ts'

const shared = { area: 'Users', rateLimit: 'standard' } as const

export const personExportStatuses = ['asked', 'making', 'ready', 'failed'] as const

const time = (description: string) => Type.Optional(Type.Integer({ description: `Epoch seconds: ${description}` }))

const Export = Type.Object({
  uid: Type.String(),
  status: oneOf(...personExportStatuses),
  askedAt: Type.Integer({ description: 'Epoch seconds' }),
  releasedAt: time('when the app released it, or at once'),
  madeAt: time('when it was put together'),
  expiresAt: time(
    'until when it can be fetched, 7 days after it was put together; of one that failed, when it is removed',
  ),
  records: Type.Optional(Type.Integer({ description: 'How many records it has' })),
})

/** Kinds of records in the data of a person. */
export const personRecordKinds = [
  'profile',
  'contact',
  'preferences',
  'unsubscription',
  'mute',
  'device',
  'login',
  'friend',
  'block',
  'membership',
  'groupBan',
  'conversation',
  'reaction',
  'interaction',
  'saved',
  'subscription',
  'pin',
  'flag',
  'file',
  'waitingEdit',
  'ownMessage',
  'seenMessage',
] as const
export type PersonRecordKind = (typeof personRecordKinds)[number]

const PersonRecord = Type.Object({
  kind: oneOf(...personRecordKinds),
  record: Type.Object({}, { additionalProperties: true, description: 'A message is as lists show it to the user' }),
})

/** Beyond the public contract: a user asks for all that the app has of them. */
export const askForExport = defineOperation({
  ...shared,
  id: 'ask-for-export',
  method: 'POST',
  path: '/me/export',
  summary: 'Ask for one’s own data',
  description:
    'Once in 24 hours. The app gets it with get-user-export and hands it over. With the setting personExports = atOnce it is put together at once, else when the app releases it. A new one takes the place of the last.',
  access: { user: true },
  onBehalfOf: 'required',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({}),
  answer: enveloped(Export),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_EXPORT_ALREADY_ASKED'],
})

export const releaseUserExport = defineOperation({
  ...shared,
  id: 'release-user-export',
  method: 'POST',
  path: '/users/{uid}/export',
  summary: 'Release the data that a user has asked for',
  description:
    'It is put together behind the service. One that is released already stays as it is; one that failed is begun anew.',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({}),
  answer: enveloped(Export),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_EXPORT_NOT_FOUND'],
})

export const getUserExport = defineOperation({
  ...shared,
  id: 'get-user-export',
  method: 'GET',
  path: '/users/{uid}/export',
  summary: 'Get the data that a user has asked for',
  description:
    'How far it is and, once it is ready, its records: what the user wrote, uploaded, set and marked, and the messages of others that they could see when it was made. For 7 days. For the next page, send meta.next.after as after. What was removed for good since is missing.',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  query: Type.Object({
    after: Type.Optional(
      Type.String({ pattern: '^[0-9a-f-]{36}_[0-9]{1,15}$', description: 'Only the records behind a page' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, default: 500, description: '0: only how far it is' }),
    ),
  }),
  answer: Type.Object({
    data: Type.Object({ export: Export, records: Type.Array(PersonRecord) }),
    meta: Type.Object({
      current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
      next: Type.Optional(Type.Object({ after: Type.String() })),
    }),
  }),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_EXPORT_NOT_FOUND'],
})
