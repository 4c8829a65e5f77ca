import type { AppSettings } from '@parley/contract'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { addPlanJobs } from './jobs.ts'
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

const enqueue = statement(
  addPlanJobs(`(
    select distinct e.app_id
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
  ) a`),
)

const mostTries = 5

/** Has somebody plan what events with `from < id <= to` mean for notifications, in the transaction that moves the horizon past them. */
export async function enqueuePlans(tx: Transaction, from: number, to: number, defaults: Defaults): Promise<void> {
  for (let tries = 1; tries <= mostTries; tries++) {
    const [added] = await tx.query<{ jobs: number; wanted: number }>(enqueue, [from, to, defaults.pushTakeBackRead])
    if (added === undefined || added.jobs >= added.wanted) return
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
