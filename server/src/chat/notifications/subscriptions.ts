import { createECDH, generateKeyPairSync } from 'node:crypto'
import type { PushSubscription } from '@parley/contract'

/** The curve of the keys of Web Push, as OpenSSL calls it: P-256. */
export const curve = 'prime256v1'
/** Bytes of a public key, uncompressed. */
export const publicKeyBytes = 65
const authBytes = 16

/** Whether something can be encrypted for the keys of a subscription. */
export function areKeys({ p256dh, auth }: PushSubscription['keys']): boolean {
  if (Buffer.from(auth, 'base64url').length !== authBytes) return false
  const key = Buffer.from(p256dh, 'base64url')
  if (key.length !== publicKeyBytes) return false
  const pair = createECDH(curve)
  pair.generateKeys()
  try {
    pair.computeSecret(key)
    return true
  } catch {
    return false
  }
}

/** What an app proves itself with to push services. */
export interface VapidKeys {
  /** Uncompressed, in base64url: what browsers subscribe with. */
  readonly publicKey: string
  /** PKCS #8, as PEM. */
  readonly privateKey: string
}

export function makeVapidKeys(): VapidKeys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: curve })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const raw = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return {
    publicKey: raw.toString('base64url'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/**
 * What is wrong with the endpoint of a subscription, which comes from a front end; undefined when nothing is. Its scheme, and
 * what its host leads to, are checked by whoever connects.
 * @param hosts where it may lead, as in the configuration
 */
export function flawOfEndpoint(endpoint: string, hosts: readonly string[]): string | undefined {
  if (!URL.canParse(endpoint) || /\s/.test(endpoint)) return 'must be an absolute URL'
  const { username, password, host, hostname } = new URL(endpoint)
  if (username !== '' || password !== '') return 'must not hold a user name or password'
  const isAllowed = hosts.some((allowed) =>
    allowed.startsWith('*.') ? `.${hostname}`.endsWith(allowed.slice(1)) : allowed === hostname || allowed === host,
  )
  return isAllowed ? undefined : `must lead to a push service that is allowed here (WEB_PUSH_HOSTS); ${host} is none`
}
