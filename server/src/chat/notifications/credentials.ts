import { createPrivateKey, type KeyObject } from 'node:crypto'

/** A key as people paste it: environment files have `\n` as two characters. */
export function readPrivateKey(pem: string): KeyObject {
  return createPrivateKey(pem.replaceAll('\\n', '\n'))
}

/** What is wrong with a key of a service account; undefined when nothing is. */
export function flawOfRsaKey(pem: string): string | undefined {
  return flawOf(pem, ({ asymmetricKeyType }) => asymmetricKeyType === 'rsa', 'must be an RSA private key in PEM form')
}

/** What is wrong with a key for APNs; undefined when nothing is. */
export function flawOfP256Key(pem: string): string | undefined {
  const isP256 = ({ asymmetricKeyDetails }: KeyObject) => asymmetricKeyDetails?.namedCurve === 'prime256v1'
  return flawOf(pem, isP256, 'must be the content of a .p8 file: a private key on the curve P-256 in PEM form')
}

function flawOf(pem: string, fits: (key: KeyObject) => boolean, message: string): string | undefined {
  try {
    return fits(readPrivateKey(pem)) ? undefined : message
  } catch {
    return message
  }
}

/*
 * What the providers of each kind are set up with: their settings and their secrets together, as senders are given them. The
 * names are those of the contract, in the rows of `notification_providers` as well.
 */

/** A webhook of the app itself. */
export interface WebhookTarget {
  readonly webhookURL: string
  readonly useBasicAuth: boolean
  readonly basicAuthUsername: string
  /** Secret. */
  readonly basicAuthPassword: string
  /** Secret: `whsec_...`, by which requests are signed. */
  readonly signing: string
}

/** Channel `push`, kind and id `custom`. */
export interface CustomPushTarget extends WebhookTarget {
  /** Notifications in one request, in the envelope of batches; absent or 1: each in a request of its own. */
  readonly batchSize?: number
}

/** Channel `email`, kind and id `custom`. */
export interface CustomEmailTarget extends WebhookTarget {
  /** Whether only users whose e-mail address is kept are named; without, no address is sent. */
  readonly useStoredEmailID: boolean
}

/** Channel `sms`, kind and id `custom`. */
export interface CustomSmsTarget extends WebhookTarget {
  /** Whether only users whose phone number is kept are named; without, no number is sent. */
  readonly useStoredPhNo: boolean
}

/** Channel `sms`, kind and id `twilio`. */
export interface TwilioTarget {
  readonly twilioAccountSID: string
  /** Secret. */
  readonly twilioAuthToken: string
  /** `+` and digits, or the letters of a sender's name. */
  readonly twilioSenderPhoneNumber: string
}

/** Channel `email`, kind and id `sendgrid`. */
export interface SendGridTarget {
  /** Secret. */
  readonly sendGridApiKey: string
  readonly sendGridTemplateID: string
  /** Digits. */
  readonly sendGridUnsubscribeGroupID: string
  readonly senderName: string
  readonly senderEmail: string
  readonly allowEmailReplies: boolean
  /** Where replies go, with a token added to each; absent or null: `senderEmail`. */
  readonly senderEmailForReplies?: string | null
  /** Secret: by which SendGrid shows that a reply comes from it. */
  readonly repliesSecret: string
}

/** Where replies to e-mails by SendGrid go, before a token is added; undefined where the app takes none. */
export function replyMailboxOf(
  target: Pick<SendGridTarget, 'allowEmailReplies' | 'senderEmail' | 'senderEmailForReplies'>,
): string | undefined {
  return target.allowEmailReplies ? (target.senderEmailForReplies ?? target.senderEmail) : undefined
}
