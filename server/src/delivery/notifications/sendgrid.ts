import type { SendGridTarget } from '../../chat/notifications/credentials.ts'
import { type Attempting, attempting } from './attempting.ts'
import { createProviderClient, mayPass, type ProviderAnswer } from './provider-client.ts'
import type { SendAttempt } from './results.ts'
import { headersOfMail, messageIdOf } from './unread/mail-headers.ts'
import { detailsOfUnread, type UnreadNotification } from './unread/notification.ts'

/** Sends e-mails by SendGrid, by a dynamic template of the app. */
export interface SendGrid {
  /** Never throws. @param id the same for each attempt */
  send(target: SendGridTarget, id: string, notification: UnreadNotification): Promise<SendAttempt>
  close(): Promise<void>
}

/** @param endpoint such as `https://api.sendgrid.com` */
export function createSendGrid(endpoint: string): SendGrid {
  const client = createProviderClient(16)
  return {
    send: (target, id, notification) =>
      attempting('SendGrid', async () => {
        const body = JSON.stringify(mailOf(target, id, notification))
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${target.sendGridApiKey}` }
        return judge(await client.post(`${endpoint}/v3/mail/send`, headers, body), notification)
      }),
    close: () => client.close(),
  }
}

function mailOf(target: SendGridTarget, id: string, notification: UnreadNotification): object {
  const { name, address = '' } = notification.to
  const from = (target.allowEmailReplies && target.senderEmailForReplies) || target.senderEmail
  return {
    personalizations: [
      {
        to: [{ email: address, name }],
        dynamic_template_data: detailsOfUnread(notification),
        // Sent on to the app's own event webhook at SendGrid, so that repeats are recognised there.
        custom_args: { parleyNotification: id },
      },
    ],
    from: { email: from, name: target.senderName },
    ...(notification.replyTo !== undefined && { reply_to: { email: notification.replyTo, name: target.senderName } }),
    ...(notification.subject !== undefined && { subject: notification.subject }),
    template_id: target.sendGridTemplateID,
    ...(target.sendGridUnsubscribeGroupID !== '' && { asm: { group_id: Number(target.sendGridUnsubscribeGroupID) } }),
    headers: { 'Message-ID': messageIdOf(id, from), ...headersOfMail(notification) },
  }
}

interface SendGridError {
  readonly field?: string | null
}

/** Names of members; whatever else it calls a field may be what was sent. */
const fieldName = /^[a-z_.0-9]{1,80}$/

function judge({ status, text, headers, retryAfter }: ProviderAnswer, { to }: UnreadNotification): Attempting {
  if (status === 202 || status === 200) return { outcome: 'accepted', status }
  const fields = errorsOf(text).flatMap((error) => error?.field ?? [])
  const isAddressBad = status === 400 && fields.some((field) => /^personalizations\.0\.to\b/.test(field))
  const isPassing = mayPass(status)
  // There is no `Retry-After`: the time at which the quota begins again, in epoch seconds.
  const resetIn = Number(headers['x-ratelimit-reset']) - Date.now() / 1000
  const wait = retryAfter ?? (status === 429 && resetIn > 0 ? Math.ceil(resetIn) : undefined)
  return {
    outcome: isPassing ? 'failed' : 'refused',
    ...{ status, text },
    error: `SendGrid answered ${status} ${fields.filter((field) => fieldName.test(field)).join(' ')}`.trim(),
    ...(isPassing && wait !== undefined && { retryAfter: wait }),
    ...(isAddressBad && to.address !== undefined && { refusedAddress: to.address }),
  }
}

function errorsOf(text: string): ReadonlyArray<SendGridError | null> {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown }
    return Array.isArray(errors) ? (errors as Array<SendGridError | null>) : []
  } catch {
    // An error page of something in between.
    return []
  }
}
