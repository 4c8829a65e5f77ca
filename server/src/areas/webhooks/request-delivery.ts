import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** The job that delivers to one webhook. There is one for each, whatever the number of deliveries. */
export const deliverTask = 'deliver_webhook'

/** A `job_spec` of graphile-worker out of the columns app_id, webhook and run_at (epoch milliseconds). */
const jobSpec = `(
      '${deliverTask}',
      json_build_object('appId', app_id, 'webhook', webhook),
      null,
      to_timestamp(run_at / 1000.0),
      20,
      'webhook:' || app_id || ':' || webhook,
      null,
      null
    )::graphile_worker.job_spec`

/** Adds jobs for the rows `(app_id, webhook, run_at)` of a table expression, and counts them. */
export const addJobs = (from: string) => `
  select count(*) as jobs
  from (select array_agg(${jobSpec}) as specs from ${from}) j
  cross join lateral graphile_worker.add_jobs(j.specs)
  where j.specs is not null`

const ask = statement(`
  with asked as (
    update webhook_states
    set asked = asked + 1
    where app_id = $1
    and webhook = $2
    returning app_id, webhook, leased_until, greatest(paused_until, ${nowMs}) as run_at
  )
  ${addJobs(`asked where leased_until < ${nowMs}`)}`)

/** Something of a webhook has become due: whoever delivers to it goes on, or somebody begins. */
export async function askForDelivery(on: Queryable, appId: number, webhook: number): Promise<void> {
  await on.query(ask, [appId, webhook])
}
