import type { Database } from '../store/database.ts'
import { createMemory } from '../store/memory.ts'
import type { Fragment } from '../store/statement.ts'

const keptMs = 10_000

/**
 * Counts what is pending, for figures. While an endpoint is down that is millions of rows, so it is read as lists are, behind which
 * nobody else waits, and kept for a while.
 * @returns undefined where the database does not say: figures are answered without what only it knows
 */
export function createPendingCount(
  database: Database,
  count: Fragment<{ pending: number }>,
): () => Promise<number | undefined> {
  const counted = createMemory<string, number>({
    max: 1,
    ttlMs: keptMs,
    read: async () => (await database.run(count))[0]?.pending ?? 0,
  })
  return () => counted.recall('pending').catch(() => undefined)
}
