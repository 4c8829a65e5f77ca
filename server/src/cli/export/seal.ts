import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'

/** What it costs to try a passphrase, as scrypt takes it. */
export interface PassphraseCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** 128 MB and some 300 ms. */
const usualCost: PassphraseCost = { N: 2 ** 17, r: 8, p: 1 }
const ivBytes = 12
const tagBytes = 16

/** A file of secrets begins with this line. */
interface Head {
  readonly format: 'parley-secrets'
  readonly version: 1
  readonly kdf: PassphraseCost & {
    readonly name: 'scrypt'
    readonly salt: string
  }
  readonly cipher: 'aes-256-gcm'
}

export class WrongPassphrase extends Error {
  constructor() {
    super('the passphrase does not open the secrets of this export, or they were altered')
    this.name = 'WrongPassphrase'
  }
}

const keyOf = (passphrase: string, { N, r, p, salt }: Head['kdf']): Buffer =>
  scryptSync(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), 32, { N, r, p, maxmem: 256 * 1024 * 1024 })

/** Blocks are bound to their place and to whether they are the last, so that none can be moved, left out or cut off. */
const boundTo = (place: number, isLast: boolean) => Buffer.from(`parley secrets ${place} ${isLast ? 'last' : 'more'}`)

/**
 * Seals texts under a passphrase: a line that says how, then a line in base64 for each text.
 * @param blocks texts of some kilobytes each
 */
export function sealBlocks(passphrase: string, blocks: readonly string[], cost = usualCost): string {
  const kdf: Head['kdf'] = { name: 'scrypt', ...cost, salt: randomBytes(16).toString('base64') }
  const head: Head = { format: 'parley-secrets', version: 1, kdf, cipher: 'aes-256-gcm' }
  const key = keyOf(passphrase, kdf)
  const lines = blocks.map((block, place) => {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(boundTo(place, place === blocks.length - 1))
    const sealed = Buffer.concat([cipher.update(block, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
  })
  return `${[JSON.stringify(head), ...lines].join('\n')}\n`
}

/** @throws WrongPassphrase, Error for a file that is none of secrets */
export function openBlocks(passphrase: string, text: string): string[] {
  const [first = '', ...lines] = text.trimEnd().split('\n')
  const head = JSON.parse(first) as Partial<Head>
  const kdf = head.kdf
  if (head.format !== 'parley-secrets' || head.version !== 1 || kdf === undefined)
    throw new Error('this is no file of secrets that this version can read')
  // What an attacker writes there must not take all memory.
  if (kdf.N > 2 ** 18 || kdf.r > 8 || kdf.p > 1) throw new Error('the secrets ask for more memory than they need')
  const key = keyOf(passphrase, kdf)
  return lines.map((line, place) => {
    const sealed = Buffer.from(line, 'base64')
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes))
      decipher.setAAD(boundTo(place, place === lines.length - 1))
      decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
      return decipher.update(sealed.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new WrongPassphrase()
    }
  })
}
