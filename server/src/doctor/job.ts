import { doctorTask } from '../areas/operators/index.ts'
import type { JobRunner } from '../jobs/runner.ts'
import type { Log } from '../log.ts'
import { isConnectionFailure } from '../store/connection.ts'
import type { Database, Transaction } from '../store/database.ts'
import { ofService, ReadAbandonedError } from '../store/reader.ts'
import { compileFragment, type Fragment, statement } from '../store/statement.ts'
import { checks } from './checks.ts'
import { type Drift, findDriftOf } from './drift.ts'

/** Runs the doctor as a job, when an operator asks for it. */
export interface DoctorJob {
  /** Ends the check under way; another process goes on with it. */
  stop(): void
}

const begin = statement(`
  update doctor_runs
  set checks = $2
  where run_id = $1
  and status = 'running'
  returning checked`)

const enter = statement(`
  update doctor_runs
  set checked = $2, current = $3
  where run_id = $1
  and status = 'running'
  returning run_id`)

const isRunning = statement(`
  select run_id
  from doctor_runs
  where run_id = $1
  and status = 'running'`)

const finish = statement(`
  update doctor_runs
  set status = $2, current = null, error = $3, finished_at = $4
  where run_id = $1
  and status = 'running'`)

const writeFinding = statement(`
  insert into doctor_findings (run_id, check_name, meaning, count)
  values ($1, $2, $3, $4)
  on conflict (run_id, check_name) do update
  set count = excluded.count`)

const writeExample = statement(`
  insert into doctor_examples (run_id, check_name, place, app_id, subject, stored, expected)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (run_id, check_name, place) do nothing`)

/** How often it is looked whether an operator has stopped it. */
const lookMs = 1_000

export function createDoctorJob({
  database,
  jobs,
  log,
}: {
  readonly database: Database
  readonly jobs: JobRunner
  readonly log: Log
}): DoctorJob {
  const reads = database.openReads({ name: 'doctor', atOnce: 1, timeoutMs: 0 })
  const stopping = new AbortController()

  /** What a check finds; undefined where it was stopped meanwhile. */
  const look = async (run: number, check: (typeof checks)[number]): Promise<{ drift?: Drift } | undefined> => {
    const stopped = new AbortController()
    const timer = setInterval(async () => {
      const rows = await database.query(isRunning, [run]).catch(() => undefined)
      if (rows?.length === 0) stopped.abort()
    }, lookMs)
    const reader = { ...ofService, signal: AbortSignal.any([stopping.signal, stopped.signal]) }
    const on = {
      run: async <Row>(fragment: Fragment<Row>) => (await reads.run(compileFragment(fragment), reader)).rows as Row[],
    }
    try {
      const drift = await findDriftOf(on, check, null)
      return drift === undefined ? {} : { drift }
    } catch (error) {
      if (stopped.signal.aborted && error instanceof ReadAbandonedError) return undefined
      throw error
    } finally {
      clearInterval(timer)
    }
  }

  const examine = async (run: number): Promise<void> => {
    const [begun] = await database.query<{ checked: number }>(begin, [run, checks.length])
    if (begun === undefined) return
    for (const [index, check] of checks.entries()) {
      if (index < begun.checked) continue
      if ((await database.query(enter, [run, index, check.name])).length === 0) return
      const found = await look(run, check)
      if (found === undefined) return
      const { drift } = found
      if (drift !== undefined) await database.transaction((tx) => storeDrift(tx, run, drift))
      await database.query(enter, [run, index + 1, check.name])
    }
    await database.query(finish, [run, 'done', null, nowSeconds()])
  }

  jobs.register(doctorTask, async (payload) => {
    const { run } = payload as { readonly run: number }
    try {
      await examine(run)
    } catch (err) {
      // The job fails, and is done again: here, or by another process.
      if (stopping.signal.aborted || isConnectionFailure(err)) throw err
      log.error({ err }, 'a run of the doctor failed')
      await database.query(finish, [run, 'failed', 'The service could not go on; its log says why.', nowSeconds()])
    }
  })
  return { stop: () => stopping.abort() }
}

async function storeDrift(tx: Transaction, run: number, { check, meaning, count, examples }: Drift): Promise<void> {
  await tx.query(writeFinding, [run, check, meaning, count])
  for (const [place, { subject, stored, expected }] of examples.entries()) {
    const [, app, rest] = /^(\d+)\/(.*)$/s.exec(subject) ?? []
    const of = app === undefined ? [null, subject] : [Number(app), rest]
    await tx.query(writeExample, [run, check, place, ...of, stored, expected])
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
