import * as contract from '@parley/contract'
import { serve } from '../../call.ts'
import { changeSendGrid, getSendGrid, renewReplies, saveSendGrid, sendGrid } from './sendgrid.ts'
import { customEmail, customSms, removeSingle } from './single-provider.ts'
import { changeSmtp, getSmtp, removeSmtp } from './smtp.ts'
import { changeTwilio, getTwilio, saveTwilio, twilio } from './twilio.ts'
import { changeWebhook, getWebhook, renewWebhookSecret, saveWebhook } from './webhook-provider.ts'

const done = { data: { success: true } } as const

type SmsWebhook = Required<contract.CustomSmsProvider>
type EmailWebhook = Required<contract.CustomEmailProvider>

/** Who sends e-mails and SMS. */
export const operations = [
  serve(contract.getTwilioProvider, async ({ app }, context) => {
    return { data: await getTwilio(context, app) }
  }),

  serve(contract.saveTwilioProvider, async ({ app, body }, context) => {
    return { data: await saveTwilio(context, app, body) }
  }),

  serve(contract.updateTwilioProvider, async ({ app, body }, context) => {
    return { data: await changeTwilio(context, app, body) }
  }),

  serve(contract.deleteTwilioProvider, async ({ app }, context) => {
    await removeSingle(context, app, twilio)
    return done
  }),

  serve(contract.getSendGridProvider, async ({ app }, context) => {
    return { data: await getSendGrid(context, app) }
  }),

  serve(contract.saveSendGridProvider, async ({ app, origin, body }, context) => {
    return { data: await saveSendGrid(context, app, origin(), body) }
  }),

  serve(contract.updateSendGridProvider, async ({ app, origin, body }, context) => {
    return { data: await changeSendGrid(context, app, origin(), body) }
  }),

  serve(contract.deleteSendGridProvider, async ({ app }, context) => {
    await removeSingle(context, app, sendGrid)
    return done
  }),

  serve(contract.renewRepliesWebhook, async ({ app, origin }, context) => {
    return { data: { repliesWebhook: await renewReplies(context, app, origin()) } }
  }),

  serve(contract.getSmtpProvider, async ({ app }, context) => {
    return { data: await getSmtp(context, app) }
  }),

  serve(contract.updateSmtpProvider, async ({ app, body }, context) => {
    return { data: await changeSmtp(context, app, body.isEnabled) }
  }),

  serve(contract.deleteSmtpProvider, async ({ app }, context) => {
    await removeSmtp(context, app)
    return done
  }),

  serve(contract.getCustomSmsProvider, async ({ app }, context) => {
    return { data: (await getWebhook<SmsWebhook>(context, app, customSms)) ?? {} }
  }),

  serve(contract.saveCustomSmsProvider, async ({ app, body }, context) => {
    return { data: await saveWebhook<SmsWebhook>(context, app, customSms, { useStoredPhNo: false, ...body }) }
  }),

  serve(contract.updateCustomSmsProvider, async ({ app, body }, context) => {
    return { data: await changeWebhook<SmsWebhook>(context, app, customSms, body) }
  }),

  serve(contract.deleteCustomSmsProvider, async ({ app }, context) => {
    await removeSingle(context, app, customSms)
    return done
  }),

  serve(contract.renewCustomSmsSecret, async ({ app }, context) => {
    return { data: { secret: await renewWebhookSecret(context, app, customSms) } }
  }),

  serve(contract.getCustomEmailProvider, async ({ app }, context) => {
    return { data: (await getWebhook<EmailWebhook>(context, app, customEmail)) ?? {} }
  }),

  serve(contract.saveCustomEmailProvider, async ({ app, body }, context) => {
    return { data: await saveWebhook<EmailWebhook>(context, app, customEmail, body) }
  }),

  serve(contract.updateCustomEmailProvider, async ({ app, body }, context) => {
    return { data: await changeWebhook<EmailWebhook>(context, app, customEmail, body) }
  }),

  serve(contract.deleteCustomEmailProvider, async ({ app }, context) => {
    await removeSingle(context, app, customEmail)
    return done
  }),

  serve(contract.renewCustomEmailSecret, async ({ app }, context) => {
    return { data: { secret: await renewWebhookSecret(context, app, customEmail) } }
  }),
]
