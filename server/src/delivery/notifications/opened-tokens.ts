import { createCache } from '../../cache.ts'
import type { Secrets } from '../../store/secrets.ts'

/** Those that were sent to last; a few megabytes. */
const mostOpened = 16_384

/**
 * Opens push tokens, and remembers what they are by their digests: opening one takes longer than all else about a push but its
 * request.
 */
export function createTokenOpener(secrets: Pick<Secrets, 'unseal'>): (digest: Buffer, sealed: Buffer) => string {
  const opened = createCache<string, string>({ max: mostOpened })
  return (digest, sealed) => {
    const name = digest.toString('latin1')
    const known = opened.get(name)
    if (known !== undefined) return known
    const token = secrets.unseal(sealed)
    opened.set(name, token)
    return token
  }
}
