import { performance } from 'node:perf_hooks'
import type { Channel } from './channel.ts'
import { statement } from './statement.ts'

/**
 * Waits for the transactions that may have written to some tables up to a moment. Ids are drawn before they are committed,
 * and a later one may be committed first: what was drawn by the moment is settled once they are over.
 */
export interface WritersBefore {
  /** Whether all of them are over. Asks the database; once it was true, it need not be asked again. */
  areGone(): Promise<boolean>
}

const drawNumber = statement('select pg_current_xact_id()::text::bigint as number')

const selectOldest = statement('select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest')

/** Whoever writes, or locks rows, holds a lock on the table from before the first row until the end of the transaction. */
const selectWriters = statement(`
  select l.virtualtransaction as writer
  from pg_locks l
  join pg_database d on d.oid = l.database
  where d.datname = current_database()
  and l.locktype = 'relation'
  and l.relation = any($1::text[]::regclass[])
  and l.mode not in ('AccessShareLock', 'ShareUpdateExclusiveLock')
  and l.granted`)

/** How long numbers alone are looked at, and how often the locks thereafter: they are many, and reading them holds them. */
const patienceMs = 200
const locksEveryMs = 100

/**
 * The moment is now. Numbers of transactions tell at next to no cost: all lower than one drawn now are to be over. But they
 * count for the whole server, other databases included, and for whatever else is done in this one. So that a long one
 * which has nothing to do with these tables holds up nothing, after a while those count alone who lock the tables.
 * @param tables whoever draws an id in question has locked rows of one of them, or is inserting into it
 */
export async function writersBefore(channel: Channel, tables: readonly string[]): Promise<WritersBefore> {
  const ask = async (query: { name: string; text: string }, values: unknown[] = []) =>
    (await channel.query({ ...query, values })).rows
  const [{ number }] = await ask(drawNumber)
  let looksAtLocks = performance.now() + patienceMs
  let writers: Set<string> | undefined
  return {
    async areGone() {
      const [{ oldest }] = await ask(selectOldest)
      if (oldest >= number) return true
      if (performance.now() < looksAtLocks) return false
      const present = new Set<string>((await ask(selectWriters, [tables])).map(({ writer }) => writer))
      writers = writers === undefined ? present : new Set([...writers].filter((writer) => present.has(writer)))
      looksAtLocks = performance.now() + locksEveryMs
      return writers.size === 0
    },
  }
}
