import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import { dueAfter, dueSince, type PastBackups } from '../config/backup.ts'
import type { Config } from '../config/index.ts'
import type { Log } from '../log.ts'
import { isNotToCome } from '../store/clock.ts'
import { isConnectionFailure } from '../store/connection.ts'
import type { Database } from '../store/database.ts'
import { createLead } from '../store/lead.ts'
import { type Statement, statement } from '../store/statement.ts'
import { openDestination } from './destination.ts'
import { readManifest } from './format.ts'

/** Makes backups when the configuration says so, whichever process gets there first. */
export interface ScheduledBackups {
  start(): void
  /** Ends the one under way; what was written of it is removed, and it is made anew after the next start. */
  stop(): Promise<void>
}

/** Any constant will do, as long as every version of the service uses the same. */
const lock = 7_206_951_017

const lookEveryMs = 15_000

/** Whoever ends the service waits for ten seconds, often. */
const endsWithinMs = 3_000

/** Whoever made it is gone: the lock is here. */
const endLost = statement(`
  update backup_runs
  set status = 'failed',
    finished_at = $1,
    error = 'The process that made it ended.'
  where status = 'running'`)

/** A run of a time that is still to come was made while the clock was wrong: by it, the next would be due only then. */
const hasBegun = isNotToCome('started_at')

const selectLast = statement(`
  select max(started_at) as "startedAt"
  from backup_runs
  where ${hasBegun}
  and error is distinct from 'The process that made it ended.'`)

const begin = statement(`
  insert into backup_runs (status, started_at)
  values ('running', $1)
  returning run_id as "runId"`)

const finish = statement(`
  update backup_runs
  set status = $2,
    finished_at = $3,
    backup = $4,
    rows = $5,
    bytes = $6,
    files = $7,
    error = $8
  where run_id = $1`)

const selectGauges = statement(`
  select (select max(finished_at) from backup_runs where status = 'done' and ${hasBegun}) as success,
    (select max(started_at) from backup_runs where status = 'done' and ${hasBegun}) as "succeededAt",
    (select min(started_at) from backup_runs) as "firstAt",
    (select finished_at - started_at from backup_runs where status = 'done' order by run_id desc limit 1) as seconds,
    (select bytes from backup_runs where status = 'done' order by run_id desc limit 1) as bytes,
    (
      select count(*)
      from backup_runs
      where status = 'failed'
      and started_at > coalesce((select max(started_at) from backup_runs where status = 'done' and ${hasBegun}), 0)
    ) as failures`)

export interface ScheduleOptions {
  readonly config: Pick<Config, 'backup'>
  readonly database: Database
  readonly log: Log
  readonly registry: Registry
  readonly dataDir: string
  /** What makes a backup, as arguments of Node.js; tests name what is built. */
  readonly program?: readonly string[]
}

/** A process of its own: what is packed there takes nothing from those who are served here. */
const ownProgram = [...process.execArgv, path.join(import.meta.dirname, '../cli/main.js'), 'backup']

const nowSeconds = () => Math.floor(Date.now() / 1000)

export function createScheduledBackups(options: ScheduleOptions): ScheduledBackups | undefined {
  const { config, database, log, registry, dataDir, program = ownProgram } = options
  const { schedule, destination, keep, passphrase } = config.backup
  if (schedule === undefined || destination === undefined) return undefined
  const store = openDestination(destination)
  const channel = database.openChannel('parley backups')
  const lead = createLead(channel, { lock, work: 'backups', log })
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  watch(registry, database, schedule)

  const run = async <Row>(query: Statement, values: unknown[] = []): Promise<Row[]> =>
    (await lead.channel.query({ ...query, values })).rows as Row[]
  /** What became of a backup is true whoever leads by now. */
  const finishRun = async (...values: unknown[]) => void (await channel.query({ ...finish, values }))

  const look = async (since: number): Promise<void> => {
    if ((await lead.take()) === undefined) return
    await run(endLost, [nowSeconds()])
    const [last] = await run<{ startedAt: number | null }>(selectLast)
    const due = dueAfter(schedule, last?.startedAt ?? since)
    if (due !== undefined && due <= nowSeconds()) await make()
  }

  const make = async (): Promise<void> => {
    const [begun] = await run<{ runId: number }>(begin, [nowSeconds()])
    const runId = begun?.runId as number
    try {
      const { id, said } = await lead.during(runProgram())
      const { tables, files } = await lead.during(readManifest(store, id))
      const parts = tables.flatMap((table) => table.parts)
      const sum = (of: (part: (typeof parts)[number]) => number) => parts.reduce((total, part) => total + of(part), 0)
      const figures = { rows: sum(({ rows }) => rows), bytes: sum(({ bytes }) => bytes), files: files.count }
      await finishRun(runId, 'done', nowSeconds(), id, figures.rows, figures.bytes, figures.files, null)
      log.info({ backup: id, ...figures }, 'a backup was made')
      if (said !== '') log.warn({ backup: id, said }, 'a backup was made, with warnings')
    } catch (error) {
      if (stopping.signal.aborted) return
      const { message } = error as Error
      log.error({ reason: message }, 'a scheduled backup failed')
      await finishRun(runId, 'failed', nowSeconds(), null, null, null, null, message)
    }
  }

  /** @returns the id of the backup, and what was to be said of it */
  const runProgram = async (): Promise<{ readonly id: string; readonly said: string }> => {
    const args = [...program, '--keep', String(keep), ...(passphrase === undefined ? [] : ['--with-keys'])]
    const child = spawn(process.execPath, args, {
      // Where its relative paths and its `.env` are, as for this process.
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let kill: NodeJS.Timeout | undefined
    const stop = () => {
      child.kill('SIGTERM')
      kill = setTimeout(() => child.kill('SIGKILL'), endsWithinMs)
    }
    stopping.signal.addEventListener('abort', stop)
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err = (err + chunk).slice(-2_000)))
    const [code] = await once(child, 'close').finally(() => {
      stopping.signal.removeEventListener('abort', stop)
      clearTimeout(kill)
    })
    if (code !== 0) throw new Error(err.trim() || `the backup ended with ${code}`)
    // Beside how far it was, now and then.
    const lines = err.split('\n').filter((line) => line.startsWith('parley backup: '))
    return { id: out.split('\n')[0] as string, said: lines.join('\n') }
  }

  const loop = async () => {
    const since = nowSeconds()
    while (!stopping.signal.aborted) {
      await look(since).catch((error) => {
        if (!isConnectionFailure(error)) log.error({ err: error }, 'could not check whether a backup is due')
      })
      await lead.during(delay(lookEveryMs, undefined, { signal: stopping.signal, ref: false })).catch(() => {})
    }
    await lead.release()
  }

  return {
    start() {
      running ??= loop()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

interface Gauges extends PastBackups {
  readonly success: number | null
  readonly seconds: number | null
  readonly bytes: number | null
  readonly failures: number
}

/** What alarms go by: a backup that is late is told by the time at which it was due. */
function watch(registry: Registry, database: Database, schedule: string): void {
  const gauge = (name: string, help: string, of: (row: Gauges) => number | null | undefined) =>
    new Gauge({
      ...{ name, help, registers: [registry] },
      // Every process says the same.
      aggregator: 'max',
      // Each by itself: they are collected side by side.
      async collect() {
        const [row] = await database.query<Gauges>(selectGauges).catch(() => [])
        const value = row && of(row)
        if (value !== undefined && value !== null) this.set(value)
      },
    })
  gauge(
    'parley_backup_last_success_seconds',
    'When the last scheduled backup was finished, in epoch seconds',
    ({ success }) => success,
  )
  gauge(
    'parley_backup_due_seconds',
    'Since when a scheduled backup is due that has not succeeded, or as of when the next one is, in epoch seconds',
    (row) => dueSince(schedule, row),
  )
  gauge('parley_backup_duration_seconds', 'How long the last scheduled backup took', ({ seconds }) => seconds)
  gauge(
    'parley_backup_bytes',
    'Bytes of the last scheduled backup, without the files of messages',
    ({ bytes }) => bytes,
  )
  gauge(
    'parley_backup_failures',
    'Scheduled backups that failed since the last that succeeded',
    ({ failures }) => failures,
  )
}
