import { createDecipheriv, createPublicKey, type ECDH, hkdfSync, verify } from 'node:crypto'

/** The half of a subscription that a browser keeps to itself. */
export interface BrowserKeys {
  readonly pair: ECDH
  readonly auth: Buffer
}

/** Decrypts as browsers do: one record of `aes128gcm` with the keys of RFC 8291. @throws Error when that cannot be done */
export function decrypt(body: Buffer, { pair, auth }: BrowserKeys): string {
  const salt = body.subarray(0, 16)
  const keyLength = body.readUInt8(20)
  const theirs = body.subarray(21, 21 + keyLength)
  const record = body.subarray(21 + keyLength)
  if (record.length > body.readUInt32BE(16)) throw new Error('there is more than one record')
  const derive = (secret: Buffer, by: Buffer, info: Buffer, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, by, info, length))
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), theirs])
  const secret = derive(pair.computeSecret(theirs), auth, info, 32)
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const decipher = createDecipheriv('aes-128-gcm', key, nonce)
  decipher.setAuthTag(record.subarray(-16))
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
  const end = padded.findLastIndex((byte) => byte !== 0)
  if (padded[end] !== 2) throw new Error('the last record is not marked as such')
  return padded.subarray(0, end).toString('utf8')
}

/**
 * What is wrong with the signature of a request (RFC 8292); undefined when nothing is.
 * @param audience origin of the push service
 * @param applicationServerKey what the browser subscribed with, in base64url
 */
export type VapidCheck = (
  authorization: string | undefined,
  audience: string,
  applicationServerKey: string | undefined,
) => string | undefined

/** Checks each signature once: a sender signs for hours, and sends thousands with it. */
export function createVapidCheck(): VapidCheck {
  const signed = new Set<string>()
  const isSigned = (authorization: string, content: string, point: Buffer, signature: string) => {
    if (signed.has(authorization)) return true
    const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
    const by = { key, dsaEncoding: 'ieee-p1363' } as const
    const is = verify('sha256', Buffer.from(content), by, Buffer.from(signature, 'base64url'))
    if (is) signed.add(authorization)
    return is
  }
  return (authorization = '', audience, applicationServerKey) => {
    const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? []
    const [header = '', claims = '', signature = ''] = token.split('.')
    if (signature === '') return 'there is no token'
    if (applicationServerKey !== undefined && key !== applicationServerKey)
      return 'another key than it was subscribed with'
    const point = Buffer.from(key, 'base64url')
    if (point.length !== 65 || point[0] !== 4) return 'the key is none'
    if (!isSigned(authorization, `${header}.${claims}`, point, signature)) return 'wrong signature'
    const { alg } = read(header)
    const { aud, exp, sub } = read(claims)
    if (alg !== 'ES256') return 'alg must be ES256'
    if (aud !== audience) return `aud must be ${audience}`
    const left = Number(exp) - Date.now() / 1000
    if (!(left > 0 && left <= 86_400)) return 'exp must be within a day'
    return /^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(String(sub)) ? undefined : 'sub must be mailto: or https'
  }
}

function read(part: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}
