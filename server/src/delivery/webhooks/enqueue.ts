import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { nowMs } from './due.ts'

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

/**
 * Everything that events of a stretch of the log mean for webhooks. Whoever delivers to a webhook at the moment sees that
 * `asked` has risen before he stops; for the others a job is added.
 */
const enqueue = statement(`
  with due as (
    insert into webhook_deliveries (app_id, webhook, id, trigger, conversation, created_at, due_at)
    select e.app_id, w.key, e.id, t.trigger, e.conversation, e.created_at, ${nowMs}
    from events e
    join webhook_triggers t on t.app_id = e.app_id and t.event = e.trigger
    join webhooks w on w.app_id = t.app_id and w.id = t.webhook_id
    where e.id > $1
    and e.id <= $2
    and w.enabled
    on conflict do nothing
    returning app_id, webhook
  ),
  asked as (
    update webhook_states s
    set asked = s.asked + 1
    from (select distinct app_id, webhook from due) d
    where s.app_id = d.app_id
    and s.webhook = d.webhook
    returning s.app_id, s.webhook, s.leased_until, greatest(s.paused_until, ${nowMs}) as run_at
  )
  ${addJobs(`asked where leased_until < ${nowMs}`)}`)

/** Makes deliveries of the events with `from < id <= to`, in the transaction that declares them settled. */
export async function enqueueDeliveries(tx: Transaction, from: number, to: number): Promise<void> {
  await tx.query(enqueue, [from, to])
}

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
