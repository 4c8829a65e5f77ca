import type { Channel } from '../../../store/channel.ts'
import { statement } from '../../../store/statement.ts'

/** How far the writer is, and what the database tells about ids that are under way. */
interface Sight {
  /** This process is the one that writes. */
  readonly leads: boolean
  /** Every message up to this id has its entry. */
  readonly indexedId: number
  /** The last id that was drawn. */
  readonly lastId: number
}

/** Numbers of transactions: the oldest that still runs, and the next one. */
interface Running {
  readonly oldest: number
  readonly next: number
}

/** Any constant will do, as long as every version of the service uses the same. */
const advisoryLock = 7_206_951_003

/** The lock stays with the connection and may be taken again and again; when the connection is lost, another leads. */
const selectSight = statement(`
  select pg_try_advisory_lock($1) as leads,
    (select indexed_id from search_progress) as "indexedId",
    (select last_value - case when is_called then 0 else 1 end from message_ids) as "lastId"`)

const selectRunning = statement(`
  select pg_snapshot_xmin(s)::text::bigint as oldest, pg_snapshot_xmax(s)::text::bigint as next
  from pg_current_snapshot() as s`)

/** Reads both, the ids first: whatever drew them has its number before the next one is told. */
export async function readProgress(channel: Channel): Promise<Sight & Running> {
  const [sight, running] = await Promise.all([
    channel.query({ ...selectSight, values: [advisoryLock] }),
    channel.query({ ...selectRunning, values: [] }),
  ])
  return { ...(sight.rows[0] as Sight), ...(running.rows[0] as Running) }
}

/**
 * Tells up to which id every message is stored or never will be: ids are drawn before they are committed, and a later one
 * may be committed first. An id that was seen drawn is settled when every transaction that ran then is over. Which those
 * are is asked one look later than the id, in case one had drawn it an instant before it got its own number.
 */
export function createSettlement(): (progress: Pick<Sight & Running, 'lastId' | 'oldest' | 'next'>) => number {
  let settledId = 0
  let seenId: number | undefined
  let waiting: { readonly id: number; readonly until: number } | undefined
  return ({ lastId, oldest, next }) => {
    if (waiting === undefined && seenId !== undefined) {
      waiting = { id: seenId, until: next }
      seenId = undefined
    }
    if (waiting !== undefined && oldest >= waiting.until) {
      settledId = waiting.id
      waiting = undefined
    }
    if (waiting === undefined) seenId ??= lastId
    return settledId
  }
}
