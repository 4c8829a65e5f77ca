import type { Channel } from './channel.ts'
import { ConnectionLostError } from './connection.ts'
import { type HolderWatchOptions, watchHolder } from './lead-watch.ts'
import { type Statement, statement } from './statement.ts'

/**
 * Work that one process does at a time: the one whose connection holds an advisory lock. When that stops or loses its
 * connection, another takes over. One that stands still would hold the lock for ever, so the others end its session
 * (`lead-watch.ts`).
 */
export interface Lead {
  /**
   * Asks for the lead, or whether it is still here.
   * @param query is given the lock as `$1`, and says in `leads` whether it has it; it may ask for more on the way
   * @returns its row; undefined while another process leads
   */
  take<Row>(query?: Statement): Promise<Row | undefined>
  /** The channel while the lead lasts: once the connection that holds the lock is gone, whatever is asked here fails. */
  readonly channel: Channel
  /** Shows the others that this process lives while it waits for something else than the database. */
  during<Result>(work: Promise<Result>): Promise<Result>
  /** Gives the lead up. */
  release(): Promise<void>
}

/** The lock stays with the connection and may be taken again and again. */
const tryLock = statement('select pg_try_advisory_lock($1) as leads')
const unlock = statement('select pg_advisory_unlock_all()')
const beat = statement('select 1 as beat')

/** For how long a process that leads may be silent, in milliseconds. */
const longestSilenceMs = 15_000
/** So many signs of life fit into that time. */
const beats = 4

/**
 * @param channel nobody else uses it
 * @param options.silentMs tests are in more of a hurry
 */
export function createLead(
  channel: Channel,
  { lock, work, log, silentMs = longestSilenceMs }: Omit<HolderWatchOptions, 'silentMs'> & { silentMs?: number },
): Lead {
  const holder = watchHolder(channel, { lock, work, log, silentMs })
  /** The session that holds the lock. */
  let session: number | undefined

  const leads = () => session !== undefined && channel.processId() === session
  /** A channel opens a new connection by itself; that one has no lock, and another process may lead by now. */
  const requireLead = () => {
    if (!leads()) throw new ConnectionLostError()
  }
  return {
    async take<Row>(query = tryLock) {
      const { rows } = await channel.query({ ...query, values: [lock] })
      const row = rows[0] as Row & { readonly leads: boolean }
      if (!row.leads && session !== undefined) log.info({ work }, 'another process leads this work now')
      session = row.leads ? channel.processId() : undefined
      if (!row.leads) await holder.look()
      return leads() ? row : undefined
    },
    channel: {
      ...channel,
      async query(query) {
        requireLead()
        return channel.query(query)
      },
      async transaction(queries) {
        requireLead()
        return channel.transaction(queries)
      },
      async interact(run) {
        requireLead()
        return channel.interact(run)
      },
    },
    async during(doing) {
      const beating = setInterval(() => {
        // What is asked next fails as well, and tells whoever leads.
        if (leads()) channel.query({ ...beat }).catch(() => {})
      }, silentMs / beats).unref()
      return doing.finally(() => clearInterval(beating))
    },
    async release() {
      session = undefined
      // Where the database is away, the lock has gone with the connection.
      await channel.query({ ...unlock }).catch(() => {})
    },
  }
}
