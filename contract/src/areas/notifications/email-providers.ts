import { type Static, Type } from 'typebox'
import { EmailAddress, oneLine, providerSecret } from '../../notifications/addresses.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped } from '../../schemas.ts'
import { missingProvider, ofProviders, webhookMembers } from './providers.ts'
import { Done } from './settings.ts'
import { answerOf, enabled, NewSecret, ownProvider, replaced, shortened, waiting } from './single-providers.ts'

const sendGridMembers = {
  sendGridApiKey: providerSecret(500, shortened),
  sendGridTemplateID: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]*$' }),
  sendGridUnsubscribeGroupID: Type.String({ minLength: 1, maxLength: 18, pattern: '^[0-9]*$' }),
  senderName: oneLine(255),
  senderEmail: EmailAddress,
  allowEmailReplies: Type.Boolean({ description: 'Whether replies become messages. false by default' }),
}
const replies = Type.Union([EmailAddress, Type.Null()], {
  description:
    'an e-mail address, or null. Replies go there, each with a token added: to `reply+<token>@example.com` instead of `reply@example.com`. Null or absent: senderEmail',
})
const SendGridAnswer = answerOf({
  ...sendGridMembers,
  sendGridApiKey: Type.String({ description: 'Shortened' }),
  senderEmailForReplies: EmailAddress,
  isEnabled: enabled,
  repliesWebhook: Type.String({
    description: 'The address for SendGrid Inbound Parse, which is secret. Only in responses to POST and PUT',
  }),
})
export type SendGridProvider = Static<typeof SendGridAnswer>['data']

const sendGrid = { ...ofProviders, path: '/notifications/email/v1/providers/sendgrid' } as const

export const getSendGridProvider = defineOperation({
  ...sendGrid,
  id: 'notifications-email-list-sendgrid-details',
  method: 'GET',
  summary: 'Get the SendGrid credentials',
  description: 'An empty object if there are none.',
  answer: SendGridAnswer,
})

export const saveSendGridProvider = defineOperation({
  ...sendGrid,
  id: 'notifications-email-save-sendgrid-details',
  method: 'POST',
  summary: 'Set up SendGrid',
  description: `${replaced} It keeps its address for replies.`,
  body: Type.Object({
    ...sendGridMembers,
    allowEmailReplies: Type.Optional(sendGridMembers.allowEmailReplies),
    senderEmailForReplies: Type.Optional(replies),
    isEnabled: Type.Optional(enabled),
  }),
  answer: SendGridAnswer,
})

export const updateSendGridProvider = defineOperation({
  ...sendGrid,
  id: 'notifications-email-update-sendgrid-details',
  method: 'PUT',
  summary: 'Update the SendGrid credentials',
  description:
    'What is left out stays unchanged. A secret that is sent back shortened, as it was answered, stays as it is.',
  body: Type.Partial(Type.Object({ ...sendGridMembers, senderEmailForReplies: replies, isEnabled: enabled })),
  answer: SendGridAnswer,
  errors: missingProvider,
})

export const deleteSendGridProvider = defineOperation({
  ...sendGrid,
  id: 'notifications-email-delete-sendgrid-details',
  method: 'DELETE',
  summary: 'Remove the SendGrid credentials',
  description: `${waiting} Replies are no longer taken.`,
  answer: Done,
  errors: missingProvider,
})

export const renewRepliesWebhook = defineOperation({
  ...sendGrid,
  id: 'renew-replies-webhook',
  method: 'POST',
  path: '/notifications/email/v1/providers/sendgrid/replies-webhook',
  summary: 'Create a new address for SendGrid Inbound Parse',
  description: 'Replies are taken there from now on, and no longer at the address before.',
  answer: enveloped(Type.Object({ repliesWebhook: Type.String() }, { additionalProperties: false })),
  errors: missingProvider,
})

const useStoredEmailID = Type.Boolean({
  description: 'Whether it is only called for users whose e-mail address is stored; false: for all, without an address',
})
const emailMembers = { ...webhookMembers, useStoredEmailID }
const CustomEmailAnswer = answerOf(emailMembers)
export type CustomEmailProvider = Static<typeof CustomEmailAnswer>['data']

const customEmail = { ...ofProviders, path: '/notifications/email/v1/providers/custom' } as const

export const getCustomEmailProvider = defineOperation({
  ...customEmail,
  id: 'notifications-list-email-custom-provider',
  method: 'GET',
  summary: "Get the app's own e-mail provider",
  description: 'An empty object if there is none.',
  answer: CustomEmailAnswer,
})

export const saveCustomEmailProvider = defineOperation({
  ...customEmail,
  id: 'notifications-save-email-custom-provider',
  method: 'POST',
  summary: "Set up the app's own e-mail provider",
  description: ownProvider,
  needsBody: true,
  body: Type.Object(emailMembers),
  answer: CustomEmailAnswer,
})

export const updateCustomEmailProvider = defineOperation({
  ...customEmail,
  id: 'notifications-update-email-custom-provider',
  method: 'PUT',
  summary: "Update the app's own e-mail provider",
  description: 'What is left out stays unchanged.',
  body: Type.Partial(Type.Object(emailMembers)),
  answer: CustomEmailAnswer,
  errors: missingProvider,
})

export const deleteCustomEmailProvider = defineOperation({
  ...customEmail,
  id: 'notifications-delete-email-custom-provider',
  method: 'DELETE',
  summary: "Remove the app's own e-mail provider",
  description: waiting,
  answer: Done,
  errors: missingProvider,
})

export const renewCustomEmailSecret = defineOperation({
  ...customEmail,
  id: 'renew-custom-email-secret',
  method: 'POST',
  path: '/notifications/email/v1/providers/custom/secret',
  summary: "Create a new signing secret for the app's own e-mail provider",
  description: 'Requests are signed with it from now on, and no longer with the one before.',
  answer: NewSecret,
  errors: missingProvider,
})
