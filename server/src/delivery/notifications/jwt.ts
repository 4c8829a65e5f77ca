import { type KeyObject, sign } from 'node:crypto'

/** A signed JSON Web Token. @param algorithm RS256 with an RSA key, ES256 with one on the curve P-256 */
export function signJwt(algorithm: 'RS256' | 'ES256', key: KeyObject, header: object, claims: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const content = `${encode({ alg: algorithm, typ: 'JWT', ...header })}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' })
  return `${content}.${signature.toString('base64url')}`
}
