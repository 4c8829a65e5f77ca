import { type Static, Type } from 'typebox'
import { EmailAddress, PhoneNumber } from '../../notifications/addresses.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, oneOf } from '../../schemas.ts'
import { Done } from './settings.ts'

const shared = {
  area: 'Notifications',
  access: {},
  onBehalfOf: 'required',
  rateLimit: 'standard',
  params: NoParams,
  query: NoQuery,
  errors: [],
} as const
const contacts = { ...shared, path: '/notifications/v1/contact-details' } as const

export const ContactDetails = Type.Object(
  { email: Type.Optional(Type.String()), phno: Type.Optional(Type.String()) },
  { additionalProperties: false },
)
export type ContactDetails = Static<typeof ContactDetails>

export const getContactDetails = defineOperation({
  ...contacts,
  id: 'notifications-get-contact-details',
  method: 'GET',
  summary: 'Get the e-mail address and the phone number of a user',
  description: 'What is not stored is left out.',
  answer: enveloped(ContactDetails),
})

export const updateContactDetails = defineOperation({
  ...contacts,
  id: 'notifications-update-contact-details',
  method: 'PATCH',
  summary: 'Set the e-mail address or the phone number of a user',
  description:
    'What is left out stays unchanged; `null` removes one of the two. With another e-mail address, replies to e-mails sent before are no longer taken.',
  needsBody: true,
  body: Type.Object({
    email: Type.Optional(Type.Union([EmailAddress, Type.Null()], { description: 'an e-mail address, or null' })),
    phno: Type.Optional(
      Type.Union([PhoneNumber, Type.Null()], {
        description: 'a phone number with + and country code, digits only, or null',
      }),
    ),
  }),
  answer: enveloped(ContactDetails),
})

export const deleteContactDetails = defineOperation({
  ...contacts,
  id: 'notifications-delete-contact-details',
  method: 'DELETE',
  summary: 'Remove the e-mail address and the phone number of a user',
  description: "They get no e-mails and no SMS any more, unless the app's own provider knows where to send them.",
  answer: Done,
})

const unsubscriptions = { ...shared, path: '/notifications/v1/unsubscriptions' } as const
const channel = oneOf('email', 'sms')

const Unsubscription = Type.Object(
  {
    channel,
    conversationId: Type.Optional(Type.String({ description: 'Absent: of all conversations' })),
    since: Type.Integer({ description: 'Epoch milliseconds' }),
  },
  { additionalProperties: false },
)
export type Unsubscription = Static<typeof Unsubscription>

export const listUnsubscriptions = defineOperation({
  ...unsubscriptions,
  id: 'list-unsubscriptions',
  method: 'GET',
  summary: 'List what a user has unsubscribed from',
  description: 'By the link in e-mails. The oldest comes first.',
  answer: enveloped(Type.Object({ unsubscriptions: Type.Array(Unsubscription) }, { additionalProperties: false })),
})

export const deleteUnsubscriptions = defineOperation({
  ...unsubscriptions,
  id: 'delete-unsubscriptions',
  method: 'DELETE',
  summary: 'Subscribe a user again',
  description: 'Only if they have asked for it.',
  query: Type.Object({ channel: Type.Optional(channel) }),
  answer: Done,
})
