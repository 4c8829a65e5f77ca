import type { NotificationReason } from '@parley/contract'
import type { TwilioTarget } from '../../chat/notifications/credentials.ts'
import { type Attempting, attempting } from './attempting.ts'
import { sendTimeoutMs } from './endpoints.ts'
import { createProviderClient, mayPass, type ProviderAnswer, wasSent } from './provider-client.ts'
import type { SendAttempt } from './results.ts'
import type { UnreadNotification } from './unread/notification.ts'

/** Sends SMS by Twilio. */
export interface Twilio {
  /** Never throws. @param expiresAt epoch milliseconds after which it is of no use */
  send(target: TwilioTarget, expiresAt: number, notification: UnreadNotification): Promise<SendAttempt>
  close(): Promise<void>
}

/** For how long Twilio keeps an SMS in its own queue at most. */
const longestValiditySeconds = 14_400

/** Shorter than the time limit of an attempt, so that the error says that it was Twilio that did not answer. */
const answerTimeoutMs = sendTimeoutMs - 500

/** @param endpoint such as `https://api.twilio.com` */
export function createTwilio(endpoint: string, timeoutMs = answerTimeoutMs): Twilio {
  const client = createProviderClient(16)
  return {
    send: (target, expiresAt, notification) =>
      attempting('Twilio', async () => {
        const { twilioAccountSID: sid, twilioAuthToken: token } = target
        const url = `${endpoint}/2010-04-01/Accounts/${encodeURIComponent(sid)}/Messages.json`
        const authorization = `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`
        const secondsLeft = Math.floor((expiresAt - Date.now()) / 1000)
        const form = new URLSearchParams({
          To: notification.to.address ?? '',
          From: target.twilioSenderPhoneNumber,
          Body: notification.smsContent ?? '',
          ValidityPeriod: String(Math.max(1, Math.min(secondsLeft, longestValiditySeconds))),
        })
        const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization }
        try {
          return judge(await client.post(url, headers, form.toString(), timeoutMs), notification)
        } catch (error) {
          if (wasSent(error)) return lost(error as Error)
          throw error
        }
      }),
    close: () => client.close(),
  }
}

/** Each attempt may be an SMS that is paid for and read: it is not made again and again. */
function lost({ name, message }: Error): Attempting {
  const error = name === 'TimeoutError' ? 'Twilio did not answer in time' : message
  return { outcome: 'failed', error, reason: 'TWILIO_CREATE_ERROR', mayHaveArrived: true }
}

/** Codes of Twilio: no number, not reachable, not a mobile phone. */
const badNumbers: readonly number[] = [21211, 21214, 21217, 21614]
/** Who answered STOP; Twilio takes START itself, so the number stays good. */
const unsubscribed = 21610
const tooManyRequests = 20429

function judge({ status, text, retryAfter }: ProviderAnswer, { to }: UnreadNotification): Attempting {
  if (status === 201 || status === 200) return { outcome: 'accepted', status }
  const code = codeOf(text)
  const isPassing = mayPass(status) || code === tooManyRequests
  const reason: NotificationReason = code === unsubscribed ? 'UNSUBSCRIBED' : 'TWILIO_CREATE_ERROR'
  return {
    outcome: isPassing ? 'failed' : 'refused',
    ...{ status, text },
    error: `Twilio answered ${status} ${code ?? ''}`.trim(),
    ...(isPassing ? retryAfter !== undefined && { retryAfter } : { reason }),
    ...(code !== undefined && badNumbers.includes(code) && to.address !== undefined && { refusedAddress: to.address }),
  }
}

function codeOf(text: string): number | undefined {
  try {
    const { code } = JSON.parse(text) as { code?: unknown }
    return typeof code === 'number' ? code : undefined
  } catch {
    // An error page of something in between.
    return undefined
  }
}
