import { isDeepStrictEqual } from 'node:util'
import type { Secrets } from '../../store/secrets.ts'

type Values = Readonly<Record<string, unknown>>

/** What a change has made of what: of both only what is otherwise, null where there was nothing. */
export interface Changes {
  readonly before: Values
  readonly after: Values
}

/**
 * Compares settings, rules and the like, as the audit log has them. Nothing secret may be in them.
 * @param before undefined: it was not there @param after undefined: it is gone
 */
export function changesOf(before: object | undefined, after: object | undefined): Changes {
  const [old, now] = [(before ?? {}) as Values, (after ?? {}) as Values]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  const changed = names.filter((name) => !isDeepStrictEqual(old[name] ?? null, now[name] ?? null))
  const pick = (from: Values) => Object.fromEntries(changed.map((name) => [name, from[name] ?? null]))
  return { before: before === undefined ? {} : pick(old), after: after === undefined ? {} : pick(now) }
}

/** What stands for a value that may be secret: equal values have equal digests, and nobody can try out values without the master key. */
export function digestOfValue(secrets: Pick<Secrets, 'digest'>, value: unknown): string {
  return secrets
    .digest(`audit value ${JSON.stringify(value)}`)
    .toString('hex')
    .slice(0, 16)
}
