import type { Secrets } from '../../store/secrets.ts'

/** A secret that was replaced, and signs beside the new one for a while. */
export interface OldSecret {
  readonly secret: string
  /** Epoch seconds. */
  readonly validUntil: number
}

/** Old secrets as a row of `webhooks` has them: sealed together, and when the last of them ends. */
export interface StoredOldSecrets {
  readonly oldSecretSealed: Buffer | null
  readonly oldSecretUntil: number | null
}

/**
 * So many are kept: each adds to the header of every delivery. Of more, those go that would end first.
 */
const most = 20

/** The old secrets that still sign, newest first. Earlier versions kept one, as it is. */
export function openOldSecrets(secrets: Secrets, stored: StoredOldSecrets): OldSecret[] {
  if (stored.oldSecretSealed === null || isOver(stored.oldSecretUntil ?? 0)) return []
  const text = secrets.unseal(stored.oldSecretSealed)
  const kept: OldSecret[] = text.startsWith('[')
    ? JSON.parse(text)
    : [{ secret: text, validUntil: stored.oldSecretUntil ?? 0 }]
  return kept.filter(({ validUntil }) => !isOver(validUntil))
}

/** Makes a row's part of old secrets. @param olds newest first */
export function sealOldSecrets(secrets: Secrets, olds: readonly OldSecret[]): StoredOldSecrets {
  const last = olds.toSorted((a, b) => b.validUntil - a.validUntil).slice(0, most)
  const kept = olds.filter((old) => last.includes(old))
  const [first] = last
  if (first === undefined) return { oldSecretSealed: null, oldSecretUntil: null }
  return { oldSecretSealed: secrets.seal(JSON.stringify(kept)), oldSecretUntil: first.validUntil }
}

function isOver(until: number): boolean {
  return until * 1000 <= Date.now()
}
