import { type Static, Type } from 'typebox'
import { providerSecret } from '../../notifications/addresses.ts'
import { defineOperation } from '../../operation.ts'
import { missingProvider, ofProviders, webhookMembers } from './providers.ts'
import { Done } from './settings.ts'
import { answerOf, enabled, NewSecret, ownProvider, replaced, shortened, waiting } from './single-providers.ts'

const twilioMembers = {
  twilioAccountSID: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9=_-]*$' }),
  twilioAuthToken: providerSecret(255, shortened),
  twilioSenderPhoneNumber: Type.String({
    minLength: 1,
    pattern: '^(?:\\+[1-9][0-9]{5,14}|[0-9]{3,8}|MG[0-9a-fA-F]{32}|(?=.*[A-Za-z])[A-Za-z0-9 _+&-]{1,11})$',
    description: 'A phone number with `+`, a short code, the name of a sender, or the SID of a messaging service',
  }),
}
const TwilioAnswer = answerOf({
  ...twilioMembers,
  twilioAuthToken: Type.String({ description: 'Shortened' }),
  isEnabled: enabled,
})
export type TwilioProvider = Static<typeof TwilioAnswer>['data']

const twilio = { ...ofProviders, path: '/notifications/sms/v1/providers/twilio' } as const

export const getTwilioProvider = defineOperation({
  ...twilio,
  id: 'notifications-sms-list-twilio-details',
  method: 'GET',
  summary: 'Get the Twilio credentials',
  description: 'An empty object if there are none.',
  answer: TwilioAnswer,
})

export const saveTwilioProvider = defineOperation({
  ...twilio,
  id: 'notifications-sms-save-twilio-details',
  method: 'POST',
  summary: 'Set up Twilio',
  description: replaced,
  body: Type.Object({ ...twilioMembers, isEnabled: Type.Optional(enabled) }),
  answer: TwilioAnswer,
})

export const updateTwilioProvider = defineOperation({
  ...twilio,
  id: 'notifications-sms-update-twilio-details',
  method: 'PUT',
  summary: 'Update the Twilio credentials',
  description:
    'What is left out stays unchanged. A secret that is sent back shortened, as it was answered, stays as it is.',
  body: Type.Partial(Type.Object({ ...twilioMembers, isEnabled: enabled })),
  answer: TwilioAnswer,
  errors: missingProvider,
})

export const deleteTwilioProvider = defineOperation({
  ...twilio,
  id: 'notifications-sms-delete-twilio-details',
  method: 'DELETE',
  summary: 'Remove the Twilio credentials',
  description: waiting,
  answer: Done,
  errors: missingProvider,
})

const useStoredPhNo = Type.Boolean({
  description:
    'Whether it is only called for users whose phone number is stored; false (the default when it is set up): for all, without a number',
})
const smsMembers = { ...webhookMembers, useStoredPhNo }
const CustomSmsAnswer = answerOf(smsMembers)
export type CustomSmsProvider = Static<typeof CustomSmsAnswer>['data']

const customSms = { ...ofProviders, path: '/notifications/sms/v1/providers/custom' } as const

export const getCustomSmsProvider = defineOperation({
  ...customSms,
  id: 'notifications-list-sms-custom-provider',
  method: 'GET',
  summary: "Get the app's own SMS provider",
  description: 'An empty object if there is none.',
  answer: CustomSmsAnswer,
})

export const saveCustomSmsProvider = defineOperation({
  ...customSms,
  id: 'notifications-save-sms-custom-provider',
  method: 'POST',
  summary: "Set up the app's own SMS provider",
  description: ownProvider,
  needsBody: true,
  body: Type.Object({ ...smsMembers, useStoredPhNo: Type.Optional(useStoredPhNo) }),
  answer: CustomSmsAnswer,
})

export const updateCustomSmsProvider = defineOperation({
  ...customSms,
  id: 'notifications-update-sms-custom-provider',
  method: 'PUT',
  summary: "Update the app's own SMS provider",
  description: 'What is left out stays unchanged.',
  body: Type.Partial(Type.Object(smsMembers)),
  answer: CustomSmsAnswer,
  errors: missingProvider,
})

export const deleteCustomSmsProvider = defineOperation({
  ...customSms,
  id: 'notifications-delete-sms-custom-provider',
  method: 'DELETE',
  summary: "Remove the app's own SMS provider",
  description: waiting,
  answer: Done,
  errors: missingProvider,
})

export const renewCustomSmsSecret = defineOperation({
  ...customSms,
  id: 'renew-custom-sms-secret',
  method: 'POST',
  path: '/notifications/sms/v1/providers/custom/secret',
  summary: "Create a new signing secret for the app's own SMS provider",
  description: 'Requests are signed with it from now on, and no longer with the one before.',
  answer: NewSecret,
  errors: missingProvider,
})
