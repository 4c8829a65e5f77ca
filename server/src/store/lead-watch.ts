import type { Log } from '../log.ts'
import type { Channel } from './channel.ts'
import { nowMs } from './clock.ts'
import { isNotPermitted } from './connection.ts'
import { statement } from './statement.ts'

/** Watches whoever holds an advisory lock, for those who wait for it. */
export interface HolderWatch {
  /** Sees whether the holder lives, and ends its session once it has been silent for too long. */
  look(): Promise<void>
}

/** It is looked so often at whoever is silent, and a little less often where whoever waits comes by more seldom. */
const looks = 5
/**
 * So much of the time between two looks counts at most. What is longer is a database, a machine or a process here that stood still itself,
 * and whoever leads may not have had its turn since.
 */
const leastLooks = 3

const lockSql = `
  from pg_locks l
  left join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory'
  and l.database = (select oid from pg_database where datname = current_database())
  and l.classid = ($1::bigint >> 32)::oid
  and l.objid = ($1::bigint & 4294967295)::oid
  and l.objsubid = 1
  and l.granted`

/**
 * The database notes when a session began or ended its last statement, so that to show that one lives costs nothing. A session that runs
 * something, or waits for a lock, is not one whose process stands still: that one makes its session wait for the client.
 */
const selectHolder = statement(`
  select l.pid, a.state_change::text as beat, a.wait_event_type = 'Client' as waits, ${nowMs} as now
  ${lockSql}`)

/** Only the session that was watched, and only if nothing has come from it in the meantime. */
const endSession = statement(`
  select pg_terminate_backend(l.pid) as ended, host(a.client_addr) as address
  ${lockSql}
  and l.pid = $2
  and a.state_change = $3::timestamptz`)

interface Holder {
  readonly pid: number
  /** When its state changed last; null where this role may not see that, or the database does not note it. */
  readonly beat: string | null
  /** For its client. */
  readonly waits: boolean | null
  /** Epoch milliseconds by the database's clock. */
  readonly now: number
}

export interface HolderWatchOptions {
  /** Any constant will do, as long as every version of the service uses the same. */
  readonly lock: number
  /** What is led, for the log. */
  readonly work: string
  readonly log: Log
  /** Whoever leads asks the database for something several times in this time, in milliseconds. */
  readonly silentMs: number
}

/** @param channel looks at the database without being in a transaction */
export function watchHolder(channel: Channel, { lock, work, log, silentMs }: HolderWatchOptions): HolderWatch {
  let lookedAt = Number.NEGATIVE_INFINITY
  /** The holder as it was at the last look, and for how long it was seen like that. */
  let seen: (Holder & { readonly silentForMs: number }) | undefined
  /** The session about which something was said that is true for as long as it lasts. */
  let noted: number | undefined

  const noteOnce = (pid: number, note: () => void) => {
    if (noted !== pid) note()
    noted = pid
  }
  const end = async ({ pid, beat }: Holder, silentForMs: number) => {
    try {
      const { rows } = await channel.query({ ...endSession, values: [lock, pid, beat] })
      if (rows[0]?.ended !== true) return
      const { address } = rows[0] as { address: string | null }
      log.warn(
        { work, session: pid, address: address ?? undefined, silentSeconds: Math.round(silentForMs / 1000) },
        'the process that leads this work stands still: its database session was ended, so that another takes over',
      )
    } catch (error) {
      if (!isNotPermitted(error)) throw error
      noteOnce(pid, () =>
        log.error(
          { work, session: pid, silentSeconds: Math.round(silentForMs / 1000), err: error },
          'the process that leads this work stands still, and the database role may not end its session: the work waits until somebody does, with pg_terminate_backend',
        ),
      )
    }
  }

  return {
    async look() {
      if (performance.now() < lookedAt + silentMs / looks) return
      lookedAt = performance.now()
      const { rows } = await channel.query({ ...selectHolder, values: [lock] })
      const holder = rows[0] as Holder | undefined
      if (holder === undefined) {
        seen = undefined
        return
      }
      if (holder.beat === null) {
        noteOnce(holder.pid, () =>
          log.warn(
            { work, session: holder.pid },
            'the database does not let this role see whether the process that leads this work lives: give all processes the same role, and leave track_activities on',
          ),
        )
      }
      const isSilent = seen?.pid === holder.pid && seen.beat === holder.beat && holder.waits === true
      const passed = Math.max(0, Math.min(holder.now - (seen?.now ?? 0), silentMs / leastLooks))
      const silentForMs = isSilent ? (seen?.silentForMs ?? 0) + passed : 0
      seen = { ...holder, silentForMs }
      if (silentForMs < silentMs) return
      seen = undefined
      await end(holder, silentForMs)
    },
  }
}
