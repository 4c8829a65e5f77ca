import type { Log } from '../../log.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { createLead } from '../../store/lead.ts'
import { statement } from '../../store/statement.ts'
import type { LedgerDestination, LedgerEntry } from './destinations.ts'

/** Writes what restores must do again to destinations outside the database, within about a second, one process at a time. */
export interface LedgerWriter {
  start(): void
  /** Writes what is still to be written, and ends. */
  stop(): Promise<void>
}

/** Any constant will do, as long as every version of the service uses the same. */
const lock = 7_206_951_013

const pauseMs = { next: 1_000, following: 5_000, failed: 5_000 }
const atOnce = 1_000

const selectPending = statement(`
  select s.value as of, l.id, l.kind, l.app_id as app, encode(l.digest, 'base64') as digest, l.at
  from ledger l
  cross join settings s
  where l.pending
  and s.name = 'ledger'
  order by l.id
  limit ${atOnce}`)

const markWritten = statement(`
  update ledger
  set pending = false
  where id = any($1::bigint[])`)

/** @param destinations all of them get each entry; where one fails, it is tried again, and no entry counts as written */
export function createLedgerWriter(
  database: Database,
  destinations: readonly LedgerDestination[],
  log: Log,
): LedgerWriter {
  const lead = createLead(database.openChannel('parley ledger'), { lock, work: 'ledger', log })
  const { channel } = lead
  /** What a destination has got already while another has not. */
  const written = new Map<LedgerDestination, ReadonlySet<number>>()
  let stopped = false
  let running: Promise<void> | undefined
  let endPause: (() => void) | undefined

  const writeTo = async (destination: LedgerDestination, entries: readonly LedgerEntry[]) => {
    const missing = entries.filter(({ id }) => written.get(destination)?.has(id) !== true)
    if (missing.length > 0) await destination.append(missing)
    written.set(destination, new Set(entries.map(({ id }) => id)))
  }

  /** @returns how many there were */
  const round = async (): Promise<number | undefined> => {
    if ((await lead.take()) === undefined) return undefined
    const { rows } = await channel.query({ ...selectPending })
    const entries = rows as LedgerEntry[]
    if (entries.length === 0) return 0
    for (const destination of destinations) await lead.during(writeTo(destination, entries))
    await channel.query({ ...markWritten, values: [entries.map(({ id }) => id)] })
    written.clear()
    return entries.length
  }

  const tryRound = async (): Promise<number> => {
    try {
      const count = await round()
      if (count === undefined) return pauseMs.following
      return count === atOnce ? 0 : pauseMs.next
    } catch (error) {
      if (!isConnectionFailure(error)) {
        log.error(
          { err: error, destinations: destinations.map(({ name }) => name) },
          'the ledger of revocations could not be written; trying again',
        )
      }
      return pauseMs.failed
    }
  }

  const run = async () => {
    while (!stopped) {
      const ms = await tryRound()
      if (stopped || ms === 0) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms).unref()
        endPause = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    // What came since the last round; where the database is away, it waits there.
    await tryRound()
    await lead.release()
  }

  return {
    start() {
      running ??= run()
    },
    async stop() {
      stopped = true
      endPause?.()
      await running
    },
  }
}
