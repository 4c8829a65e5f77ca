import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { PushSubscription } from '@parley/contract'
import { curve, publicKeyBytes } from '../../chat/notifications/subscriptions.ts'

const recordSize = 4096
/** What encryption adds to a payload: header, key, mark of the last record and its tag. */
export const encryptionBytes = 21 + publicKeyBytes + 1 + 16

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
  const derive = (secret: Buffer, by: Buffer, info: Buffer | string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, by, info, length))
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours])
  const input = derive(pair.computeSecret(theirs), Buffer.from(keys.auth, 'base64url'), info, 32)
  const key = derive(input, salt, 'Content-Encoding: aes128gcm\0', 16)
  const nonce = derive(input, salt, 'Content-Encoding: nonce\0', 12)
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
