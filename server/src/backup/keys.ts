import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { opensWith } from '../store/data-keys.ts'
import { BackupError, type Manifest } from './format.ts'

/** Keys of a deployment, as `keys.env` has them. */
export interface SealedKeys {
  readonly PARLEY_API_KEY?: string | undefined
  readonly PARLEY_AUTH_KEY?: string | undefined
  readonly PARLEY_MASTER_KEY: string
}

interface Box {
  readonly sealed: 'scrypt, aes-256-gcm'
  readonly cost: number
  readonly salt: string
  readonly iv: string
  readonly tag: string
  readonly data: string
}

/** 128 MB of memory and some tenths of a second for each guess. */
const cost = 2 ** 17
const blockSize = 8

const derive = promisify(
  (passphrase: string, salt: Buffer, n: number, done: (error: Error | null, key: Buffer) => void) =>
    scrypt(passphrase.normalize('NFC'), salt, 32, { N: n, r: blockSize, maxmem: 256 * n * blockSize }, done),
)

/** Seals keys with a passphrase. */
export async function sealKeys(keys: SealedKeys, passphrase: string): Promise<Buffer> {
  const [salt, iv] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv('aes-256-gcm', await derive(passphrase, salt, cost), iv)
  const data = Buffer.concat([cipher.update(JSON.stringify(keys), 'utf8'), cipher.final()])
  const box: Box = {
    ...{ sealed: 'scrypt, aes-256-gcm', cost, salt: salt.toString('base64'), iv: iv.toString('base64') },
    ...{ tag: cipher.getAuthTag().toString('base64'), data: data.toString('base64') },
  }
  return Buffer.from(`${JSON.stringify(box)}\n`)
}

/** @throws BackupError when the passphrase is not the one that they were sealed with, or the file is no such thing */
export async function unsealKeys(sealed: Buffer, passphrase: string): Promise<SealedKeys> {
  const box = openBox(sealed)
  if (box === undefined) throw new BackupError('The file with the sealed keys of this backup is damaged.')
  const bytes = (name: 'salt' | 'iv' | 'tag' | 'data') => Buffer.from(box[name], 'base64')
  const decipher = createDecipheriv('aes-256-gcm', await derive(passphrase, bytes('salt'), box.cost), bytes('iv'))
  decipher.setAuthTag(bytes('tag'))
  try {
    return JSON.parse(decipher.update(bytes('data'), undefined, 'utf8') + decipher.final('utf8')) as SealedKeys
  } catch {
    throw new BackupError('BACKUP_PASSPHRASE is not the one that the keys of this backup were sealed with.')
  }
}

/** @returns undefined where it was cut, or is something else */
export function openBox(sealed: Buffer): Box | undefined {
  try {
    const box = JSON.parse(sealed.toString('utf8')) as Partial<Box> | null
    const isWhole = typeof box?.cost === 'number' && (['salt', 'iv', 'tag', 'data'] as const).every((name) => box[name])
    return isWhole ? (box as Box) : undefined
  } catch {
    return undefined
  }
}

/** What nothing but the master key opens, by the tables that hold it. */
const sealedThings: Readonly<Record<string, string>> = {
  api_keys: 'API keys',
  auth_tokens: 'auth tokens',
  webhooks: 'secrets of webhooks',
  notification_providers: 'credentials of notification providers',
  push_tokens: 'push tokens of devices',
  moderation_engines: 'settings of moderation engines',
  operators: 'second factors of operators',
  operator_tokens: 'tokens of operators',
  erased_digests: 'marks of those who were erased',
}

/**
 * Is this the master key that the data of a backup was written with?
 * @param masterKey undefined where there is none at hand
 * @throws BackupError saying what could not be read without it
 */
export function requireKey({ keys, tables, id }: Manifest, masterKey: string | undefined): void {
  if (masterKey !== undefined && opensWith(keys.check, masterKey)) return
  const lost = Object.entries(sealedThings).flatMap(([name, what]) => {
    const rows = tables.find((table) => table.name === name)?.rows ?? 0
    return rows === 0 ? [] : [`${rows} ${what}`]
  })
  const have =
    masterKey === undefined
      ? 'There is no master key here'
      : 'The master key here is not the one that this backup was made under'
  const unseal = keys.sealed === null ? '' : ', or BACKUP_PASSPHRASE, since this backup has its keys sealed'
  throw new BackupError(
    `${have}. Without it these could not be read: ${[...lost, 'passwords of groups'].join(', ')}. Set PARLEY_MASTER_KEY, ` +
      `or put the keys.env that belongs to ${id} into the data folder${unseal}. Nothing was written.`,
  )
}
