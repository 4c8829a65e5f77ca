import pg from 'pg'
import type { Log } from '../log.ts'
import { type ConnectionSettings, clientSettings, cutConnection, isConnectionFailure } from '../store/connection.ts'
import { connectTimeoutMs } from './worker.ts'

/**
 * Frees the jobs of processes that are gone. By itself the worker takes hours to; here each process holds an advisory lock
 * under the name by which it locks jobs, which ends with its connection, and the others look who holds none.
 */
export interface PoolGuard {
  /** From now on this process locks jobs under this name. */
  hold(poolId: string): void
  start(): Promise<void>
  stop(): Promise<void>
}

const everyMs = 15_000
/** Any constant will do, as long as every version of the service uses the same: the first half of the locks' names. */
const lockSpace = 720_695_110

const holdLock = 'select pg_try_advisory_lock($1, hashtext($2))'

/** A lock that can be had is nobody's. Asking for it holds it until the end of the transaction, that is the statement. */
const freeJobs = `
  with holders as (
    select distinct locked_by
    from graphile_worker._private_jobs
    where locked_at not between now() - interval '15 seconds' and now() + interval '15 seconds'
    and locked_by is not null
    and locked_by <> $2
  ),
  gone as materialized (
    select locked_by
    from holders
    where pg_try_advisory_xact_lock($1, hashtext(locked_by))
  )
  select graphile_worker.force_unlock_workers(array(select locked_by from gone))
  from (select count(*) as workers from gone) g
  where workers > 0`

/**
 * What was added or tried while the clock was ahead would wait for the time that it showed. It begins now: a job that has nothing to do yet
 * adds itself for when it has. After a failure, the worker waits for some six hours at most.
 */
const hastenJobs = `
  update graphile_worker._private_jobs
  set run_at = now(),
    updated_at = now()
  where run_at > now() + interval '1 minute'
  and (updated_at > now() + interval '1 minute' or attempts > 0 and run_at > now() + interval '7 hours')
  and locked_at is null`

export function createPoolGuard(connection: ConnectionSettings, log: Log): PoolGuard {
  let connecting: Promise<pg.Client> | undefined
  let current: pg.Client | undefined
  let poolId: string | undefined
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  /** The connection that holds the lock; made again where it broke. */
  const connected = (): Promise<pg.Client> => {
    if (connecting !== undefined) return connecting
    const client = new pg.Client({
      ...clientSettings(connection, 'parley job guard'),
      connectionTimeoutMillis: connectTimeoutMs,
    })
    current = client
    const attempt = client.connect().then(
      () => client,
      (error) => {
        forget()
        cutConnection(client)
        throw error
      },
    )
    const forget = () => {
      if (connecting === attempt) connecting = undefined
    }
    client.on('error', forget)
    client.on('end', forget)
    connecting = attempt
    return attempt
  }
  /** Locks stack up on a connection, so those of before are let go. */
  const lock = async (client: pg.Client) => {
    await client.query('select pg_advisory_unlock_all()')
    await client.query(holdLock, [lockSpace, poolId])
  }
  const round = async () => {
    try {
      const client = await connected()
      if (poolId !== undefined) await client.query(holdLock, [lockSpace, poolId])
      await client.query(freeJobs, [lockSpace, poolId ?? ''])
      await client.query(hastenJobs)
    } catch (error) {
      if (!isConnectionFailure(error))
        log.error({ err: error }, 'could not release the jobs of processes that are gone')
    }
    if (!stopped) timer = setTimeout(() => void round(), everyMs).unref()
  }
  return {
    hold(id) {
      poolId = id
      // Failing here is made good by the next round, well before anybody takes the jobs for abandoned.
      void connected()
        .then(lock)
        .catch(() => {})
    },
    start: round,
    async stop() {
      stopped = true
      clearTimeout(timer)
      // Nothing is under way on it that matters, and a database that hangs would not let go.
      if (current !== undefined) cutConnection(current)
    },
  }
}
