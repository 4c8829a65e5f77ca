import type { AppSettings } from '@parley/contract'
import { isLeaseOver } from '../../store/clock.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { addPlanJobs, planLeaseMs } from './jobs.ts'
import { plannedTriggers, takeBackTrigger } from './triggers.ts'

const triggers = plannedTriggers.map((trigger) => `'${trigger}'`).join(', ')

/** Events `e` that mean something for notifications. @param takesBack whether apps take back what was read unless they say */
const isPlanned = (takesBack: string) => `(
      e.trigger in (${triggers})
      or (
        e.trigger = '${takeBackTrigger}'
        and (
          select coalesce((x.settings ->> 'pushTakeBackRead')::boolean, ${takesBack})
          from apps x
          where x.app_id = e.app_id
        )
      )
    )`

type Defaults = Pick<AppSettings, 'pushTakeBackRead'>

/** Whoever plans for an app at the moment only hears that there is something new, and looks for it before they let go. */
const enqueue = statement(`
  with asked as (
    insert into notification_planners as s (app_id, asked)
    select distinct e.app_id, 1
    from events e
    where e.id > $1
    and e.id <= $2
    and ${isPlanned('$3::boolean')}
    and exists (
      select
      from notification_providers p
      where p.app_id = e.app_id
      and p.enabled
    )
    order by 1
    on conflict (app_id) do update
    set asked = s.asked + 1
    returning s.app_id, s.leased_until
  ),
  added as (
    ${addPlanJobs(`asked where ${isLeaseOver('leased_until', planLeaseMs)}`)}
  )
  select array(select app_id from asked) as apps, coalesce(a.jobs, 0) as jobs, coalesce(a.wanted, 0) as wanted
  from (select 1) one
  left join added a on true`)

const mostTries = 5

interface Enqueued {
  readonly apps: readonly number[]
  readonly jobs: number
  readonly wanted: number
}

/**
 * Has somebody plan what events with `from < id <= to` mean for notifications, in the transaction that moves the horizon past them.
 * @returns the apps that they are of
 */
export async function enqueuePlans(
  tx: Transaction,
  from: number,
  to: number,
  defaults: Defaults,
): Promise<readonly number[]> {
  for (let tries = 1; tries <= mostTries; tries++) {
    const [added] = await tx.query<Enqueued>(enqueue, [from, to, defaults.pushTakeBackRead])
    if (added === undefined) return []
    if (added.jobs >= added.wanted) return added.apps
  }
  throw new Error('jobs of planning are taken as fast as they are added')
}

const rescue = statement(
  addPlanJobs(`(
    select p.app_id
    from notification_plans p
    join apps a on a.app_id = p.app_id
    cross join event_horizon h
    where a.paused_at is null
    and not exists (
      select
      from notification_planners s
      where s.app_id = p.app_id
      and not ${isLeaseOver('s.leased_until', planLeaseMs)}
    )
    and exists (
      select
      from notification_providers n
      where n.app_id = p.app_id
      and n.enabled
    )
    and exists (
      select
      from events e
      where e.app_id = p.app_id
      and e.id >= p.event + case when p.uid = '' then 1 else 0 end
      and e.id <= h.id
      and ${isPlanned('$1::boolean')}
      and e.created_at < extract(epoch from clock_timestamp()) - 2
    )
  ) a`),
)

/**
 * Finds what has been below the horizon for a while and nobody plans: a process was killed, or a job was lost. A job that is added just as
 * the worker takes the one before it is neither added nor seen by that one.
 */
export async function rescuePlans(on: Queryable, defaults: Defaults): Promise<void> {
  await on.query(rescue, [defaults.pushTakeBackRead])
}
