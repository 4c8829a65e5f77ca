import type { Channel } from '../store/channel.ts'
import { statement } from '../store/statement.ts'

/** So many are looked at and deleted at once: nobody waits for them. */
const batchSize = 1000

/**
 * Deletes those of the next ones that are due, by the index `events_by_id`. Ids say which came first: what is from the future, and came
 * before one that is due, was stored while a clock was ahead, and is as old.
 */
const deleteBatch = statement(`
  with next as materialized (
    select app_id, id, created_at
    from events
    where id > $1
    order by id
    limit ${batchSize}
  ),
  due as materialized (
    select max(id) as until
    from next
    where created_at < $2
  ),
  gone as (
    delete from events e
    using next n, due d
    where e.app_id = n.app_id
    and e.id = n.id
    and (n.created_at < $2 or n.created_at > $3 and n.id < greatest($4::bigint, d.until))
    returning e.app_id, e.id
  ),
  remembered as (
    update apps a
    set events_gone_until = greatest(a.events_gone_until, g.id)
    from (select app_id, max(id) as id from gone group by app_id) g
    where a.app_id = g.app_id
  )
  select (select count(*) from gone) as deleted, (select until from due) as "dueUntil", max(id) as "lastId",
    count(*) filter (where created_at > $3) as ahead
  from next`)

interface Batch {
  readonly deleted: number
  readonly dueUntil: number | null
  readonly lastId: number | null
  /** From the future, deleted or not. */
  readonly ahead: number
}

/** Before every id. */
const start = Number.MIN_SAFE_INTEGER

/**
 * Deletes events that are older than `retention` seconds, some at each call, the oldest first; each app remembers up to which id its own
 * are gone. Those that a clock stored that was ahead for a moment hold up nobody: it goes on behind them, and once something there is
 * due, so are they.
 * @returns to be called with epoch milliseconds by the clock of removals; whether there may be more of them
 */
export function createRetention(channel: Channel, retention: number): (nowMs: number) => Promise<boolean> {
  let passedUntil = start
  let dueUntil = start
  return async (nowMs) => {
    const now = Math.floor(nowMs / 1000)
    const { rows } = await channel.query({ ...deleteBatch, values: [passedUntil, now - retention, now, dueUntil] })
    const batch = rows[0] as Batch
    if (batch.dueUntil !== null) {
      dueUntil = Math.max(dueUntil, batch.dueUntil)
      passedUntil = start
      return true
    }
    if (batch.deleted > 0) return true
    if (batch.lastId === null || batch.ahead < batchSize) return false
    passedUntil = batch.lastId
    return true
  }
}
