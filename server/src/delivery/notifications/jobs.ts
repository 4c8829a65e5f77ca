import { addJobsOf } from '../../jobs/add-jobs.ts'

/** The job that plans the notifications of one app, and the one that sends by one provider. */
export const planTask = 'plan_notifications'
export const sendTask = 'send_notifications'

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
