import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

export const secondMs = 1_000
export const minuteMs = 60_000
export const dayMs = 86_400_000

/** The clock of the database, which all processes share, without asking it each time. */
export interface SharedClock {
  /** Epoch milliseconds. */
  now(): number
  /** Looks how far the clock of this process is off. */
  adjust(on: Queryable): Promise<void>
}

const selectNow = statement(`select ${nowMs} as now`)

export function createSharedClock(): SharedClock {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    async adjust(on) {
      const askedAt = Date.now()
      const [row] = await on.query<{ now: number }>(selectNow)
      if (row !== undefined) offset = row.now - (askedAt + Date.now()) / 2
    },
  }
}
