import { createHmac } from 'node:crypto'

/**
 * The value of the header `webhook-signature`: for each secret `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`,
 * with blanks between.
 * @param timestamp epoch seconds, as in the header `webhook-timestamp`
 */
export function sign(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
}
