import { createCipheriv, createECDH, createHmac, type ECDH, randomBytes } from 'node:crypto'
import type { PushSubscription } from '@parley/contract'
import { curve, publicKeyBytes } from '../../chat/notifications/subscriptions.ts'

const recordSize = 4096
/** What encryption adds to a payload: header, key, mark of the last record and its tag. */
export const encryptionBytes = 21 + publicKeyBytes + 1 + 16

const keyInfo = Buffer.from('Content-Encoding: aes128gcm\0')
const nonceInfo = Buffer.from('Content-Encoding: nonce\0')

const hmac = (key: Buffer, data: Buffer): Buffer => createHmac('sha256', key).update(data).digest()

/** HKDF's second step, of no more than one hash; the first is an HMAC. `hkdfSync` does both anew for each key, and takes three times as long. */
const expand = (secret: Buffer, info: Buffer): Buffer => hmac(secret, Buffer.concat([info, Buffer.of(1)]))

function newPair(): ECDH {
  const pair = createECDH(curve)
  pair.generateKeys()
  return pair
}

/**
 * Encrypts a payload for one browser: RFC 8291, one record of `aes128gcm` (RFC 8188).
 * @param given key pair and salt; tests set them, all others get new ones
 */
export function encryptFor(
  keys: PushSubscription['keys'],
  plaintext: Buffer,
  given: { readonly pair?: ECDH; readonly salt?: Buffer } = {},
): Buffer {
  const { pair = newPair(), salt = randomBytes(16) } = given
  const theirs = Buffer.from(keys.p256dh, 'base64url')
  const ours = pair.getPublicKey()
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours])
  const input = expand(hmac(Buffer.from(keys.auth, 'base64url'), pair.computeSecret(theirs)), info)
  const secret = hmac(salt, input)
  const key = expand(secret, keyInfo).subarray(0, 16)
  const nonce = expand(secret, nonceInfo).subarray(0, 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  // 2 marks the last record.
  const sealed = Buffer.concat([
    cipher.update(plaintext),
    cipher.update(Buffer.of(2)),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  const header = Buffer.alloc(21)
  salt.copy(header)
  header.writeUInt32BE(recordSize, 16)
  header.writeUInt8(publicKeyBytes, 20)
  return Buffer.concat([header, ours, sealed])
}
