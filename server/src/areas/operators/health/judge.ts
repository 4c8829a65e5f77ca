import type { HealthCheck } from '@parley/contract'

const severity = { failing: 0, warning: 1, ok: 2 } as const

/** What is wrong comes first, the worst of it before the rest; else in the order in which it was looked at. */
export function judge(checks: readonly HealthCheck[]) {
  const sorted = checks.toSorted((a, b) => severity[a.state] - severity[b.state])
  return { state: sorted[0]?.state ?? 'ok', at: nowSeconds(), checks: sorted } as const
}

/** @param since epoch seconds, where it is known */
export function found(
  state: HealthCheck['state'],
  check: string,
  says: string,
  { advice, since }: { readonly advice?: string; readonly since?: number | null | undefined } = {},
): HealthCheck {
  return {
    ...{ check, state, says },
    ...(since !== undefined && since !== null && { since }),
    ...(advice !== undefined && state !== 'ok' && { advice }),
  }
}

/** Seconds as people say them: `40 seconds`, `12 minutes`, `3 hours`. */
export function lengthOf(seconds: number): string {
  for (const [unit, name] of [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
  ] as const) {
    if (seconds >= 2 * unit) return `${Math.floor(seconds / unit)} ${name}s`
  }
  return seconds === 1 ? '1 second' : `${Math.max(0, Math.floor(seconds))} seconds`
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** Bytes as people say them: `3.1 GB`. */
export function sizeOf(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
