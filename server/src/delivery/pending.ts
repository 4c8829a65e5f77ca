import { setTimeout as delay } from 'node:timers/promises'
import { ofService } from '../store/reader.ts'
import type { Reads } from '../store/reads.ts'
import { compileFragment, type Fragment } from '../store/statement.ts'

/** What was counted, or could not be, is not counted anew for so long. */
const keptMs = 10_000
/** Whoever scrapes gives up soon, the supervisor of workers after two seconds, and would then have no figure at all. */
const patienceMs = 1_000

/**
 * Counts what is pending, for figures. While an endpoint is down that is millions of rows: it is counted on a connection of its own,
 * behind which nobody else waits, for as long as it takes, and kept for a while. Whoever asks meanwhile gets what was counted last.
 * @returns undefined where nothing was counted yet: figures are answered without what only the database knows
 */
export function createPendingCount(
  figures: Pick<Reads, 'run'>,
  count: Fragment<{ pending: number }>,
): () => Promise<number | undefined> {
  let pending: number | undefined
  let counting: Promise<void> | undefined
  let endedAt = Number.NEGATIVE_INFINITY

  const recount = async () => {
    try {
      const [row] = (await figures.run(compileFragment(count), ofService)).rows as { pending: number }[]
      pending = row?.pending ?? 0
    } catch {
      // The database is away, or has too many rows for its time: it is asked again later.
    }
    endedAt = performance.now()
    counting = undefined
  }
  return async () => {
    if (counting === undefined && performance.now() - endedAt >= keptMs) counting = recount()
    if (counting !== undefined) await Promise.race([counting, delay(patienceMs, undefined, { ref: false })])
    return pending
  }
}
