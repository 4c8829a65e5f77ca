import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'

/** Signatures that are taken: by a private key, each, so that nobody who can check one can make one. */
export const signatureAlgorithms = ['RS256', 'ES256', 'EdDSA']

/** There are no keys to check a signature by, which says nothing about the signature. */
export class KeysUnavailable extends Error {
  constructor(cause: unknown) {
    super('the keys of the issuer could not be read', { cause })
    this.name = 'KeysUnavailable'
  }
}

/** Keys are asked for again after so long, while those of before are used, ... */
const freshMs = 10 * 60_000
/** ... which are not used any longer than this: an issuer may have withdrawn them. */
const usableMs = 24 * 3_600_000
/** A key that is not there may be new; anybody can name one that is not. */
const unknownKeyPauseMs = 60_000
/** Where the keys could not be read, they are not asked for again for so long. */
const failurePauseMs = 5_000

/**
 * The public keys of an issuer (RFC 7517), for jose.
 * @param load reads the set, as JSON, from where the issuer publishes it
 * @throws KeysUnavailable from what it returns; errors of jose where no key fits
 */
export function createKeySet(load: () => Promise<unknown>, now = () => performance.now()): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined
  let loadedAt = 0
  let failedAt = Number.NEGATIVE_INFINITY
  let unknownAt = Number.NEGATIVE_INFINITY
  let failure: unknown
  let loading: Promise<void> | undefined

  const read = async () => {
    try {
      keys = createLocalJWKSet((await load()) as JSONWebKeySet)
      loadedAt = now()
      failedAt = Number.NEGATIVE_INFINITY
    } catch (error) {
      failure = error
      failedAt = now()
    } finally {
      loading = undefined
    }
  }
  const refresh = (): Promise<void> => {
    if (now() < failedAt + failurePauseMs) return Promise.resolve()
    loading ??= read()
    return loading
  }

  return async (header, token) => {
    if (keys === undefined || now() >= loadedAt + usableMs) await refresh()
    else if (now() >= loadedAt + freshMs) void refresh()
    if (keys === undefined || now() >= loadedAt + usableMs) throw new KeysUnavailable(failure)
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || now() < unknownAt + unknownKeyPauseMs) throw error
      unknownAt = now()
      await refresh()
      return keys(header, token)
    }
  }
}
