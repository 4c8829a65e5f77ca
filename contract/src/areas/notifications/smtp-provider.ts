import { type Static, Type } from 'typebox'
import { defineOperation } from '../../operation.ts'
import { enveloped } from '../../schemas.ts'
import { missingProvider, ofProviders } from './providers.ts'
import { Done } from './settings.ts'

const smtp = { ...ofProviders, path: '/notifications/email/v1/providers/smtp' } as const

const SmtpProvider = Type.Object(
  {
    isAvailable: Type.Boolean({ description: 'Whether the deployment has a mail server' }),
    isEnabled: Type.Boolean({ description: 'Whether the app uses it' }),
  },
  { additionalProperties: false },
)
export type SmtpProvider = Static<typeof SmtpProvider>

/** Beyond the public contract: the mail server of the deployment. */
export const getSmtpProvider = defineOperation({
  ...smtp,
  id: 'get-smtp-provider',
  method: 'GET',
  summary: 'Get whether e-mails are sent by the mail server of the deployment',
  description: 'Whether the app uses the mail server, and whether the deployment has one.',
  answer: enveloped(SmtpProvider),
})

export const updateSmtpProvider = defineOperation({
  ...smtp,
  id: 'update-smtp-provider',
  method: 'PUT',
  summary: 'Send e-mails by the mail server of the deployment, or no longer',
  description:
    'The operator has set it up with `SMTP_URL` and `MAIL_FROM`; an app that does not ask for it sends no e-mails by it.',
  body: Type.Object({ isEnabled: Type.Boolean() }),
  answer: enveloped(SmtpProvider),
  errors: missingProvider,
})

export const deleteSmtpProvider = defineOperation({
  ...smtp,
  id: 'delete-smtp-provider',
  method: 'DELETE',
  summary: 'Send no more e-mails by the mail server of the deployment',
  description: 'The same as switching it off: `PUT` with `isEnabled: true` takes it back.',
  answer: Done,
  errors: missingProvider,
})
