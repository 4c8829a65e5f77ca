import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Bench, type Extent, fullExtent, quickExtent } from './bench.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { judgeGoals } from './goals.ts'
import { measureInRounds, type Scenario } from './measure.ts'
import { watchMemory } from './memory.ts'
import { progress } from './progress.ts'
import { emptyPosts } from './scenarios/empty.ts'
import { imports } from './scenarios/imports.ts'
import { reads } from './scenarios/reads.ts'
import { groupSends, prepareSends, sends, warmUp } from './scenarios/sends.ts'
import { plainSql, preparePlainSql } from './scenarios/sql.ts'
import { sustainedSends } from './scenarios/sustained.ts'
import { startBench } from './start.ts'
import { describeMachine, type Report, renderReport } from './table.ts'

const usage = `npm run bench -- [options]
  --quick            a short run, to see that everything works
  --sustained <s>    seconds of the row sustained, which runs once at the end; 180 without it, 5 with --quick
  --json <file>      writes the figures as JSON too
  --only <ids>       only rows whose ids begin with one of these, with commas between; send-group, history and
                     conversations need import
  --profile <folder> leaves a CPU profile of the service there`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sustained: { type: 'string' },
    json: { type: 'string' },
    only: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const extent: Extent = options.quick ? quickExtent : fullExtent
  const sustained = Number(options.sustained ?? extent.sustained)
  if (!(sustained > 0)) throw new Error(`--sustained ${options.sustained} is no number of seconds`)
  const bench = await startBench(atEnd, { ...extent, sustained }, { profileDir: options.profile })
  const report = await measure(bench, atEnd)
  progress('')
  console.log(renderReport(report))
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
}

async function measure(bench: Bench, atEnd: AtEnd): Promise<Report> {
  const startedAt = new Date().toISOString()
  const readMemory = watchMemory(bench.service.pid)
  progress('making users')
  await prepareSends(bench)
  if (!options.quick) {
    progress('warming up')
    await warmUp(bench)
  }
  await preparePlainSql(bench)
  const inRounds = [
    ...(await emptyPosts(bench, atEnd)),
    ...sends(bench),
    ...imports(bench),
    groupSends(bench),
    ...reads(bench),
    ...plainSql(bench),
  ]
  const { service, readCpu, extent } = bench
  const measureAsked = (scenarios: Scenario[], rounds: number) =>
    measureInRounds(scenarios.filter(isAskedFor), rounds, { service, readCpu, progress })
  // Once, and last: it leaves a table many times as large to whatever would come after it.
  const rows = [...(await measureAsked(inRounds, extent.rounds)), ...(await measureAsked([sustainedSends(bench)], 1))]
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
