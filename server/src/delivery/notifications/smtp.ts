import { createTransport } from 'nodemailer'
import type { App } from '../../chat/identity.ts'
import type { SmtpSettings } from '../../config/smtp.ts'
import { ReadTimeoutError } from '../../store/reader.ts'
import { createTurns } from '../../store/turns.ts'
import { type Attempting, attempting } from './attempting.ts'
import { sendTimeoutMs } from './endpoints.ts'
import type { SendAttempt } from './results.ts'
import { mailBodyOf } from './unread/mail-body.ts'
import { headersOfMail, messageIdOf } from './unread/mail-headers.ts'
import type { UnreadNotification } from './unread/notification.ts'

/** Sends e-mails by a mail server of the operator. */
export interface Smtp {
  /** Never throws. @param id the same for each attempt */
  send(app: Pick<App, 'appId'>, id: string, notification: UnreadNotification): Promise<SendAttempt>
  close(): void
}

/** Connections to the mail server, for all apps together: one app has all of them only while no other wants one. */
export const smtpConnections = 5
const turnLimits = {
  ...{ atOnce: smtpConnections, atOncePerApp: smtpConnections },
  ...{ atOncePerUser: smtpConnections, atOncePerKey: smtpConnections },
  // No app has more under way than there are connections.
  ...{ waitingPerReader: Number.POSITIVE_INFINITY, waitingPerApp: Number.POSITIVE_INFINITY },
  waiting: Number.POSITIVE_INFINITY,
}
/** For a connection that is free. What is left of the time of an attempt is for the mail. */
const waitMs = 3_000
/** Seconds after which an e-mail that found none is sent. */
const laterSeconds = 2

/** @param timeoutMs for an attempt */
export function createSmtp({ url, from }: SmtpSettings, timeoutMs = sendTimeoutMs): Smtp {
  const transport = createTransport({
    ...{ url, pool: true, maxConnections: smtpConnections },
    ...{ connectionTimeout: sendTimeoutMs, greetingTimeout: sendTimeoutMs, socketTimeout: sendTimeoutMs },
    // What is sent names no file and no address that is to be fetched.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  // What waits in the queue of nodemailer would use up its time there.
  const turns = createTurns('e-mail', turnLimits, Math.min(waitMs, timeoutMs / 2))

  const mail = async (id: string, notification: UnreadNotification, signal: AbortSignal): Promise<Attempting> => {
    const { name, address = '' } = notification.to
    try {
      const { response } = await transport.sendMail({
        ...{ from, to: { name, address }, subject: notification.subject ?? '' },
        ...mailBodyOf(notification),
        ...{ messageId: messageIdOf(id, from), headers: headersOfMail(notification), signal },
        ...(notification.replyTo !== undefined && { replyTo: notification.replyTo }),
      })
      return { outcome: 'accepted', status: codeOf(response) ?? 250 }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return judge(error as SmtpError, address)
    }
  }
  return {
    send: ({ appId }, id, notification) =>
      attempting('the mail server', async () => {
        const endsAt = performance.now() + timeoutMs
        // Whatever is late is dropped: it is sent again, and would arrive twice.
        const inTime = () => AbortSignal.timeout(Math.max(1, Math.floor(endsAt - performance.now())))
        try {
          return await turns.run({ appId, uid: undefined }, () => mail(id, notification, inTime()))
        } catch (error) {
          if (!(error instanceof ReadTimeoutError)) throw error
          const used = 'all connections to the mail server are in use'
          return { outcome: 'postponed', error: used, retryAfter: laterSeconds }
        }
      }),
    close: () => transport.close(),
  }
}

/** As nodemailer throws them. */
interface SmtpError extends Error {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
}

/** That there is no such mailbox; other refusals of a receiver may be about who sends, or how much. */
const noSuchMailbox = /\b5\.1\.[1236]\b/
const badMailboxCodes: readonly number[] = [550, 551, 553]

/** A mail server says 4xx for now and 5xx for good. What it says of our login is mended by the operator. */
function judge(error: SmtpError, address: string): Attempting {
  const { code, command, response = '', responseCode } = error
  const isOfLogin = code === 'EAUTH' || command === 'CONN' || responseCode === 530 || responseCode === 535
  const isForGood = responseCode !== undefined && responseCode >= 500 && !isOfLogin
  const isAddressBad =
    (command === 'RCPT TO' && isForGood && saysNoSuchMailbox(responseCode, response)) ||
    // Refused before anything is sent: it is no address.
    (code === 'EENVELOPE' && responseCode === undefined)
  return {
    outcome: isForGood || isAddressBad ? 'refused' : 'failed',
    ...(responseCode !== undefined && { status: responseCode }),
    ...(response !== '' && { text: response }),
    error: errorOf(error),
    ...(isAddressBad && address !== '' && { refusedAddress: address }),
  }
}

/** What it answered may name the address: its codes are enough. */
function errorOf({ code, command, response = '', responseCode, message }: SmtpError): string {
  if (responseCode !== undefined) {
    const [enhanced = ''] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response) ?? []
    return `the mail server answered ${[responseCode, enhanced].join(' ').trim()}${command ? ` to ${command}` : ''}`
  }
  return code === 'EENVELOPE' ? 'the address is none that mail can be sent to' : message
}

function saysNoSuchMailbox(code: number, response: string): boolean {
  return noSuchMailbox.test(response) || (badMailboxCodes.includes(code) && !/\b5\.\d+\.\d+\b/.test(response))
}

function codeOf(response: string | undefined): number | undefined {
  const code = Number(response?.slice(0, 3))
  return Number.isInteger(code) && code > 0 ? code : undefined
}
