import type { Channel } from '../store/channel.ts'
import { statement } from '../store/statement.ts'

/** In small batches, so that nobody waits for them; the oldest first, by the index `events_by_id`. */
const deleteBatch = statement(`
  with oldest as materialized (
    select app_id, id, created_at
    from events
    order by id
    limit 1000
  ),
  gone as (
    delete from events e
    using oldest o
    where e.app_id = o.app_id
    and e.id = o.id
    and o.created_at < $1
    returning e.app_id, e.id
  ),
  remembered as (
    update apps a
    set events_gone_until = greatest(a.events_gone_until, g.id)
    from (select app_id, max(id) as id from gone group by app_id) g
    where a.app_id = g.app_id
  )
  select count(*) as deleted
  from gone`)

/**
 * Deletes some of the events that are older than `retention` seconds; each app remembers up to which id its own are gone.
 * @returns whether there may be more of them
 */
export async function deleteOldEvents(channel: Channel, retention: number): Promise<boolean> {
  const before = Math.floor(Date.now() / 1000) - retention
  const { rows } = await channel.query({ ...deleteBatch, values: [before] })
  return (rows[0] as { deleted: number }).deleted > 0
}
