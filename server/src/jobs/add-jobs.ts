/** A sort of job: there is one at a time for each key. All but the task are SQL over the columns of the rows it is added for. */
export interface JobSpec {
  readonly task: string
  readonly payload: string
  readonly key: string
  /** Epoch milliseconds; undefined: at once. */
  readonly runAt?: string
}

const mostAttempts = 20

/**
 * SQL that adds a job of graphile-worker for each row of a table expression, and counts those that were added (`jobs`) and that
 * were to be (`wanted`). There are less where a worker takes a job of the same key at this very moment: it is neither
 * changed nor joined by another. Whoever adds again sees that it runs, and gets one that follows.
 */
export function addJobsOf({ task, payload, key, runAt }: JobSpec): (from: string) => string {
  const jobSpec = `(
      '${task}',
      ${payload},
      null,
      ${runAt === undefined ? 'null' : `to_timestamp(${runAt} / 1000.0)`},
      ${mostAttempts},
      ${key},
      null,
      null
    )::graphile_worker.job_spec`
  return (from) => `
  select count(added.id) as jobs, coalesce(max(cardinality(j.specs)), 0) as wanted
  from (select array_agg(${jobSpec}) as specs from ${from}) j
  left join lateral graphile_worker.add_jobs(j.specs) added on true
  where j.specs is not null`
}
