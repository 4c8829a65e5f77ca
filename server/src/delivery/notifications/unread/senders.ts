import type { App } from '../../../chat/identity.ts'
import type { SendGridTarget, TwilioTarget, WebhookTarget } from '../../../chat/notifications/credentials.ts'
import type { NotificationEndpoints } from '../../../config/notifications.ts'
import type { Poster } from '../../outbound/http.ts'
import { payloadOfUnread, sendCustom } from '../custom.ts'
import type { Sender } from '../senders.ts'
import { createSendGrid } from '../sendgrid.ts'
import { createSmtp, smtpConnections } from '../smtp.ts'
import { createTwilio } from '../twilio.ts'
import type { UnreadNotification } from './notification.ts'

/** Makes the sender of each kind of provider of e-mail and SMS. */
export interface UnreadSenders {
  of(app: App, kind: string, target: unknown): Sender<UnreadNotification> | undefined
  close(): Promise<void>
}

/** Whoever sets one again loses nothing that is still of use. */
const withoutMailServer: Sender<UnreadNotification> = {
  width: 1,
  send: async () => ({
    outcome: 'failed',
    error: 'the operator has set no mail server: SMTP_URL and MAIL_FROM are missing',
    durationMs: 0,
  }),
}

export function createUnreadSenders(endpoints: NotificationEndpoints, poster: Poster): UnreadSenders {
  const sendGrid = createSendGrid(endpoints.sendGrid)
  const twilio = createTwilio(endpoints.twilio)
  const smtp = endpoints.smtp && createSmtp(endpoints.smtp)
  const kinds: Readonly<Record<string, (app: App, target: unknown) => Sender<UnreadNotification> | undefined>> = {
    custom: (app, target) => ({
      width: 10,
      send: (sending, notification) =>
        sendCustom(poster, app, target as WebhookTarget, sending, payloadOfUnread(notification)),
    }),
    sendgrid: (_, target) => ({
      width: 16,
      send: ({ id }, notification) => sendGrid.send(target as SendGridTarget, id, notification),
    }),
    twilio: (_, target) => ({
      width: 10,
      send: ({ expiresAt }, notification) => twilio.send(target as TwilioTarget, expiresAt, notification),
    }),
    smtp: (app) =>
      smtp === undefined
        ? withoutMailServer
        : { width: smtpConnections, send: ({ id }, notification) => smtp.send(app, id, notification) },
  }
  return {
    of(app, kind, target) {
      const sender = kinds[kind]?.(app, target)
      // Somebody reads what comes twice: no more of it than is under way at once anyway.
      return sender && { ...sender, unwritten: sender.width }
    },
    async close() {
      smtp?.close()
      await Promise.all([sendGrid.close(), twilio.close()])
    },
  }
}
