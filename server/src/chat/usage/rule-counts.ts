import { statement } from '../../store/statement.ts'
import { dayMs } from './clock.ts'

const daySeconds = dayMs / 1000

/** Columns of a group of decisions about one message by one rule: how many hits, and what came of them. */
export const hitsOfMessage = `count(*) as hits, count(*) filter (where mode = 'shadow') as shadow,
      bool_or(mode = 'on' and decision = 'disapproved' and actions && '{blockMessage,dropMessage}') as blocks,
      bool_or(mode = 'on' and decision <> 'disapproved' and 'flagMessage' = any(actions)) as flags`

/**
 * What rules found, by day: rows `app_id, day, rule_id, hits, shadow, blocked, flagged`. A message counts once a day for each rule
 * as blocked or flagged, however many of its conditions it met.
 * @param decisions rows of `moderation_decisions`
 */
export const rulesByDay = (decisions: string) => `
  select app_id, day, rule_id, sum(hits)::bigint as hits, sum(shadow)::bigint as shadow,
    count(*) filter (where blocks) as blocked, count(*) filter (where flags) as flagged
  from (
    select app_id, (at / ${daySeconds})::int as day, rule_id, ${hitsOfMessage}
    from ${decisions} d
    where rule_id is not null
    group by app_id, at / ${daySeconds}, rule_id, message
  ) m
  group by app_id, day, rule_id`

/**
 * Of the last days nothing is added up yet: processes write decisions by their own clocks. Several processes may do this at once;
 * what one of them has added up stays. By `moderation_decisions_by_time`.
 */
export const addUpRules = statement(`
  with present as materialized (
    select ($1::bigint / ${dayMs})::int - 2 as day
  ),
  behind as materialized (
    select a.app_id, coalesce(u.day + 1, 0)::bigint * ${daySeconds} as begins, (p.day + 1)::bigint * ${daySeconds} as ends,
      p.day as last
    from apps a
    cross join present p
    left join usage_rule_days u on u.app_id = a.app_id
    where coalesce(u.day, -1) < p.day
    and exists (
      select
      from moderation_decisions d
      where d.app_id = a.app_id
      and d.at >= coalesce(u.day + 1, 0)::bigint * ${daySeconds}
      and d.at < (p.day + 1)::bigint * ${daySeconds}
    )
  ),
  added as (
    insert into usage_rules (app_id, day, rule_id, hits, shadow, blocked, flagged)
    ${rulesByDay(`(
      select d.*
      from behind b
      join moderation_decisions d on d.app_id = b.app_id and d.at >= b.begins and d.at < b.ends
    )`)}
    order by app_id, day, rule_id
    on conflict do nothing
  )
  insert into usage_rule_days as u (app_id, day)
  select app_id, last
  from behind
  order by app_id
  on conflict (app_id) do update
  set day = greatest(u.day, excluded.day)`)

/** What rules of an app found on the days from `$2` to `$3`: what is added up, and what the log says of the days after that. */
export const selectRulesByDay = statement(`
  select day, rule_id as "ruleId", hits, shadow, blocked, flagged
  from (
    select app_id, day, rule_id, hits, shadow, blocked, flagged
    from usage_rules
    where app_id = $1
    and day between $2 and $3
    union all
    ${rulesByDay(`(
      select *
      from moderation_decisions
      where app_id = $1
      and at >= greatest($2::int, (select day + 1 from usage_rule_days where app_id = $1))::bigint * ${daySeconds}
      and at < ($3::int + 1)::bigint * ${daySeconds}
    )`)}
  ) r
  order by day, rule_id`)
