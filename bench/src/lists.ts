import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Bench, fullExtent, repeat } from './bench.ts'
import { createCpuClock } from './cpu.ts'
import { listCases } from './lists/cases.ts'
import { readLandmarks } from './lists/landmarks.ts'
import { mixedRequests } from './lists/mixed.ts'
import { startLoadGenerator } from './load/start.ts'
import { measureInRounds, type Scenario } from './measure.ts'
import { getRequest } from './requests.ts'
import { scaleWorld } from './seed/sizes.ts'
import { seedWorld } from './seed/world.ts'
import { startService } from './service.ts'
import { describeMachine, renderReport } from './table.ts'

const usage = `npm run bench:lists -- [options]
Starts the service, fills it as bench:seed does, and measures every list alone and then a load mixed as in real use.
  --scale <factor>   the world so many times as large; 1 without it, which takes minutes to make
  --only <text>      only rows whose names have it
  --json <file>      writes the figures as JSON too`

const mixedConnections = 32

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await run(Number(options.scale))

async function run(scale: number): Promise<void> {
  const startedAt = new Date().toISOString()
  const sizes = scaleWorld(scale)
  const service = await startService()
  const load = startLoadGenerator()
  const database = new pg.Client(service.database)
  try {
    await database.connect()
    const { rows: apps } = await database.query<{ app_id: number }>('select app_id from apps')
    const appId = apps[0]?.app_id as number
    await seedWorld(database, appId, sizes, { progress: (step) => progress(`filling: ${step}`) })
    const landmarks = await readLandmarks(
      async (text, values) => (await database.query(text, values)).rows,
      appId,
      sizes,
    )
    await whenSearchable(database)
    const readCpu = createCpuClock({ service: service.pid, postgres: service.postgresPid, load: load.pid })
    const bench: Bench = {
      service,
      load,
      barePort: 0,
      database,
      readCpu,
      extent: { ...fullExtent, warmup: 0.3, seconds: 1.2 },
    }
    const scenarios: Scenario[] = listCases(landmarks).map(({ name, path, as }) => ({
      id: 'list',
      name,
      // One after the other: how long one takes, not how many are answered.
      run: () =>
        repeat(bench, service.port, [[getRequest(addressOf(path), { apiKey: service.apiKey, ...(as && { as }) })]]),
    }))
    scenarios.push({
      id: 'mixed',
      name: `Mixed as in real use, ${mixedConnections} connections`,
      run: async () => {
        const shape = { connections: mixedConnections, each: 2000 }
        const requests = await mixedRequests(database, appId, service.apiKey, shape)
        return repeat({ ...bench, extent: { ...fullExtent, warmup: 2, seconds: 20 } }, service.port, requests)
      },
    })
    const asked = scenarios
      .filter(({ name }) => name.includes(options.only))
      .map((scenario, i) => ({ ...scenario, id: `${scenario.id}-${i + 1}` }))
    const rows = await measureInRounds(asked, 1, { service, readCpu, progress })
    const report = { startedAt, machine: describeMachine(), quick: scale < 1, rows, memory: undefined, goals: [] }
    progress('')
    console.log(renderReport(report))
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  } finally {
    await database.end()
    load.stop()
    await service.stop()
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
  const startedAt = performance.now()
  const waitedFor = await readUnindexed(database)
  for (let left = waitedFor; left > 0; left = await readUnindexed(database)) {
    progress(`waiting for the search index: ${left} messages to go`)
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  const seconds = (performance.now() - startedAt) / 1000
  progress('')
  console.log(
    `The search index took in the last ${waitedFor} messages in ${seconds.toFixed(0)} s, ${Math.round(waitedFor / seconds)} a second.\n`,
  )
}

async function readUnindexed(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ left: string }>(
    'select greatest((select max(id) from messages) - indexed_id, 0) as left from search_progress',
  )
  return Number(rows[0]?.left ?? 0)
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
  else if (text !== '') process.stderr.write(`${text}\n`)
}
