import { Type } from 'typebox'
import { EmailAddress, PhoneNumber } from '../../notifications/addresses.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped } from '../../schemas.ts'
import { missingProvider, ofProviders, Trial } from './providers.ts'

const ofTrials = {
  ...ofProviders,
  method: 'POST',
  description: 'Sends a trial with made-up content, even if the provider is not enabled, and returns the result.',
  answer: enveloped(Trial),
  errors: missingProvider,
} as const
const EmailTrial = Type.Object({ email: EmailAddress })
const SmsTrial = Type.Object({ phno: PhoneNumber })

export const testSendGridProvider = defineOperation({
  ...ofTrials,
  id: 'test-sendgrid-provider',
  path: '/notifications/email/v1/providers/sendgrid/test',
  summary: 'Send a trial by SendGrid',
  body: EmailTrial,
})

export const testCustomEmailProvider = defineOperation({
  ...ofTrials,
  id: 'test-custom-email-provider',
  path: '/notifications/email/v1/providers/custom/test',
  summary: "Send a trial to the app's own e-mail provider",
  body: Type.Partial(EmailTrial),
})

export const testTwilioProvider = defineOperation({
  ...ofTrials,
  id: 'test-twilio-provider',
  path: '/notifications/sms/v1/providers/twilio/test',
  summary: 'Send a trial by Twilio',
  body: SmsTrial,
})

export const testCustomSmsProvider = defineOperation({
  ...ofTrials,
  id: 'test-custom-sms-provider',
  path: '/notifications/sms/v1/providers/custom/test',
  summary: "Send a trial to the app's own SMS provider",
  body: Type.Partial(SmsTrial),
})

export const testSmtpProvider = defineOperation({
  ...ofTrials,
  id: 'test-smtp-provider',
  path: '/notifications/email/v1/providers/smtp/test',
  summary: 'Send a trial by the mail server of the deployment',
  body: EmailTrial,
})
