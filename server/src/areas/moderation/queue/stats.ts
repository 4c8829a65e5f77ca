import { type AnswerOf, badRequest, type getModerationStats, type QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import { hitsOfMessage } from '../../../chat/usage/rule-counts.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'

const daysByDefault = 30
const mostDays = 366

type Stats = AnswerOf<typeof getModerationStats>['data']

/** Of an app, in epoch seconds. */
interface Period {
  readonly appId: number
  readonly from: number
  readonly to: number
}

/** By `moderation_decisions_by_time`. A message counts once for each rule, however many of its conditions it met. */
const countRules = ({ appId, from, to }: Period) => sql<Stats['rules'][number]>`
  select d.rule_id as "ruleId", sum(d.hits)::bigint as hits, sum(d.shadow)::bigint as shadow,
    count(*) filter (where d.blocks) as blocked, count(*) filter (where d.flags) as flagged,
    count(*) filter (where (d.blocks or d.flags) and r.decision in ('disapproved', 'rejected')) as upheld,
    count(*) filter (where (d.blocks or d.flags) and r.decision = 'approved') as overturned
  from (
    select app_id, rule_id, message, ${sql.raw(hitsOfMessage)}
    from moderation_decisions
    where app_id = ${appKey(appId)}
    and at between ${from} and ${to}
    and rule_id is not null
    group by app_id, rule_id, message
  ) d
  left join moderation_reviews r on r.app_id = d.app_id and r.message = d.message and r.settled
  group by d.rule_id
  order by d.rule_id`

const countFlags = ({ appId, from, to }: Period) => sql<{ flags: number }>`
  select count(*) as flags
  from moderation_flags
  where app_id = ${appKey(appId)}
  and flagged_at between ${from} and ${to}`

const countReviews = ({ appId, from, to }: Period) => sql<{ decision: keyof Stats['reviews']; count: number }>`
  select decision, count(*) as count
  from moderation_reviews
  where app_id = ${appKey(appId)}
  and reviewed_at between ${from} and ${to}
  and settled
  group by decision`

/** What rules decided in a time, and what reviewers made of it. @throws 400 where the time is longer than a year, or ends before it begins */
export async function readStats(
  on: Queryable,
  appId: number,
  query: QueryOf<typeof getModerationStats>,
): Promise<Stats> {
  const to = query.to ?? Math.floor(Date.now() / 1000)
  const from = query.from ?? Math.max(0, to - daysByDefault * 86_400)
  if (from > to) throw badRequest([{ path: 'query/to', message: 'must not be before from' }])
  if (to - from > mostDays * 86_400) {
    throw badRequest([{ path: 'query/from', message: `must be at most ${mostDays} days before to` }])
  }
  const period = { appId, from, to }
  const [rules, [flagged], reviews] = await Promise.all([
    on.run(countRules(period)),
    on.run(countFlags(period)),
    on.run(countReviews(period)),
  ])
  const none = { approved: 0, disapproved: 0, rejected: 0, reviewed: 0 }
  const counted = Object.fromEntries(reviews.map(({ decision, count }) => [decision, count]))
  return { from, to, rules, flags: flagged?.flags ?? 0, reviews: { ...none, ...counted } }
}
