import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Bench, type Extent, fullExtent, quickExtent } from './bench.ts'
import { createCpuClock } from './cpu.ts'
import { judgeGoals } from './goals.ts'
import { startLoadGenerator } from './load/start.ts'
import { measureInRounds, type Scenario } from './measure.ts'
import { watchMemory } from './memory.ts'
import { emptyPosts } from './scenarios/empty.ts'
import { imports } from './scenarios/imports.ts'
import { reads } from './scenarios/reads.ts'
import { groupSends, prepareSends, sends, warmUp } from './scenarios/sends.ts'
import { plainSql, preparePlainSql } from './scenarios/sql.ts'
import { startService } from './service.ts'
import { describeMachine, type Report, renderReport } from './table.ts'

const usage = `npm run bench -- [options]
  --quick            a short run, to see that everything works
  --json <file>      writes the figures as JSON too
  --only <ids>       only rows whose ids begin with one of these, with commas between; send-group, history and
                     conversations need import
  --profile <folder> leaves a CPU profile of the service there`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    only: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await run(options.quick ? quickExtent : fullExtent)

async function run(extent: Extent): Promise<void> {
  warnAboutMemoryDisk()
  const stops: Array<() => unknown> = []
  let stopping: Promise<void> | undefined
  const stopAll = () => {
    stopping ??= stops.toReversed().reduce((before, stop) => before.then(stop).then(() => {}), Promise.resolve())
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopAll().finally(() => process.exit(1)))
  }
  try {
    const starting = startService({ profileDir: options.profile })
    // At once, so that an interruption meanwhile stops it too. That it failed is said by who waits for it below.
    stops.push(() =>
      starting.then(
        ({ stop }) => stop(),
        () => {},
      ),
    )
    const service = await starting
    const load = startLoadGenerator()
    stops.push(load.stop)
    const bare = await startBareServer()
    stops.push(bare.stop)
    const database = new pg.Client(service.database)
    await database.connect()
    stops.push(() => database.end())
    const readCpu = createCpuClock({ service: service.pid, postgres: service.postgresPid, load: load.pid })
    const report = await measure({ service, load, barePort: bare.port, database, readCpu, extent })
    progress('')
    console.log(renderReport(report))
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  } finally {
    await stopAll()
  }
}

async function measure(bench: Bench): Promise<Report> {
  const startedAt = new Date().toISOString()
  const readMemory = watchMemory(bench.service.pid)
  progress('making users')
  await prepareSends(bench)
  if (!options.quick) {
    progress('warming up')
    await warmUp(bench)
  }
  await preparePlainSql(bench)
  const all = [
    ...emptyPosts(bench),
    ...sends(bench),
    ...imports(bench),
    groupSends(bench),
    ...reads(bench),
    ...plainSql(bench),
  ]
  const rows = await measureInRounds(all.filter(isAskedFor), bench.extent.rounds, {
    service: bench.service,
    readCpu: bench.readCpu,
    progress,
  })
  const memory = readMemory()
  return {
    startedAt,
    machine: describeMachine(),
    quick: options.quick,
    rows,
    memory,
    goals: judgeGoals(rows, memory),
  }
}

function isAskedFor({ id }: Scenario): boolean {
  return options.only === undefined || options.only.split(',').some((prefix) => id.startsWith(prefix))
}

async function startBareServer(): Promise<{ port: number; stop(): void }> {
  const child = fork(fileURLToPath(new URL('bare-server.js', import.meta.url)))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, stop: () => void child.kill() }
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
  else if (text !== '') process.stderr.write(`${text}\n`)
}

/** The data go into the system's temporary folder. Where that is memory, nothing is as durable as it says. */
function warnAboutMemoryDisk(): void {
  const tmpfs = 0x01021994
  if (statfsSync(tmpdir()).type === tmpfs) {
    console.warn(`${tmpdir()} is in memory: writes cost less than on a disk. Set TMPDIR to a folder on a disk.`)
  }
}
