import type { HealthCheck } from '@parley/contract'
import { sql } from 'kysely'
import { countHeld } from '../../../chat/held-by-restore.ts'
import { dueSince, type PastBackups } from '../../../config/backup.ts'
import type { Context } from '../../../context.ts'
import { readWaitingSince } from '../../../events/lag.ts'
import { isNotToCome, nowMs } from '../../../store/clock.ts'
import { statement } from '../../../store/statement.ts'
import { version } from '../../../version.ts'
import { lookAtApps } from './apps.ts'
import { found, judge, lengthOf, nowSeconds, sizeOf } from './judge.ts'

const startedAt = Math.floor((Date.now() - process.uptime() * 1000) / 1000)

const clockSkewMs = { warning: 2_000, failing: 30_000 }
const jobLagSeconds = { warning: 60, failing: 600 }
const eventLagSeconds = { warning: 10, failing: 60 }
const slowMs = 250
/** A backup of a large database takes hours. As the alert ParleyBackupOld has it. */
const lateBackupSeconds = 21_600
const nearlyAllConnections = 0.9
/** The disk counts as nearly full before uploads are refused. */
const roomTimes = 2

interface DatabaseRow {
  readonly now: number
  readonly version: string
  readonly bytes: number
  readonly connections: number
  readonly mostConnections: number
}

const selectDatabase = statement(`
  select ${nowMs} as now, current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
    (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
    current_setting('max_connections')::int as "mostConnections"`)

const selectBytes = statement('select coalesce(sum(bytes), 0)::bigint as bytes from media_usage')

interface JobsRow {
  readonly pending: number
  readonly oldestAt: number | null
  readonly givenUp: number
}

/** Those that are due, and those that failed too often. */
const countJobs = sql<JobsRow>`
  select count(*) filter (where is_due) as pending, min(run_at) filter (where is_due) as "oldestAt",
    count(*) filter (where not is_due) as "givenUp"
  from (
    select is_available as is_due, extract(epoch from run_at)::bigint as run_at
    from graphile_worker._private_jobs
    where is_available and run_at <= now()
    or attempts >= max_attempts and locked_at is null
    limit 10000
  ) j`

interface BackupsRow extends PastBackups {
  /** Of the last one that ended. */
  readonly lastAt: number | null
  readonly status: string | null
  readonly error: string | null
  readonly runningSince: number | null
}

const selectBackups = statement(`
  select max(started_at) filter (where status = 'done' and ${isNotToCome('started_at')}) as "succeededAt", min(started_at) as "firstAt",
    max(started_at) filter (where status = 'running') as "runningSince",
    (array_agg(started_at order by run_id desc) filter (where status <> 'running'))[1] as "lastAt",
    (array_agg(status order by run_id desc) filter (where status <> 'running'))[1] as status,
    (array_agg(error order by run_id desc) filter (where status <> 'running'))[1] as error
  from backup_runs`)

/** How the deployment does, as this process sees it. */
export async function readHealth(context: Context) {
  const { database, media } = context
  const askedAt = performance.now()
  const asked = Date.now()
  const [row] = await database.query<DatabaseRow>(selectDatabase)
  const answersInMs = Math.round((performance.now() - askedAt) * 10) / 10
  if (row === undefined) throw new Error('the database says nothing of itself')
  const [apps, [files], [jobs], waitingSince, room, held, [backups]] = await Promise.all([
    lookAtApps(database, null),
    database.query<{ bytes: number }>(selectBytes),
    database.run(countJobs),
    readWaitingSince(database),
    media.room(),
    countHeld(database),
    database.query<BackupsRow>(selectBackups),
  ])
  const { oldestAt, ...counts } = jobs ?? { pending: 0, oldestAt: null, givenUp: 0 }
  const { version: databaseVersion, bytes, connections, mostConnections } = row
  return {
    ...judge([
      judgeDatabase(row, answersInMs),
      ...judgeRedis(context),
      judgeJobs(context, { ...counts, oldestAt }),
      judgeEvents(waitingSince),
      judgeDisk(room),
      judgeClock(row.now - (asked + answersInMs / 2)),
      ...judgeBackups(context, backups),
      ...judgeHeld(held),
      ...apps.checks,
    ]),
    version,
    startedAt,
    database: { version: databaseVersion, bytes, answersInMs, connections, mostConnections },
    storage: { bytes: files?.bytes ?? 0, freeBytes: Math.max(0, Math.floor(room.free)) },
    jobs: { ...counts, ...(oldestAt !== null && { oldestAt }) },
  }
}

function judgeDatabase({ connections, mostConnections }: DatabaseRow, answersInMs: number): HealthCheck {
  if (connections >= nearlyAllConnections * mostConnections) {
    return found('warning', 'database', `${connections} of ${mostConnections} connections are in use.`, {
      advice: 'Raise max_connections of PostgreSQL, or run fewer processes: without a connection requests fail.',
    })
  }
  if (answersInMs > slowMs) {
    return found('warning', 'database', `It took ${Math.round(answersInMs)} ms to answer.`, {
      advice: 'Look at the load of its machine and its disk, and at long reads (parley_database_reads).',
    })
  }
  return found('ok', 'database', `It answers, with ${connections} of ${mostConnections} connections in use.`)
}

function judgeBackups({ config }: Context, row: BackupsRow | undefined): HealthCheck[] {
  const { schedule } = config.backup
  if (schedule === undefined) return []
  const due = row && dueSince(schedule, row)
  if (row === undefined || due === undefined) return [found('ok', 'backups', 'None has been due yet.')]
  const { status, error, lastAt, runningSince } = row
  const running = runningSince === null ? 'None is being made.' : `One is being made since ${timeOf(runningSince)}.`
  const advice = 'Look at BACKUP_TO and at the log. Until one succeeds, only those from before can be restored.'
  if (status === 'failed' && lastAt !== null) {
    const says = `That of ${timeOf(lastAt)} failed: ${error ?? ''}`
    return [found('warning', 'backups', says, { advice, since: lastAt })]
  }
  if (nowSeconds() - due > lateBackupSeconds) {
    const says = `One has been due for ${lengthOf(nowSeconds() - due)}. ${running}`
    return [found('warning', 'backups', says, { advice, since: due })]
  }
  return [found('ok', 'backups', lastAt === null ? running : `The last one is of ${timeOf(lastAt)}.`)]
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString()

function judgeHeld(count: number): HealthCheck[] {
  if (count === 0) return []
  const says = `${count} deliveries, notifications and questions to engines from before a restore are held.`
  return [found('warning', 'restore', says, { advice: '`parley held` lists them, and has them sent after all.' })]
}

function judgeRedis({ redis }: Context): HealthCheck[] {
  if (redis === undefined) return []
  if (redis.isUp) return [found('ok', 'redis', 'It answers.')]
  const advice = 'Start it, or look at REDIS_URL. Until then sockets hear of events of other processes late.'
  const since = redis.downSince === undefined ? undefined : Math.floor(redis.downSince / 1000)
  return [found('failing', 'redis', 'It does not answer this process.', { advice, since })]
}

function judgeJobs({ jobs }: Context, { pending, oldestAt, givenUp }: JobsRow): HealthCheck {
  if (jobs.state === 'stalled') {
    return found('failing', 'jobs', `This process has fetched no jobs for ${lengthOf(jobs.silentSeconds)}.`, {
      advice: 'It starts its job runner again by itself; if it goes on, restart the service and look at its log.',
      since: nowSeconds() - jobs.silentSeconds,
    })
  }
  const lag = oldestAt === null ? 0 : nowSeconds() - oldestAt
  if (lag > jobLagSeconds.warning) {
    const state = lag > jobLagSeconds.failing ? 'failing' : 'warning'
    return found(state, 'jobs', `${pending} jobs are due, the oldest for ${lengthOf(lag)}.`, {
      advice: 'The service has more to do than it gets done: look at the load of the machine, or add processes.',
      since: oldestAt,
    })
  }
  if (givenUp > 0) {
    return found('warning', 'jobs', `${givenUp} jobs failed too often to be tried again.`, {
      advice: 'The log says why. They are in graphile_worker.jobs, with the last error.',
    })
  }
  return found('ok', 'jobs', `Jobs are fetched; ${pending} are due.`)
}

function judgeEvents(oldestAt: number | null): HealthCheck {
  const lag = oldestAt === null ? 0 : nowSeconds() - oldestAt
  if (lag <= eventLagSeconds.warning) return found('ok', 'events', 'The event log is up to date.')
  const state = lag > eventLagSeconds.failing ? 'failing' : 'warning'
  return found(state, 'events', `The event log is ${lengthOf(lag)} behind.`, {
    advice:
      'Webhooks and notifications wait for it. A long transaction in the database may hold it up: look at pg_stat_activity, and at the log.',
    since: oldestAt,
  })
}

function judgeDisk({ free, keptFree }: { readonly free: number; readonly keptFree: number }): HealthCheck {
  const says = `${sizeOf(Math.max(0, free))} are free on the disk of files.`
  if (free >= roomTimes * keptFree) return found('ok', 'disk', says)
  if (free >= keptFree) {
    return found('warning', 'disk', `${says} Below ${sizeOf(keptFree)} uploads are refused.`, {
      advice: 'Free some space, or make the disk larger.',
    })
  }
  return found('failing', 'disk', `${says} Uploads are refused below ${sizeOf(keptFree)}.`, {
    advice: 'Free some space, or make the disk larger. MEDIA_MIN_FREE_MB says how much stays free.',
  })
}

function judgeClock(skewMs: number): HealthCheck {
  const off = Math.abs(skewMs)
  if (off <= clockSkewMs.warning) return found('ok', 'clock', 'The clocks of this machine and of the database agree.')
  const state = off > clockSkewMs.failing ? 'failing' : 'warning'
  const says = `The database is ${lengthOf(off / 1000)} ${skewMs > 0 ? 'ahead of' : 'behind'} this machine.`
  return found(state, 'clock', says, { advice: 'Let both machines take their time from a time server (NTP).' })
}
