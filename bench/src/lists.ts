import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { type Bench, type Extent, fullExtent, repeat } from './bench.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { compareWith, renderComparison } from './lists/against.ts'
import { listCases } from './lists/cases.ts'
import { deedScenarios, renderDeeds } from './lists/deeds.ts'
import { readLandmarks } from './lists/landmarks.ts'
import { mixedRequests, mixedShape } from './lists/mixed.ts'
import { measureInRounds, type Scenario } from './measure.ts'
import { progress } from './progress.ts'
import { getRequest } from './requests.ts'
import { readIndexedId, readLastId, whenIndexed } from './search-index.ts'
import { scaleWorld } from './seed/sizes.ts'
import { seedWorld } from './seed/world.ts'
import { startBench } from './start.ts'
import { describeMachine, renderReport } from './table.ts'

const usage = `npm run bench:lists -- [options]
Starts the service, fills it as bench:seed does, and measures every list alone and then a load mixed as in real use.
  --scale <factor>   the world so many times as large; 1 without it, which takes minutes to make
  --only <text>      only rows whose names have it
  --against <folder> only the mixed load, of this checkout and of another one in turn, for instance one made with
                     \`git worktree add ../before <commit> && npm ci --prefix ../before\`; it is built first
  --deeds            only the mixed load, and each of its requests alone: what it costs, and how much of the whole that is
  --rounds <n>       with --against: how many times each is started and measured; 3 without it
  --seconds <s>      with --against or --deeds: how long each time, after a warm-up of at most 10 s; 20 without it
  --world <folder>   keeps what was filled there, and begins with it the next time; with --against one of each checkout
  --profile <folder> leaves a CPU profile of the service there
  --json <file>      writes the figures as JSON too`

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    deeds: { type: 'boolean', default: false },
    world: { type: 'string' },
    profile: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const scale = Number(options.scale)
  if (options.deeds) {
    const { machine, rows } = await measureDeeds(atEnd, scale)
    tell({ machine, rows }, `${machine}\n\n${renderDeeds(rows)}`)
  } else if (options.against === undefined) {
    const report = await measureLists(atEnd, scale)
    tell(report, renderReport(report))
  } else {
    const { rounds, seconds, world: keptIn } = options
    const extent = { scale, rounds: Number(rounds), seconds: Number(seconds), keptIn }
    const comparison = await compareWith(atEnd, options.against, extent)
    tell(comparison, renderComparison(comparison))
  }
}

function tell(report: object, text: string): void {
  progress('')
  console.log(text)
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
}

/** The service on a world that is filled, or was before and is kept. */
async function startFilled(atEnd: AtEnd, scale: number, extent: Extent): Promise<Bench & { readonly appId: number }> {
  const bench = await startBench(atEnd, extent, { profileDir: options.profile, keptIn: options.world })
  const { database } = bench
  const { rows: apps } = await database.query<{ app_id: number; filled: boolean }>(
    `select a.app_id, exists (select from users u where u.app_id = a.app_id and u.uid = 'busy') as filled
    from apps a`,
  )
  const [app] = apps
  if (app === undefined) throw new Error('the service has no app')
  if (!app.filled) {
    const filling = (step: string) => progress(`filling: ${step}`)
    await seedWorld(database, app.app_id, scaleWorld(scale), { progress: filling })
  }
  await whenSearchable(database)
  return { ...bench, appId: app.app_id }
}

async function measureDeeds(atEnd: AtEnd, scale: number) {
  const seconds = Number(options.seconds)
  const bench = await startFilled(atEnd, scale, { ...fullExtent, warmup: Math.min(10, seconds), seconds })
  const { service, readCpu, appId } = bench
  const scenarios = await deedScenarios(bench, appId)
  const asked = scenarios.filter(({ id }) => id.includes(options.only))
  const rows = await measureInRounds(asked, 1, { service, readCpu, progress })
  return { machine: describeMachine(), rows }
}

async function measureLists(atEnd: AtEnd, scale: number) {
  const startedAt = new Date().toISOString()
  const sizes = scaleWorld(scale)
  const bench = await startFilled(atEnd, scale, { ...fullExtent, warmup: 0.3, seconds: 1.2 })
  const { service, database, readCpu, appId } = bench
  const landmarks = await readLandmarks(async (text, values) => (await database.query(text, values)).rows, appId, sizes)
  const scenarios: Scenario[] = listCases(landmarks).map(({ name, path, as }) => ({
    id: 'list',
    name,
    // One after the other: how long one takes, not how many are answered.
    run: () =>
      repeat(bench, service.port, [[getRequest(addressOf(path), { apiKey: service.apiKey, ...(as && { as }) })]]),
  }))
  scenarios.push(mixedScenario(bench, appId))
  const asked = scenarios
    .filter(({ name }) => name.includes(options.only))
    .map((scenario, i) => ({ ...scenario, id: `${scenario.id}-${i + 1}` }))
  const rows = await measureInRounds(asked, 1, { service, readCpu, progress })
  return { startedAt, machine: describeMachine(), quick: scale < 1, rows, memory: undefined, goals: [] }
}

function mixedScenario(bench: Bench, appId: number): Scenario {
  const { service, database } = bench
  return {
    id: 'mixed',
    name: `Mixed as in real use, ${mixedShape.connections} connections`,
    run: async () => {
      const requests = await mixedRequests(database, appId, service.apiKey, mixedShape)
      return repeat({ ...bench, extent: { ...fullExtent, warmup: 2, seconds: 20 } }, service.port, requests)
    },
  }
}

function addressOf(path: string): string {
  return `/v3${path}`.replaceAll('[', '%5B').replaceAll(']', '%5D')
}

/**
 * The search index is filled behind the writes, here a million at once; it would be measured along with the lists. Tells how
 * long that took from here on: it began when the world was committed.
 */
async function whenSearchable(database: pg.Client): Promise<void> {
  const lastId = await readLastId(database)
  const waitedFor = Math.max(0, lastId - (await readIndexedId(database)))
  const seconds = await whenIndexed(database, lastId, (left) => progress(`the search index lacks ${left} messages`))
  progress('')
  console.log(
    `The search index took in the last ${waitedFor} messages in ${seconds.toFixed(0)} s, ${Math.round(waitedFor / seconds)} a second.\n`,
  )
}
