import { statsBucketMs } from '@parley/contract'
import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { dayMs, minuteMs } from './clock.ts'
import { addUpRules } from './rule-counts.ts'

const nobody = `'00000000-0000-0000-0000-000000000000'::uuid`
const bucketsInDay = dayMs / statsBucketMs
/** So long, five minutes are kept apart; then days are. */
const bucketDays = 40

/**
 * Counts of all processes in one row each, of what no process counts any more; of days long ago, one row for all. What is added up is
 * not read again: by the indexes `usage_messages_of_processes` and `usage_messages_of_stretches`.
 */
const addUpMessages = statement(`
  with present as materialized (
    select $1::bigint / ${statsBucketMs} as bucket
  ),
  old as (
    delete from usage_messages m
    where m.ctid = any(array(
      select ctid
      from usage_messages
      where process <> ${nobody}
      and bucket < (select bucket from present) - ${bucketsInDay}
      union
      select ctid
      from usage_messages
      where bucket % ${bucketsInDay} <> 0
      and bucket < (select bucket from present) - ${bucketDays * bucketsInDay}
    ))
    returning m.*
  )
  insert into usage_messages as m (app_id, bucket, process, sent, delivered, read)
  select o.app_id, b.bucket, ${nobody}, sum(o.sent), sum(o.delivered), sum(o.read)
  from old o
  cross join present p
  cross join lateral (
    select case
      when o.bucket < p.bucket - ${bucketDays * bucketsInDay} then o.bucket - o.bucket % ${bucketsInDay}
      else o.bucket
    end as bucket
  ) b
  group by o.app_id, b.bucket
  order by o.app_id, b.bucket
  on conflict (app_id, bucket, process) do update
  set sent = m.sent + excluded.sent,
    delivered = m.delivered + excluded.delivered,
    read = m.read + excluded.read`)

/** Sockets of all processes at each second, as SQL on rows `app_id, minute, counts`. */
export const socketsBySecond = (rows: string) => `
  select s.app_id, s.minute * 60 + c.place - 1 as second, sum(c.count)::int as open
  from ${rows} s
  cross join unnest(s.counts) with ordinality as c(count, place)
  group by s.app_id, s.minute, c.place`

/** A minute is over for all processes another one later. One that was held up for longer adds its own peak. */
const addUpSockets = statement(`
  with old as (
    delete from usage_sockets
    where minute < ${nowMs} / ${minuteMs} - 1
    returning app_id, minute, counts
  ),
  peaks as (
    select distinct on (app_id, second / ${statsBucketMs / 1000}) app_id, second / ${statsBucketMs / 1000} as bucket, open, second
    from (${socketsBySecond('old')}) s
    order by app_id, second / ${statsBucketMs / 1000}, open desc, second
  )
  insert into usage_peaks as p (app_id, bucket, peak, second)
  select app_id, bucket, open, second
  from peaks
  order by app_id, bucket
  on conflict (app_id, bucket) do update
  set peak = excluded.peak,
    second = excluded.second
  where excluded.peak > p.peak`)

/** Adds up what processes wrote, and what rules of moderation found. Any of them may, also several at once: what one has taken is not there for another. @param now epoch milliseconds, by which days are long ago */
export async function addUp(on: Queryable, now: number): Promise<void> {
  await on.query(addUpSockets)
  await on.query(addUpMessages, [now])
  await on.query(addUpRules, [now])
}
