import { createCache } from '../cache.ts'
import type { Reader } from './reader.ts'

/** How long the database has lately read for each reader, in milliseconds. A second fades away within four. */
export interface TimeUsed {
  add(reader: Reader, ms: number): void
  of(reader: Reader): number
}

const fading = 1 / 4
const maxMs = 6_000
const maxReaders = 10_000

/** @param now milliseconds of a clock that never goes back */
export function createTimeUsed(now = () => performance.now()): TimeUsed {
  /** When nothing will be left of it. */
  const fadedAt = createCache<string, number>({ max: maxReaders })
  const nameOf = ({ appId, uid }: Reader) => `${appId} ${uid ?? ''}`
  const of = (reader: Reader) => Math.max(0, ((fadedAt.get(nameOf(reader)) ?? 0) - now()) * fading)
  return {
    add(reader, ms) {
      fadedAt.set(nameOf(reader), now() + Math.min(maxMs, of(reader) + ms) / fading)
    },
    of,
  }
}
