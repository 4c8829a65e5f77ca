import type { ApnsEmulator } from './apns.ts'
import type { CustomEmulator } from './custom.ts'
import type { FcmEmulator } from './fcm.ts'
import type { ModerationEmulator } from './moderation.ts'
import type { SendGridEmulator } from './sendgrid.ts'
import type { SmtpEmulator } from './smtp.ts'
import type { TwilioEmulator } from './twilio.ts'
import type { WebPushEmulator } from './web-push.ts'

export interface Emulators {
  readonly fcm: FcmEmulator
  readonly apns: ApnsEmulator
  readonly webPush: WebPushEmulator
  readonly twilio: TwilioEmulator
  readonly sendGrid: SendGridEmulator
  readonly smtp: SmtpEmulator
  readonly custom: CustomEmulator
  readonly moderation: ModerationEmulator
}

const everyMs = 200

/**
 * Gives a line for each push, text, e-mail and question that comes.
 * @param show is given each line
 * @param write keeps an e-mail as a file, and returns where
 */
export function showAsItComes(
  emulators: Emulators,
  show: (line: string) => void,
  write: (name: string, content: string) => string,
): void {
  const { fcm, apns, webPush, twilio, sendGrid, smtp, custom, moderation } = emulators
  const fresh = [
    following(fcm.pushes, ({ token, data, status }) => `FCM      ${status} to ${token}: ${data.title}: ${data.body}`),
    following(apns.pushes, ({ token, payload, status, reason }) => {
      const { title, body } = payload?.aps?.alert ?? {}
      return `APNs     ${status} ${reason ?? ''} to ${token}: ${title}: ${body}`
    }),
    following(
      webPush.pushes,
      ({ name, payload, status, reason }) =>
        `Web Push ${status} ${reason ?? ''} to ${name}: ${payload?.title}: ${payload?.body}`,
    ),
    following(twilio.texts, ({ to, body, status }) => `Twilio   ${status} to ${to}: ${body}`),
    following(sendGrid.mails, ({ to, mail, status }) => {
      const { subject, messages } = mail.personalizations?.[0]?.dynamic_template_data ?? {}
      return `SendGrid ${status} to ${to}: ${subject ?? mail.subject} (${messages?.length ?? 0} messages)`
    }),
    following(smtp.mails, ({ to, mail, source }, number) => {
      return `SMTP     250 to ${to.join(', ')}: ${mail.subject}: ${write(`mail-${number}.eml`, source)}`
    }),
    following(custom.notifications, ({ channel, uid, data, status }) => {
      const { title, body, action } = data.notificationDetails ?? {}
      const line = title === undefined ? action : `${title}: ${body}`
      return `Own ${channel.padEnd(5)} ${status} to ${uid}: ${data.smsContent ?? data.subject ?? line}`
    }),
    following(moderation.calls, ({ engine, status, text }) => `Engine   ${status} ${engine}: ${text}`),
    following(smtp.refused, ({ to, code, message }) => `SMTP     ${code} to ${to}: ${message}`),
  ]
  setInterval(() => {
    for (const lines of fresh) for (const line of lines()) show(line.replaceAll(/[\r\n]+/g, ' '))
  }, everyMs)
}

/** Returns the lines of what has come since they were asked for the last time. */
function following<T>(journal: readonly T[], lineOf: (one: T, number: number) => string): () => string[] {
  let shown = 0
  return () => journal.slice(shown).map((one) => lineOf(one, ++shown))
}
