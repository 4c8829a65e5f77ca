import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/**
 * Keeps API keys, tokens and passwords: found by digest (HMAC-SHA256), shown again by unsealing (AES-256-GCM), both under
 * keys that open with the deployment's master key (`data-keys.ts`).
 */
export interface Secrets {
  /**
   * 32 bytes; equal secrets have equal digests, so a secret is looked up in constant time by its digest. The key of digests stays
   * the same for as long as the database does: what is kept as a digest only could not be made anew.
   */
  digest(secret: string): Buffer
  /** Under the version that is written with now. */
  seal(secret: string): Buffer
  /** @throws Error when the value was sealed under a key that is not held here, or altered */
  unseal(sealed: Buffer): string
}

/** What secrets are kept with: 32 bytes each. */
export interface DataKeys {
  readonly digest: Buffer
  /** Those that values are sealed under, by version. */
  readonly seal: ReadonlyMap<number, Buffer>
  /** The version that is written with. */
  readonly current: number
}

/** Values of the first version are written as they ever were; later ones say which they are. */
export const firstVersion = 1

const ivBytes = 12
const tagBytes = 16
const mark = Buffer.from('pk1')
const headBytes = mark.length + 2

/** @param keys asked each time, since they change while the service runs */
export function createSecrets(keys: () => DataKeys): Secrets {
  return {
    digest: (secret) => createHmac('sha256', keys().digest).update(secret).digest(),
    seal(secret) {
      const { current, seal } = keys()
      const sealed = encrypt(keyOf(seal, current), Buffer.from(secret, 'utf8'))
      return current === firstVersion ? sealed : Buffer.concat([headOf(current), sealed])
    },
    unseal(sealed) {
      const { seal } = keys()
      const version = versionOf(sealed, seal)
      const content = version === firstVersion ? sealed : sealed.subarray(headBytes)
      return decrypt(keyOf(seal, version), content).toString('utf8')
    },
  }
}

function keyOf(keys: DataKeys['seal'], version: number): Buffer {
  const key = keys.get(version)
  if (key === undefined) throw new Error(`this process does not have version ${version} of the key that seals`)
  return key
}

/**
 * The version of the key that a value was sealed under. One of the first begins with anything, and so, once in many millions,
 * like a later one: that it opens as it is decides.
 */
export function versionOf(sealed: Buffer, keys: DataKeys['seal']): number {
  if (!sealed.subarray(0, mark.length).equals(mark) || sealed.length < headBytes + ivBytes + tagBytes)
    return firstVersion
  const first = keys.get(firstVersion)
  return first !== undefined && opens(first, sealed) ? firstVersion : sealed.readUInt16BE(mark.length)
}

function headOf(version: number): Buffer {
  const head = Buffer.alloc(headBytes)
  mark.copy(head)
  head.writeUInt16BE(version, mark.length)
  return head
}

function opens(key: Buffer, sealed: Buffer): boolean {
  try {
    decrypt(key, sealed)
    return true
  } catch {
    return false
  }
}

/** AES-256-GCM: IV, tag, what is encrypted. @param about what is authenticated with it */
export function encrypt(key: Buffer, content: Buffer, about = ''): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(about))
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted])
}

/** @throws Error when it was encrypted under another key, is about something else, or was altered */
export function decrypt(key: Buffer, encrypted: Buffer, about = ''): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(encrypted.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(encrypted.subarray(ivBytes + tagBytes)), decipher.final()])
}
