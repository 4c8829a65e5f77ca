import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Marks what processes of one deployment publish to each other, so that nobody else who can publish in their Redis is believed:
 * `<HMAC-SHA256, base64> <text>`.
 */
export interface Seal {
  close(text: string): string
  /** @returns the text; undefined when it does not come from this deployment, or was changed */
  open(sealed: string): string | undefined
}

/** Characters of a digest in base64. */
const macLength = 44

/** @param key the same in all processes of a deployment, and known to nobody else */
export function createSeal(key: Buffer): Seal {
  const macOf = (text: string) => createHmac('sha256', key).update(text).digest()
  return {
    close: (text) => `${macOf(text).toString('base64')} ${text}`,
    open(sealed) {
      if (sealed[macLength] !== ' ') return undefined
      const mac = Buffer.from(sealed.slice(0, macLength), 'base64')
      const text = sealed.slice(macLength + 1)
      const expected = macOf(text)
      return mac.length === expected.length && timingSafeEqual(mac, expected) ? text : undefined
    },
  }
}
