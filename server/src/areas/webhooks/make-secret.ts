import { randomBytes } from 'node:crypto'

/** A new secret in the form of the Standard Webhooks convention: `whsec_` and 32 random bytes in base64. */
export function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}
