import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Codes of authenticator apps: RFC 6238 with SHA-1, six digits and steps of 30 seconds, which is what all apps take. */
const stepSeconds = 30
const digits = 6
const secretBytes = 20
/** Steps before and after the present one that are taken, since clocks differ. */
const tolerance = 1

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A secret in base32, as apps take it. */
export function createTotpSecret(): string {
  return base32(randomBytes(secretBytes))
}

/** The address that apps read from a picture. */
export function totpAddress(secret: string, email: string): string {
  return `otpauth://totp/${encodeURIComponent(`Parley:${email}`)}?secret=${secret}&issuer=Parley`
}

/**
 * Looks for the step of a code around the present time.
 * @param after the last step that was used: each is taken once
 * @returns undefined for a code that is wrong or was used
 */
export function stepOfCode(secret: string, code: string, after: number, nowSeconds: number): number | undefined {
  const present = Math.floor(nowSeconds / stepSeconds)
  for (let step = present - tolerance; step <= present + tolerance; step++) {
    if (step > after && timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code))) return step
  }
  return undefined
}

/** The code of a step. */
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (digest.at(-1) as number) & 0xf
  const number = digest.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

function base32(bytes: Buffer): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
