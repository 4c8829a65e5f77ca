import { readEpochSeconds } from '@parley/contract'

/** A time of a record that may be absent; 0, which exports of databases write for "never", is absent too. */
export function readTime(value: number | string | undefined): number | null {
  return value === undefined ? null : readEpochSeconds(value) || null
}
