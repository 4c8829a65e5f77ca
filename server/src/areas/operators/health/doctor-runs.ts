import type { DoctorRunShown } from '@parley/contract'
import { deployment } from '../../../chat/audit/audit.ts'
import type { Context } from '../../../context.ts'
import { addJobsOf } from '../../../jobs/add-jobs.ts'
import type { Queryable, Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { AppNames, Operator } from '../accounts.ts'
import { doctorRuns } from '../errors.ts'

/** The job that runs the doctor. */
export const doctorTask = 'doctor'

const addJobs = addJobsOf({
  task: doctorTask,
  payload: `json_build_object('run', run_id)`,
  key: `'doctor:' || run_id`,
})

const forget = [
  "delete from doctor_runs where status <> 'running'",
  'delete from doctor_findings f where not exists (select from doctor_runs r where r.run_id = f.run_id)',
  'delete from doctor_examples e where not exists (select from doctor_runs r where r.run_id = e.run_id)',
].map(statement)

const write = statement(`
  insert into doctor_runs (status, checks, started_by, started_at)
  values ('running', 0, $1, $2)
  on conflict ((true)) where status = 'running' do nothing
  returning run_id as id`)

const queue = statement(addJobs('(select $1::integer as run_id) r'))

const resume = statement(addJobs(`doctor_runs where status = 'running'`))

/** Has a run gone on with whose job is lost: those of jobs are in no backup. */
export async function resumeDoctorRuns(on: Queryable): Promise<void> {
  await on.query(resume)
}

const select = statement(`
  select run_id as id, status, checked, checks, current, error, started_by as "startedBy", started_at as "startedAt",
    finished_at as "finishedAt"
  from doctor_runs
  order by run_id desc
  limit 1`)

const selectFindings = statement(`
  select check_name as check, meaning, count
  from doctor_findings
  where run_id = $1
  order by check_name`)

const selectExamples = statement(`
  select check_name as check, app_id as app, subject, stored, expected
  from doctor_examples
  where run_id = $1
  order by check_name, place`)

const stop = statement(`
  update doctor_runs
  set status = 'stopped', current = null, finished_at = $1
  where status = 'running'
  returning run_id as id`)

interface RunRow {
  readonly id: number
  readonly status: DoctorRunShown['status']
  readonly checked: number
  readonly checks: number
  readonly current: string | null
  readonly error: string | null
  readonly startedBy: number | null
  readonly startedAt: number
  readonly finishedAt: number | null
}

interface ExampleRow {
  readonly check: string
  readonly app: number | null
  readonly subject: string
  readonly stored: string | null
  readonly expected: string | null
}

/** Begins a run in the background; what the one before found is forgotten. @throws 409 `ERR_DOCTOR_RUNS` */
export async function beginDoctor(context: Context, { account }: Operator): Promise<DoctorRunShown> {
  return context.database.transaction(async (tx) => {
    for (const statementOf of forget) await tx.query(statementOf)
    const [made] = await tx.query<{ id: number }>(write, [account.id, Math.floor(Date.now() / 1000)])
    if (made === undefined) throw doctorRuns()
    await tx.query(queue, [made.id])
    await record(context, tx, 'doctor_started', made.id)
    return (await readDoctor(tx, new Map())) as DoctorRunShown
  })
}

/** Stops the run under way, if there is one; what it found stays. */
export async function endDoctor(context: Context): Promise<void> {
  await context.database.transaction(async (tx) => {
    const [stopped] = await tx.query<{ id: number }>(stop, [Math.floor(Date.now() / 1000)])
    if (stopped !== undefined) await record(context, tx, 'doctor_stopped', stopped.id)
  })
}

function record({ audit }: Context, tx: Transaction, action: 'doctor_started' | 'doctor_stopped', run: number) {
  return audit.record(tx, deployment, { action, type: 'doctor', target: String(run) })
}

/** The last run, with what it found so far; undefined before the first. */
export async function readDoctor(on: Queryable, names: AppNames): Promise<DoctorRunShown | undefined> {
  const [run] = await on.query<RunRow>(select)
  if (run === undefined) return undefined
  const findings = await on.query<{ check: string; meaning: string; count: number }>(selectFindings, [run.id])
  const examples = await on.query<ExampleRow>(selectExamples, [run.id])
  const { current, error, startedBy, finishedAt, ...rest } = run
  return {
    ...rest,
    id: String(run.id),
    ...(current !== null && { current }),
    findings: findings.map((finding) => ({
      ...finding,
      examples: examples.filter(({ check }) => check === finding.check).map((example) => showExample(example, names)),
    })),
    ...(error !== null && { error }),
    ...(startedBy !== null && { startedBy: String(startedBy) }),
    ...(finishedAt !== null && { finishedAt }),
  }
}

function showExample({ app, subject, stored, expected }: ExampleRow, names: AppNames) {
  const appId = app === null ? undefined : names.get(app)
  return { ...(appId !== undefined && { appId }), subject, stored, expected }
}
