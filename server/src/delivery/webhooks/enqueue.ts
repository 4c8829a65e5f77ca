import { addJobs } from '../../areas/webhooks/index.ts'
import { nowMs } from '../../store/clock.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/**
 * Everything that events of a stretch of the log mean for webhooks. Whoever delivers to a webhook at the moment sees that
 * `asked` has risen before it stops; for the others a job is added. A webhook that is left alone has one already, for when its
 * pause is over: it would be replaced with each step of the log, and every job runner woken.
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
    returning s.app_id, s.webhook, s.leased_until, s.paused_until, ${nowMs} as run_at
  )
  ${addJobs(`asked where leased_until < ${nowMs} and paused_until <= ${nowMs}`)}`)

/** Makes deliveries of the events with `from < id <= to`, in the transaction that moves the horizon past them. */
export async function enqueueDeliveries(tx: Transaction, from: number, to: number): Promise<void> {
  await tx.query(enqueue, [from, to])
}
