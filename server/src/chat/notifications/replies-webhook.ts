import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import type { App } from '../identity.ts'
import type { SendGridTarget } from './credentials.ts'
import { readProviders } from './providers.ts'

/** Where SendGrid posts what comes in. */
export const sendGridRepliesPath = '/notifications/email/v1/sendgrid/replies'

export function newRepliesSecret(): string {
  return randomBytes(24).toString('hex')
}

/** The address for SendGrid Inbound Parse: it names the app and proves that SendGrid has it from the app. */
export function repliesWebhookOf(origin: string, { name }: Pick<App, 'name'>, secret: string): string {
  return `${origin}/v3${sendGridRepliesPath}?token=${name}.${secret}`
}

/** The app and the secret that a token says; undefined for what is none. */
export function readRepliesToken(token: unknown): { readonly name: string; readonly secret: string } | undefined {
  const [, name, secret] = (typeof token === 'string' && /^([A-Za-z0-9_-]{1,100})\.([0-9a-f]{48})$/.exec(token)) || []
  return name === undefined || secret === undefined ? undefined : { name: name.toLowerCase(), secret }
}

/** Whether an app takes replies by SendGrid, and this is its secret. */
export async function takesReplies(
  on: Queryable,
  secrets: Pick<Secrets, 'unseal'>,
  { appId }: Pick<App, 'appId'>,
  secret: string,
): Promise<boolean> {
  const [row] = await readProviders(on, appId, 'email', 'sendgrid')
  if (row === undefined || (row.settings as Partial<SendGridTarget>).allowEmailReplies !== true) return false
  const { repliesSecret } = JSON.parse(secrets.unseal(row.sealed)) as Pick<SendGridTarget, 'repliesSecret'>
  return isSame(secret, repliesSecret)
}

/** Compares secrets in the same time, however much of them is equal. */
export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
