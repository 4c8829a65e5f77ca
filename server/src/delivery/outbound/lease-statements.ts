import { nowMs } from '../../store/clock.ts'
import { type Statement, statement } from '../../store/statement.ts'
import type { Endpoints } from './endpoints.ts'

/** Long enough that a busy machine or database renews a lease a few times before no attempt may begin any more. */
const spareMs = 6_000

/**
 * Who delivers to an endpoint holds it for this long, and renews it in time; a killed process's are free thereafter. It is
 * short so that others go on soon.
 */
export function leaseMsOf({ attemptMs }: Endpoints): number {
  return attemptMs + spareMs
}

/** The statements of a lease. All take the app and the endpoint first, and those of a holder take them third. */
export interface LeaseStatements {
  readonly take: Statement
  readonly renew: Statement
  /** What is to be known of the endpoint, and how often it was asked for deliveries. Nothing where its app is paused. */
  readonly look: Statement
  /** Nothing is due: lets go, unless something has become due meanwhile, and has a job begin at the next due time. */
  readonly release: Statement
  /** Lets go at once; a job goes on when the pause is over, unless the endpoint is disabled. */
  readonly interrupt: Statement
  /** Has a job begin when the pause is over. */
  readonly wait: Statement
  readonly writeHealth: Statement
}

export function leaseStatements(endpoints: Endpoints): LeaseStatements {
  const { table, as, columns, states, deliveries, name, scheduled, addJobs } = endpoints
  const leaseMs = leaseMsOf(endpoints)
  return {
    take: statement(`
  update ${states}
  set leased_by = $3,
    leased_until = ${nowMs} + ${leaseMs}
  where app_id = $1
  and ${name} = $2
  and leased_until < ${nowMs}
  and paused_until <= ${nowMs}
  and exists (
    select
    from apps
    where app_id = $1
    and paused_at is null
  )
  returning failures, failing_since as "failingSince"`),

    renew: statement(`
  update ${states}
  set leased_until = ${nowMs} + ${leaseMs}
  where app_id = $1
  and ${name} = $2
  and leased_by = $3
  and leased_until > ${nowMs}
  returning ${name}`),

    look: statement(`
  select s.asked, ${columns}
  from ${states} s
  join ${table} ${as} on ${as}.app_id = s.app_id and ${as}.key = s.${name}
  join apps a on a.app_id = s.app_id
  where a.paused_at is null
  and s.app_id = $1
  and s.${name} = $2
  and s.leased_by = $3
  and s.leased_until > ${nowMs}`),

    release: statement(`
  with released as (
    update ${states}
    set leased_by = null,
      leased_until = 0
    where app_id = $1
    and ${name} = $2
    and leased_by = $3
    and asked = $4
    returning app_id, ${name}
  ),
  added as (
    ${addJobs(`(
      select r.app_id, r.${name}, (
        select min(due_at)
        from ${deliveries} d
        where d.app_id = r.app_id
        and d.${name} = r.${name}
        and ${scheduled}
      ) as run_at
      from released r
    ) r
    where run_at is not null`)}
  )
  select (select count(*) from released) as released, (select jobs from added) as jobs`),

    interrupt: statement(`
  with released as (
    update ${states}
    set leased_by = null,
      leased_until = 0,
      paused_until = case when $4::bigint > 0 then ${nowMs} + $4::bigint else 0 end
    where app_id = $1
    and ${name} = $2
    and leased_by = $3
    returning app_id, ${name}, greatest(paused_until, ${nowMs}) as run_at
  )
  ${addJobs(`(
    select r.app_id, r.${name}, r.run_at
    from released r
    join ${table} e on e.app_id = r.app_id and e.key = r.${name}
    where e.enabled
  ) r`)}`),

    wait: statement(
      addJobs(`(
    select app_id, ${name}, paused_until as run_at
    from ${states}
    where app_id = $1
    and ${name} = $2
    and paused_until > ${nowMs}
    and leased_until < ${nowMs}
  ) s`),
    ),

    writeHealth: statement(`
  update ${states}
  set failures = $3,
    failing_since = $4
  where app_id = $1
  and ${name} = $2
  and (failures, coalesce(failing_since, 0)) is distinct from ($3::integer, coalesce($4::bigint, 0))`),
  }
}
