import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Database } from './database.ts'
import { statement } from './statement.ts'

/**
 * Keeps API keys, tokens and passwords: found by digest (HMAC-SHA256), shown again by unsealing (AES-256-GCM), both under
 * keys derived from the deployment's master key.
 */
export interface Secrets {
  /** 32 bytes; equal secrets have equal digests, so a secret is looked up in constant time by its digest. */
  digest(secret: string): Buffer
  seal(secret: string): Buffer
  /** @throws Error when the value was sealed under another master key or altered */
  unseal(sealed: Buffer): string
}

const ivBytes = 12
const tagBytes = 16

/** @param masterKey 64 hexadecimal characters */
export function createSecrets(masterKey: string): Secrets {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', Buffer.from(masterKey, 'hex'), '', `parley ${purpose}`, 32))
  const digestKey = derive('digest')
  const sealKey = derive('seal')

  return {
    digest: (secret) => createHmac('sha256', digestKey).update(secret).digest(),
    seal(secret) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv)
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed])
    },
    unseal(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', sealKey, sealed.subarray(0, ivBytes))
      decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
      return decipher.update(sealed.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

const readCheck = statement(`select value from settings where name = 'master_key_check'`)
const writeCheck = statement(`
  insert into settings (name, value)
  values ('master_key_check', $1)
  on conflict (name) do nothing`)

/** The master key is not that of the database. */
export class MasterKeyError extends Error {
  constructor() {
    super(
      'The master key is not the one that this database was written with. Set PARLEY_MASTER_KEY to that key, ' +
        'or restore keys.env of the data folder from its backup.',
    )
    this.name = 'MasterKeyError'
  }
}

/**
 * Makes sure that this database was written under the same master key; the first start leaves the check value.
 * @throws MasterKeyError saying what to do, since with another key every API key and token would be unknown
 */
export async function checkMasterKey(database: Database, secrets: Secrets): Promise<void> {
  const expected = secrets.digest('master key check').toString('hex')
  await database.query(writeCheck, [expected])
  const [row] = await database.query<{ value: string }>(readCheck)
  if (row?.value !== expected) {
    throw new MasterKeyError()
  }
}
