import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Extent, fullExtent, quickExtent } from './bench.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { measureInRounds } from './measure.ts'
import { progress } from './progress.ts'
import { preparePages } from './reads/pages.ts'
import { renderReads } from './reads/table.ts'
import { imports } from './scenarios/imports.ts'
import { fullPages } from './scenarios/reads.ts'
import { startBench } from './start.ts'
import { describeMachine } from './table.ts'

const usage = `npm run bench:reads -- [options]
Measures the pages that chats ask for most, each beside three bare limits in the same run: one plain query that brings
its rows, and a bare Fastify and a bare node:http server that answer the same bytes.
  --connections <n>  requests at once; several with commas between; 32,64 without it
  --only <ids>       only pages whose ids begin with one of these, with commas between
  --pipelines <n>    connections that the plain query goes over, all requests at once shared among them; 2 without it,
                     as many as the service has for its lists. 0: a connection for each request at once
  --quick            a short run, to see that everything works
  --json <file>      writes the figures as JSON too
  --profile <folder> leaves a CPU profile of the service there`

const { values: options } = parseArgs({
  options: {
    connections: { type: 'string', default: '32,64' },
    only: { type: 'string', default: '' },
    pipelines: { type: 'string', default: '2' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const startedAt = new Date().toISOString()
  const extent: Extent = options.quick ? quickExtent : fullExtent
  const connections = options.connections.split(',').map(Number)
  if (!connections.every((count) => count > 0)) throw new Error(`--connections ${options.connections} are no numbers`)
  const bench = await startBench(atEnd, extent, { profileDir: options.profile })
  progress('importing')
  for (const scenario of imports(bench)) {
    const { failures, firstFailure } = await scenario.run(0)
    if (failures > 0) throw new Error(`${scenario.name}: ${firstFailure}`)
  }
  await bench.database.query('vacuum analyze')
  const kinds = fullPages(bench).filter(({ id }) => options.only.split(',').some((prefix) => id.startsWith(prefix)))
  const pages = await preparePages(bench, atEnd, kinds, {
    connections,
    pipelines: Number(options.pipelines),
  })
  if (!options.quick) {
    progress('warming up')
    for (const { scenarios } of pages) await scenarios[0]?.run(0)
  }
  const { service, readCpu } = bench
  const scenarios = pages.flatMap(({ scenarios }) => scenarios)
  const rows = await measureInRounds(scenarios, extent.rounds, { service, readCpu, progress })
  progress('')
  console.log(`${describeMachine()}${options.quick ? ' (quick run: too short to compare)' : ''}\n`)
  console.log(renderReads(pages, rows))
  if (options.json === undefined) return
  const facts = pages.map(({ scenarios, ...page }) => page)
  const report = { startedAt, machine: describeMachine(), quick: options.quick, pages: facts, rows }
  writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
}
