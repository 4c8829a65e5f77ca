import { type ExecFileOptions, execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { AtEnd } from '../cleanup.ts'
import { type CpuTimes, cpuBetween, createCpuClock, whenAtRest } from '../cpu.ts'
import type { Goal } from '../goals.ts'
import { type LoadGenerator, startLoadGenerator } from '../load/start.ts'
import { type Figures, median, readLoopDelay, type Sample, sumUp } from '../measure.ts'
import { residentMemory } from '../processes.ts'
import { progress } from '../progress.ts'
import { readLastId, whenIndexed } from '../search-index.ts'
import { createDeployment, type Deployment, type Service } from '../service.ts'
import { warnAboutMemoryDisk } from '../start.ts'
import { describeMachine, renderFailures, renderGoals, renderTable } from '../table.ts'
import { mixedRequests, mixedShape } from './mixed.ts'

/** Runs a program and gives what it printed; when it fails, that is the error. */
async function run(program: string, args: readonly string[], options: ExecFileOptions): Promise<string> {
  try {
    return String((await promisify(execFile)(program, args, options)).stdout)
  } catch (error) {
    const { message, stdout } = error as Error & { stdout?: string }
    throw new Error(`${message}\n${stdout ?? ''}`)
  }
}

export interface ComparisonExtent {
  readonly scale: number
  readonly rounds: number
  readonly seconds: number
  /** Where the worlds of both stay for the next time; absent: they are removed. */
  readonly keptIn?: string | undefined
}

/** The mixed load on two checkouts: the other one first, then this one. */
export interface Comparison {
  readonly startedAt: string
  readonly machine: string
  readonly extent: ComparisonExtent
  /** `memory`: the most that was resident in bytes, median of the rounds. */
  readonly rows: readonly (Figures & { readonly memory: number })[]
  readonly goals: readonly Goal[]
}

/** A checkout with a world of its own and the load that was drawn from it. */
interface Side {
  readonly id: string
  readonly name: string
  readonly deployment: Deployment
  readonly requests: string[][]
  readonly samples: Sample[]
  readonly memory: number[]
}

/** Measures the mixed load on another checkout and on this one in turn, so that slow minutes hit both alike. */
export async function compareWith(atEnd: AtEnd, folder: string, extent: ComparisonExtent): Promise<Comparison> {
  const startedAt = new Date().toISOString()
  warnAboutMemoryDisk()
  const [other, own] = [resolve(folder), resolve(import.meta.dirname, '../../..')]
  if (!existsSync(join(other, 'bench/src/seed.ts'))) throw new Error(`${other} is no checkout that has bench:seed`)
  if (!existsSync(join(other, 'node_modules'))) throw new Error(`${other} has no node_modules: run npm ci there`)
  progress(`building ${other}`)
  await run('npm', ['run', '-s', 'prebench:seed'], { cwd: other })
  const load = startLoadGenerator()
  atEnd(load.stop)
  const sides = [await prepareSide(atEnd, 'before', other, extent), await prepareSide(atEnd, 'now', own, extent)]
  for (let round = 0; round < extent.rounds; round++) {
    for (const side of sides) {
      progress(`round ${round + 1} of ${extent.rounds}: ${side.id}`)
      await measureOnce(atEnd, side, load, extent)
    }
  }
  const rows = sides.map((side) => ({ ...sumUp(side, side.samples), memory: median(side.memory) }))
  return { startedAt, machine: describeMachine(), extent, rows, goals: judge(rows) }
}

async function prepareSide(
  atEnd: AtEnd,
  id: string,
  checkout: string,
  { scale, keptIn }: ComparisonExtent,
): Promise<Side> {
  const commit = await run('git', ['log', '-1', '--format=%h %s'], { cwd: checkout })
  const deployment = createDeployment({ checkout, keptIn: keptIn && join(keptIn, id) })
  atEnd(deployment.remove)
  const service = await startUntilEnd(atEnd, deployment)
  const database = new pg.Client(service.database)
  await database.connect()
  const { rows: filled } = await database.query(`select from users where uid = 'busy'`)
  if (filled.length === 0) {
    progress(`filling ${id}`)
    // Each by its own: the tables may have changed in between.
    await run(process.execPath, ['bench/dist/seed.js', '--scale', String(scale)], {
      cwd: checkout,
      env: { PATH: process.env.PATH, DATABASE_URL: addressOf(service.database) },
    })
  }
  await whenIndexed(database, await readLastId(database), (left) =>
    progress(`filling ${id}: the search index lacks ${left} messages`),
  )
  const { rows: apps } = await database.query<{ app_id: number }>('select app_id from apps')
  const requests = await mixedRequests(database, apps[0]?.app_id as number, service.apiKey, mixedShape)
  await database.end()
  await service.stop()
  return { id, name: commit.trim(), deployment, requests, samples: [], memory: [] }
}

async function measureOnce(atEnd: AtEnd, side: Side, load: LoadGenerator, { seconds }: ComparisonExtent) {
  const service = await startUntilEnd(atEnd, side.deployment)
  const readCpu = createCpuClock({ service: service.pid, postgres: service.postgresPid, load: load.pid })
  await whenAtRest(readCpu)
  const plan = { port: service.port, connections: side.requests, repeat: true, warmup: Math.min(10, seconds), seconds }
  let from: CpuTimes | undefined
  await readLoopDelay(service)
  const result = await load.run(plan, () => {
    from = readCpu()
  })
  const cpu = cpuBetween(from, readCpu())
  const loopDelay = await readLoopDelay(service)
  side.samples.push({ ...result, count: result.answers, cpu, loopDelay })
  side.memory.push(residentMemory(service.pid)?.highest ?? Number.NaN)
  await service.stop()
}

async function startUntilEnd(atEnd: AtEnd, deployment: Deployment): Promise<Service> {
  const service = await deployment.start()
  atEnd(service.stop)
  return service
}

function addressOf({ host, port, user, password, database }: pg.ClientConfig): string {
  const query = new URLSearchParams({ host: String(host), port: String(port) })
  return `postgresql://${user}:${encodeURIComponent(String(password))}@/${database}?${query}`
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`

function judge([before, now]: Comparison['rows']): Goal[] {
  if (before === undefined || now === undefined) return []
  const times = now.perSecond / before.perSecond
  return [
    { name: 'Mixed load beside that of before', goal: 'at least 2.5', reached: times.toFixed(2), met: times >= 2.5 },
    { name: 'p99 of it', goal: 'below 60 ms', reached: `${now.p99.toFixed(1)} ms`, met: now.p99 < 60 },
    {
      name: 'Resident memory, at most',
      goal: `that of before and a twentieth: ${megabytes(before.memory * 1.05)}`,
      reached: megabytes(now.memory),
      met: now.memory <= before.memory * 1.05,
    },
  ]
}

export function renderComparison({ machine, extent, rows, goals }: Comparison): string {
  const { scale, rounds, seconds } = extent
  return [
    machine,
    `The mixed load at ${mixedShape.connections} connections on a world of ${scale} million messages, ${rounds} times ${seconds} s each in turn; medians.`,
    '',
    ...renderTable(
      ['row', 'commit', 'per second', 'p50 ms', 'p99 ms', 'memory MB', 'service us', 'PostgreSQL us', 'each round'],
      rows.map((row) => [
        row.id,
        row.name,
        Math.round(row.perSecond).toLocaleString('en'),
        row.p50.toFixed(1),
        row.p99.toFixed(1),
        Math.round(row.memory / 1024 / 1024).toString(),
        row.cpuEach?.service.toFixed(0) ?? '',
        row.cpuEach?.postgres.toFixed(0) ?? '',
        row.rounds.map(({ perSecond }) => Math.round(perSecond)).join(' / '),
      ]),
    ),
    '',
    ...renderFailures(rows),
    ...renderGoals(goals),
  ].join('\n')
}
