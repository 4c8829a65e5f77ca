import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new secret in the form of the Standard Webhooks convention: `whsec_` and 32 random bytes in base64. */
export function makeSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/**
 * The value of the header `webhook-signature`: for each secret `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`,
 * with blanks between.
 * @param timestamp epoch seconds, as in the header `webhook-timestamp`
 */
export function sign(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
}
