import { createCache } from '../../cache.ts'
import type { Secrets } from '../../store/secrets.ts'

/** Those that were sent to last; a few megabytes. */
const mostOpened = 16_384

/**
 * Opens push tokens, and remembers what was sealed: opening one takes longer than all else about a push but its request. The
 * digest of a token would not do: that of a browser is of its address alone, and its keys may change.
 */
export function createTokenOpener(secrets: Pick<Secrets, 'unseal'>): (sealed: Buffer) => string {
  const opened = createCache<string, string>({ max: mostOpened })
  return (sealed) => {
    const name = sealed.toString('latin1')
    const known = opened.get(name)
    if (known !== undefined) return known
    const token = secrets.unseal(sealed)
    opened.set(name, token)
    return token
  }
}
