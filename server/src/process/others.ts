import type { Log } from '../log.ts'
import type { Database } from '../store/database.ts'
import { statement } from '../store/statement.ts'

/** Every process of the service listens on one connection of this name. */
const countListeners = statement(`
  select count(*)::int as listeners
  from pg_stat_activity
  where datname = current_database()
  and application_name = 'parley changes'`)

const lookEveryMs = 60_000

/**
 * Warns while other processes use the database of one that has no Redis to hear them by. It is no error: a new process is
 * beside the old one for a moment when it takes over.
 * @returns stops looking
 */
export function watchForOthers(database: Database, log: Log): () => void {
  let isWarned = false
  const look = async () => {
    try {
      const [row] = await database.query<{ listeners: number }>(countListeners)
      const hasOthers = (row?.listeners ?? 0) > 1
      if (hasOthers && !isWarned) {
        log.warn(
          'REDIS_URL is missing, but other processes use the same database: sockets here do not get their events',
        )
      }
      isWarned = hasOthers
    } catch (error) {
      log.debug({ cause: (error as Error).message }, 'could not check whether there are other processes')
    }
  }
  void look()
  const timer = setInterval(() => void look(), lookEveryMs).unref()
  return () => clearInterval(timer)
}
