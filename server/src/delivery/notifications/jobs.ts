import { addJobsOf } from '../../jobs/add-jobs.ts'
import { nowMs } from '../../store/clock.ts'

/** The job that plans the notifications of one app, and the one that sends by one provider. */
export const planTask = 'plan_notifications'
export const sendTask = 'send_notifications'

/** Who plans for an app holds it for this long, and renews that: a killed process's are planned by others then. Two who plan at once do no harm. */
export const planLeaseMs = 6_000

/** Adds a job of planning for each row `(app_id)` of a table expression. */
export const addPlanJobs = addJobsOf({
  task: planTask,
  payload: `json_build_object('appId', app_id)`,
  key: `'plan:' || app_id`,
})

/** Adds a job of sending for each row `(app_id, provider, run_at)` of a table expression; times are epoch milliseconds. */
export const addSendJobs = addJobsOf({
  task: sendTask,
  payload: `json_build_object('appId', app_id, 'provider', provider)`,
  key: `'notify:' || app_id || ':' || provider`,
  runAt: 'run_at',
})

/**
 * Asks those who send by the providers of some rows `(app_id, provider)`, as a common table expression `asked` for `addJobsOfAsked`.
 * @param rows a table expression
 * @param runAt when, as SQL, epoch milliseconds
 */
export const askSenders = (rows: string, runAt = nowMs) => `
    update notification_senders s
    set asked = s.asked + 1
    from (select distinct app_id, provider from ${rows}) d
    where s.app_id = d.app_id
    and s.provider = d.provider
    returning s.app_id, s.provider, s.leased_until, s.paused_until, ${runAt} as run_at`

/** Whoever sends already needs no job, and who is left alone has one for when that is over. */
export const addJobsOfAsked = addSendJobs(`asked where leased_until < ${nowMs} and paused_until <= ${nowMs}`)
