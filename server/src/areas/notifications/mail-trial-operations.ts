import * as contract from '@parley/contract'
import { serve } from '../../call.ts'
import { sendGrid } from './sendgrid.ts'
import { customEmail, customSms, trySingle } from './single-provider.ts'
import { trySmtp } from './smtp.ts'
import { twilio } from './twilio.ts'

/** Trials of who sends e-mails and SMS. */
export const operations = [
  serve(contract.testTwilioProvider, async ({ app, body }, context) => {
    return { data: await trySingle(context, app, twilio, body.phno) }
  }),

  serve(contract.testSendGridProvider, async ({ app, body }, context) => {
    return { data: await trySingle(context, app, sendGrid, body.email) }
  }),

  serve(contract.testCustomSmsProvider, async ({ app, body }, context) => {
    return { data: await trySingle(context, app, customSms, body.phno) }
  }),

  serve(contract.testCustomEmailProvider, async ({ app, body }, context) => {
    return { data: await trySingle(context, app, customEmail, body.email) }
  }),

  serve(contract.testSmtpProvider, async ({ app, body }, context) => {
    return { data: await trySmtp(context, app, body.email) }
  }),
]
