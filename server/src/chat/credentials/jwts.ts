import { ApiError, type AppSettings } from '@parley/contract'
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { systemUid } from '../apps.ts'
import { createKeySet, KeysUnavailable, signatureAlgorithms } from './key-set.ts'

/** What a token of an app's own issuer says. */
export interface JwtClaims {
  readonly uid: string
  /** Epoch seconds, as the issuer gives them: they may have decimals. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Tokens that an app's own issuer signs (RFC 7519). */
export interface Jwts {
  /**
   * @returns undefined for a token that is not valid, `over` for one of the issuer that has expired
   * @throws 503 `ERR_MISSION_FAILED` where nobody can say, since the keys are away
   */
  read(appId: number, token: string, issuer: IssuerSettings): Promise<JwtClaims | 'over' | undefined>
}

export type IssuerSettings = Pick<AppSettings, 'jwtIssuer' | 'jwtAudience' | 'jwtKeysUrl'>

/** Clocks differ by so much; of the end of a token nothing is given away. */
const clockSeconds = 60
const longestSeconds = 86_400
const maxKeySets = 1_000

/** Whether a token looks like one of an issuer. Our own begin with a uid, which is in lower case. */
export function isJwt(token: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token)
}

/** What is signed: the signature can be written in several ways. */
export function signedPartOf(token: string): string {
  return token.slice(0, token.lastIndexOf('.'))
}

/** Who may sign tokens of an app, as one text; undefined while nobody may. */
export function sourceOf({ jwtIssuer, jwtAudience, jwtKeysUrl }: IssuerSettings): string | undefined {
  if (jwtIssuer === '' || jwtAudience === '' || jwtKeysUrl === '') return undefined
  return JSON.stringify([jwtIssuer, jwtAudience, jwtKeysUrl])
}

/** @param readKeys asks an address for JSON, as far as apps may have it called */
export function createJwts(readKeys: (url: string) => Promise<unknown>): Jwts {
  const keySets = new LRUCache<string, JWTVerifyGetKey>({ max: maxKeySets })
  const keysOf = (appId: number, url: string) => {
    const name = `${appId} ${url}`
    const known = keySets.get(name) ?? createKeySet(() => readKeys(url))
    keySets.set(name, known)
    return known
  }
  return {
    async read(appId, token, settings) {
      if (sourceOf(settings) === undefined) return undefined
      try {
        const { payload } = await jwtVerify(token, keysOf(appId, settings.jwtKeysUrl), {
          ...{ algorithms: signatureAlgorithms, issuer: settings.jwtIssuer, audience: settings.jwtAudience },
          ...{ requiredClaims: ['sub', 'iat', 'exp'], clockTolerance: clockSeconds },
        })
        return claimsOf(payload, Date.now() / 1000)
      } catch (error) {
        // By then its signature was found to be good.
        if (error instanceof errors.JWTExpired) return 'over'
        if (!(error instanceof KeysUnavailable)) return undefined
        throw keysAway()
      }
    },
  }
}

function claimsOf(
  { sub, iat, exp }: { readonly sub?: unknown; readonly iat?: number; readonly exp?: number },
  now: number,
): JwtClaims | 'over' | undefined {
  if (typeof sub !== 'string' || sub === systemUid || iat === undefined || exp === undefined) return undefined
  if (exp <= now) return 'over'
  if (iat > now + clockSeconds || exp > now + longestSeconds + clockSeconds) return undefined
  return { uid: sub, issuedAt: iat, expiresAt: exp }
}

function keysAway(): ApiError {
  return new ApiError('ERR_MISSION_FAILED', 'The keys of the issuer cannot be read. Try again.').retryAfter(5)
}
