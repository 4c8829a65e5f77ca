import type { Log } from '../log.ts'
import { nowMs } from './clock.ts'
import type { Database } from './database.ts'
import { statement } from './statement.ts'

/**
 * The clock by which things are removed for their age. Where the clock of the machine jumps ahead, by a bad synchronisation or after a
 * virtual machine was stopped, all that is kept would be too old at once. So this one goes on from the last time that it knows, as it would
 * have without the jump, and takes the new time over only when that has lasted. What is removed late harms nobody.
 */
export interface AgeClock {
  /** Epoch milliseconds; never ahead of the machine's. Asked again before each removal. */
  now(): Promise<number>
}

/** By how much time may have gone on, in milliseconds, while nobody looked: it is looked about once a minute. */
const mayGoOnMs = 3_600_000
/** A jump that has lasted for so long, while the service ran, was none: the service was off, or the clock was behind before. */
export const lastsMs = 12 * 3_600_000
/** What one look adds to that at most. */
const mostPerLookMs = 300_000

const lookName = 'age_clock'

/**
 * In one row for all processes, in epoch milliseconds: the time up to which the clock is known, when it was looked at, and for how long it has
 * been ahead by then; 0: it is not. Where clocks of machines differ, the one that is behind counts. A process that has seen a time may
 * tell by its monotonic clock which one must have come since (`$2`): then it does not matter that nobody looked, as while the database was away.
 */
const look = statement(`
  insert into settings as s (name, value)
  select '${lookName}', at || ' ' || at || ' 0'
  from (select least($1::bigint, ${nowMs}) as at) n
  on conflict (name) do update
  set value = (
    select case
        when at <= known + ${mayGoOnMs} or ahead >= ${lastsMs} then at || ' ' || at || ' 0'
        else known || ' ' || at || ' ' || ahead
      end
    from (
      select split_part(excluded.value, ' ', 1)::bigint as at,
        greatest(split_part(s.value, ' ', 1)::bigint, $2::bigint) as known,
        split_part(s.value, ' ', 2)::bigint as looked_at,
        split_part(s.value, ' ', 3)::bigint as was_ahead
    ) l
    cross join lateral (
      select was_ahead + least(greatest(at - looked_at, 1), ${mostPerLookMs}) as ahead
    ) a
  )
  returning value`)

/** @param now the machine's clock @param monotonic milliseconds that go by, whatever is set */
export function createAgeClock(
  database: Pick<Database, 'query'>,
  log: Log,
  now: () => number = Date.now,
  monotonic = () => performance.now(),
): AgeClock {
  let known: { readonly time: number; readonly seenAt: number } | undefined
  let wasAhead = false

  const report = (isAhead: boolean, time: number) => {
    if (isAhead === wasAhead) return
    wasAhead = isAhead
    if (!isAhead) return log.info('the clock can be relied on again: what is too old is removed again')
    log.warn(
      { clock: new Date(now()).toISOString(), lastKnown: new Date(time).toISOString() },
      `the clock is far ahead of the time at which it was last looked at: it was set, or the service was off; nothing more is removed for its age until it is right again, or the service has run for ${lastsMs / 3_600_000} hours with it`,
    )
  }
  return {
    async now() {
      const seenAt = monotonic()
      const since = known === undefined ? 0 : Math.floor(known.time + seenAt - known.seenAt)
      const [row] = await database.query<{ value: string }>(look, [Math.floor(now()), since])
      const [time = 0, , ahead = 0] = (row?.value ?? '').split(' ').map(Number)
      known = { time, seenAt }
      report(ahead > 0, time)
      return time
    },
  }
}
