import { addJobsOf } from '../../jobs/add-jobs.ts'
import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** The job that delivers to one webhook. There is one for each, whatever the number of deliveries. */
export const deliverTask = 'deliver_webhook'

/** Adds jobs for the rows `(app_id, webhook, run_at)` of a table expression, and counts them. */
export const addJobs = addJobsOf({
  task: deliverTask,
  payload: `json_build_object('appId', app_id, 'webhook', webhook)`,
  key: `'webhook:' || app_id || ':' || webhook`,
  runAt: 'run_at',
})

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
