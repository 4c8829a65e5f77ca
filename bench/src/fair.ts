import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { measureAbandoned } from './fair/abandoned.ts'
import { measureConsole, renderConsole, withOperator } from './fair/console.ts'
import { dearestLists } from './fair/dearest.ts'
import { measureHostile } from './fair/hostile.ts'
import { renderHostile } from './fair/hostile-table.ts'
import { measureLoaded, measureQuiet } from './fair/loaded.ts'
import { renderFairness } from './fair/table.ts'
import { timeEach } from './fair/waits.ts'
import { startTwoApps } from './fair/world.ts'
import { progress } from './progress.ts'
import { scaleWorld } from './seed/sizes.ts'
import { describeMachine } from './table.ts'

const usage = `npm run bench:fair -- [options]
Measures how much one user can hold up others: with a token of their own they ask for the dearest lists, 100
at once, while another user of the app and one of another app ask for their conversations.
  --scale <factor>   the world so many times as large; 1 without it, which takes minutes to make
  --seconds <s>      how long the others are asked for, quiet and loaded; 30 without it
  --minutes <m>      instead: how long everybody waits, writing and reading, beside one token that does what it can
                     for so long (dearest lists, sends, sends to many, guesses of a password), with the rate limits
                     that are on by default; 20 is what the goal is about
  --console          instead: how long users wait while an operator goes through the pages of the console
  --profile <folder> leaves a CPU profile of the service there
  --json <file>      writes the figures as JSON too; of --minutes also the longest wait of others in each second`

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '30' },
    minutes: { type: 'string' },
    console: { type: 'boolean', default: false },
    profile: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await withCleanup(options.console ? runConsole : options.minutes === undefined ? run : runHostile)

async function run(atEnd: AtEnd): Promise<void> {
  const startedAt = new Date().toISOString()
  const sizes = scaleWorld(Number(options.scale))
  const world = await startTwoApps(atEnd, sizes, {}, options.profile)
  progress('each of the dearest lists alone')
  const lists = await timeEach(world, dearestLists(sizes))
  const seconds = Number(options.seconds)
  progress('quiet')
  const quiet = await measureQuiet(world, seconds)
  progress('loaded')
  const loaded = await measureLoaded(world, lists, seconds)
  progress('abandoned')
  const abandoned = await measureAbandoned(world, lists)
  progress('')
  const report = { startedAt, machine: describeMachine(), sizes, seconds, lists, quiet, loaded, abandoned }
  console.log(renderFairness(report))
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
}

async function runConsole(atEnd: AtEnd): Promise<void> {
  const startedAt = new Date().toISOString()
  const sizes = scaleWorld(Number(options.scale))
  const world = await startTwoApps(atEnd, sizes, withOperator, options.profile)
  progress('quiet, then with a console open')
  const waits = await measureConsole(world, Number(options.seconds))
  progress('')
  const machine = describeMachine()
  console.log(renderConsole(machine, waits))
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ startedAt, machine, sizes, ...waits }, null, 2)}\n`)
  }
}

async function runHostile(atEnd: AtEnd): Promise<void> {
  const startedAt = new Date().toISOString()
  const minutes = Number(options.minutes)
  const sizes = scaleWorld(Number(options.scale))
  const world = await startTwoApps(atEnd, sizes, { RATE_LIMITS: 'default' }, options.profile)
  progress('each of the dearest lists alone')
  const lists = await timeEach(world, dearestLists(sizes))
  progress(`quiet, then ${minutes} minutes with a hostile token`)
  const waits = await measureHostile(world, lists, minutes)
  progress('')
  const machine = describeMachine()
  console.log(renderHostile(machine, minutes, waits))
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ startedAt, machine, sizes, minutes, lists, ...waits }, null, 2)}\n`)
  }
}
