import { type Channel, statsBucketMs } from '@parley/contract'
import { socketsBySecond } from '../../chat/usage/add-up.ts'
import { dayMs, minuteMs, secondMs } from '../../chat/usage/clock.ts'
import { selectRulesByDay } from '../../chat/usage/rule-counts.ts'
import { nowMs } from '../../store/clock.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { TimeRange } from './range.ts'

/** A stretch of whole days, five minutes and minutes, by their numbers; both ends included. */
const numbersOf = ({ fromDate, toDate }: TimeRange, unitMs: number) => [
  Math.floor(fromDate / unitMs),
  Math.floor(toDate / unitMs),
]

const countActive = statement(`
  select coalesce(sum(bit_count(bits)), 0)::int as active
  from (
    select bit_or(bits) as bits
    from active_user_bits
    where app_id = $1
    and day between $2 and $3
    group by chunk
  ) c`)

/** Distinct users who were active on the days that a range touches. */
export async function countActiveUsers(database: Database, appId: number, range: TimeRange): Promise<number> {
  const [row] = await database.query<{ active: number }>(countActive, [appId, ...numbersOf(range, dayMs)])
  return row?.active ?? 0
}

/** The most sockets that were open at once, and the second that it was, in epoch milliseconds. */
export interface Peak {
  readonly open: number
  readonly at: number
}

/** What is added up, and the last minutes, which are not yet. */
const peaks = `
  select peak as open, second
  from usage_peaks
  where app_id = $1
  and bucket between $2 and $3
  union all
  select open, second
  from (${socketsBySecond('(select * from usage_sockets where app_id = $1 and minute between $4 and $5)')}) s
  where open > 0`

const selectPeak = statement(`
  select open, second * ${secondMs} as at
  from (${peaks}) p
  order by open desc, second
  limit 1`)

const selectPeaks = statement(`
  select distinct on (second / ${dayMs / secondMs}) second / ${dayMs / secondMs} as day, open, second * ${secondMs} as at
  from (${peaks}) p
  order by second / ${dayMs / secondMs}, open desc, second`)

const stretchesOf = (range: TimeRange) => [...numbersOf(range, statsBucketMs), ...numbersOf(range, minuteMs)]

/** The greatest peak of the stretches of five minutes that a range touches; undefined where no socket was open. */
export async function readPeak(database: Database, appId: number, range: TimeRange): Promise<Peak | undefined> {
  const [peak] = await database.query<Peak>(selectPeak, [appId, ...stretchesOf(range)])
  return peak
}

const countActiveByDay = statement(`
  select day, sum(bit_count(bits))::int as active
  from active_user_bits
  where app_id = $1
  and day between $2 and $3
  group by day`)

const countMessagesByDay = statement(`
  select bucket / ${dayMs / statsBucketMs} as day, sum(sent)::bigint as sent, sum(delivered)::bigint as delivered,
    sum(read)::bigint as read
  from usage_messages
  where app_id = $1
  and bucket between $2 and $3
  group by bucket / ${dayMs / statsBucketMs}`)

const countNotificationsByDay = statement(`
  select day, channel, outcome, count
  from usage_notifications
  where app_id = $1
  and day between $2 and $3`)

/** Notifications that came to an end, by channel and by what became of them. */
export type NotificationCounts = Readonly<Record<Channel, Readonly<Record<Outcome, number>>>>

type Outcome = 'delivered' | 'failed' | 'stopped'

/** The figures of one day. */
export interface Day {
  /** Number of the day since the epoch. */
  readonly day: number
  readonly active: number
  readonly peak: Peak | undefined
  readonly sent: number
  readonly delivered: number
  readonly read: number
  readonly notifications: NotificationCounts
  readonly rules: RuleCounts[]
}

/** What a rule of moderation found, and what came of it. */
export interface RuleCounts {
  readonly ruleId: string
  readonly hits: number
  readonly shadow: number
  readonly blocked: number
  readonly flagged: number
}

/** Every day that a range touches, also those on which nothing happened. */
export async function readDays(database: Database, appId: number, range: TimeRange): Promise<Day[]> {
  const [first, last] = numbersOf(range, dayMs) as [number, number]
  const whole = { fromDate: first * dayMs, toDate: (last + 1) * dayMs - 1 }
  const [active, messages, peaked, notifications, found] = await Promise.all([
    database.query<{ day: number; active: number }>(countActiveByDay, [appId, first, last]),
    database.query<Omit<Day, 'active' | 'peak' | 'notifications' | 'rules'>>(countMessagesByDay, [
      appId,
      ...numbersOf(whole, statsBucketMs),
    ]),
    database.query<Peak & { day: number }>(selectPeaks, [appId, ...stretchesOf(whole)]),
    database.query<NotificationCount>(countNotificationsByDay, [appId, first, last]),
    database.query<RuleCounts & { day: number }>(selectRulesByDay, [appId, first, last]),
  ])
  const activeOn = new Map(active.map((row) => [row.day, row.active]))
  const messagesOn = new Map(messages.map((row) => [row.day, row]))
  const peakOn = new Map(peaked.map(({ day, open, at }) => [day, { open, at }]))
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const day = first + i
    const { sent = 0, delivered = 0, read = 0 } = messagesOn.get(day) ?? {}
    const ended = byChannel(notifications.filter((row) => row.day === day))
    const rules = found.flatMap(({ day: on, ...counts }) => (on === day ? counts : []))
    const counted = { active: activeOn.get(day) ?? 0, peak: peakOn.get(day), sent, delivered, read }
    return { day, ...counted, notifications: ended, rules }
  })
}

interface NotificationCount {
  readonly day: number
  readonly channel: Channel
  readonly outcome: Outcome
  readonly count: number
}

function byChannel(rows: readonly NotificationCount[]): NotificationCounts {
  const none = { delivered: 0, failed: 0, stopped: 0 }
  const counts = { push: { ...none }, email: { ...none }, sms: { ...none } }
  for (const { channel, outcome, count } of rows) counts[channel][outcome] = count
  return counts
}

const selectLastHour = statement(`
  with present as (
    select ${nowMs} / ${statsBucketMs} as bucket
  )
  select b.bucket, coalesce(sum(m.sent), 0)::bigint as sent, coalesce(sum(m.delivered), 0)::bigint as delivered,
    coalesce(sum(m.read), 0)::bigint as read
  from present p
  cross join generate_series(p.bucket - $2::int + 1, p.bucket) as b(bucket)
  left join usage_messages m on m.app_id = $1 and m.bucket = b.bucket
  group by b.bucket
  order by b.bucket`)

/** What was counted in five minutes. */
export interface Bucket {
  /** Number of the five minutes since the epoch. */
  readonly bucket: number
  readonly sent: number
  readonly delivered: number
  readonly read: number
}

/** The last five minutes of the database's clock, the present ones among them, oldest first. */
export async function readLastBuckets(
  database: Database,
  appId: number,
  count: number,
): Promise<[Bucket, ...Bucket[]]> {
  return (await database.query<Bucket>(selectLastHour, [appId, count])) as [Bucket, ...Bucket[]]
}
