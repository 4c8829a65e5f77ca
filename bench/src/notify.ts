import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { type LiveFigure, renderFigures } from './live/figures.ts'
import { measureBacklog } from './notify/backlog.ts'
import { measureDecisions } from './notify/decisions.ts'
import { measureGroups, measureSends, measureWay } from './notify/latency.ts'
import { measureOutage } from './notify/outage.ts'
import { measureWaiting } from './notify/waiting.ts'
import { measureWebPush } from './notify/web-push.ts'
import { type NotifyExtent, type NotifyWorld, startNotifyWorld } from './notify/world.ts'
import { progress } from './progress.ts'
import { describeMachine } from './table.ts'

const parts: Readonly<Record<string, (world: NotifyWorld) => Promise<LiveFigure[]>>> = {
  backlog: measureBacklog,
  decisions: measureDecisions,
  way: measureWay,
  groups: measureGroups,
  sends: measureSends,
  waiting: measureWaiting,
  web: measureWebPush,
  outage: measureOutage,
}
/** Ten minutes, so only where it is asked for. */
const usual = Object.keys(parts).filter((name) => name !== 'outage')
const usage = `npm run bench:notify -- [options]
Measures push notifications, against emulators of FCM, APNs and the push service of browsers in a process of their own.
  --quick            a short run, to see that everything works; too short to compare
  --only <parts>     of ${Object.keys(parts).join(', ')}, with commas between; all but outage without it
  --outage <seconds> for which FCM fails in that part; 600 without it
  --profile <folder> leaves a CPU profile of the service there
  --json <file>      writes the figures as JSON too`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: usual.join() },
    outage: { type: 'string' },
    profile: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const full: NotifyExtent = {
  ...{ people: 10_000, backlog: 40_000, groups: [1_000, 10_000], groupMessages: 5 },
  ...{ seconds: 15, pairs: 5, outage: 600, waiting: 100_000, browsers: 1_000, webPushes: 10_000 },
}
const quick: NotifyExtent = {
  ...{ people: 1_000, backlog: 6_000, groups: [1_000], groupMessages: 2 },
  ...{ seconds: 3, pairs: 1, outage: 15, waiting: 10_000, browsers: 200, webPushes: 1_000 },
}
if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const startedAt = new Date().toISOString()
  const usualExtent = options.quick ? quick : full
  const extent = { ...usualExtent, outage: Number(options.outage ?? usualExtent.outage) }
  if (!(extent.outage > 0)) throw new Error('--outage is a number of seconds')
  const world = await startNotifyWorld(atEnd, extent, options.profile)
  const figures: LiveFigure[] = []
  for (const name of options.only.split(',')) {
    const measure = parts[name]
    if (measure === undefined) throw new Error(`there is no part ${name}`)
    figures.push(...(await measure(world)))
  }
  progress('')
  const machine = describeMachine()
  console.log(`${machine}${options.quick ? ' (quick run: too short to compare)' : ''}\n\n${renderFigures(figures)}`)
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ startedAt, machine, quick: options.quick, figures }, null, 2)}\n`)
  }
}
