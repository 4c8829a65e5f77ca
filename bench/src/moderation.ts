import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { compileEngine, type Engine } from '@parley/server/moderation'
import { fullExtent, quickExtent } from './bench.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import type { Goal } from './goals.ts'
import { createCorpus } from './moderation/corpus.ts'
import { measureDryRun } from './moderation/dry-run.ts'
import { measureOuter } from './moderation/outer.ts'
import { fullRules, type Lists, plainRules, type Rules } from './moderation/rules.ts'
import { measureSends } from './moderation/sends.ts'
import { longestTurn } from './moderation/turns.ts'
import { progress } from './progress.ts'
import { describeMachine, renderGoals } from './table.ts'

const usage = `npm run bench:moderation -- [options]
Measures what rules of moderation cost that are judged in the sending process, on texts of 120 characters.
  --sends  also what it costs those who send: the service and a load generator, without rules and with them; some minutes
  --dry-run  also how much a dry run looks at in a second, and what it costs those who send meanwhile; some minutes
  --engines  also what asking an engine outside adds, and what becomes of messages whose engine is dead
  --only   with one of these: only that
  --quick  few rounds, to see that everything works; too short to compare`

const { values: options } = parseArgs({
  options: {
    sends: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    engines: { type: 'boolean', default: false },
    only: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const corpus = createCorpus(12)
const rounds = options.quick ? 3 : 15
const extent = options.quick ? quickExtent : { ...fullExtent, rounds: 5 }

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const goals: Goal[] = []
  if (!options.only) goals.push(...(await measureEngine()))
  if (options.sends)
    for (const { terms: count, throughput, cpu } of await measureSends(atEnd, corpus, extent)) {
      const [most, name] = [count > 10_000 ? 25 : 15, `sends, ${count / 1000},000 terms, 20 patterns`]
      goals.push(goalOf(`${name}: fewer a second`, `at most ${most} %`, 100 * (1 - throughput), most, '%'))
      goals.push(
        goalOf(`${name}: more CPU of the service for each`, '', 100 * (cpu - 1), Number.POSITIVE_INFINITY, '%'),
      )
    }
  if (options['dry-run']) {
    const { rounds: pairs } = extent
    const seconds = options.quick ? 3 : 15
    goals.push(...(await measureDryRun(atEnd, corpus, { rounds: pairs, seconds, isQuick: options.quick })))
  }
  if (options.engines) goals.push(...(await measureOuter(atEnd, options.quick)))
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderGoals(goals).join('\n'))
  if (!options.only) {
    console.log('CPU is that of the process, the median of rounds; p99 over texts, each the fastest of its rounds.')
  }
}

function goalOf(name: string, goal: string, value: number, most: number, unit: string): Goal {
  return { name, goal, reached: `${value.toFixed(1)} ${unit}`, met: value <= most }
}

/** What rules cost by themselves, in this process. */
async function measureEngine(): Promise<Goal[]> {
  const goals: Goal[] = []
  const add = (...of: Parameters<typeof goalOf>) => void goals.push(goalOf(...of))

  for (const [count, most] of [
    [10_000, 60],
    [100_000, 120],
  ] as const) {
    progress(`${count} terms`)
    const { rules, lists } = plainRules(corpus.terms(count))
    const { engine, turn, mebibytes } = await compile(rules, lists)
    const thousands = `${count / 1000},000 terms, 20 patterns`
    add(`lane one, ${thousands}`, `< ${most} us of CPU`, cpuOf(engine), most, 'us')
    if (turn !== undefined) add(`loop held by compiling, ${thousands}`, '< 20 ms', turn, 20, 'ms')
    add(`memory, ${thousands}`, '< 40 MiB', mebibytes, 40, 'MiB')
  }
  progress('all that an app can have')
  const { rules, lists } = fullRules(corpus.terms(100_000))
  const { engine, turn } = await compile(rules, lists)
  const { middle, p99 } = timesOf(engine)
  add('25 rules of 10 conditions, 100,000 terms: median', '', middle, 300, 'us')
  add('25 rules of 10 conditions, 100,000 terms: p99', '< 300 us', p99, 300, 'us')
  if (turn !== undefined) add('loop held by compiling them', '< 20 ms', turn, 20, 'ms')
  return goals
}

async function compile(rules: Rules, lists: Lists) {
  const before = await memoryInUse()
  let engine: Engine | undefined
  const turn = await longestTurn(async () => {
    engine = await compileEngine(rules, lists)
  })
  if (engine === undefined) throw new Error('there is no engine')
  const after = await memoryInUse()
  // What patterns remember grows with what they see.
  for (const text of corpus.texts) engine.judge(messageOf(text))
  // What another thread has compiled is not counted to the memory of this one.
  const mebibytes = Math.max(after, await memoryInUse()) - before + engine.bytes / 2 ** 20
  // The terms are still there, so that what they take is not counted as won.
  if (lists.every(({ terms }) => terms.length === 0)) throw new Error('there is nothing to look for')
  return { engine, turn, mebibytes }
}

async function memoryInUse(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('needs node --expose-gc')
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc()
    await delay(50)
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}

/** Microseconds of CPU for one text. */
function cpuOf(engine: Engine): number {
  const messages = corpus.texts.map(messageOf)
  const each = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    for (const message of messages) engine.judge(message)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / messages.length
  })
  return middleOf(each)
}

/** Microseconds for each text; that of its fastest round, since other processes slow down the others. */
function timesOf(engine: Engine): { middle: number; p99: number } {
  const fastest = corpus.texts.map((text) => {
    const message = messageOf(text)
    let least = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds; round += 1) {
      const began = performance.now()
      engine.judge(message)
      least = Math.min(least, 1000 * (performance.now() - began))
    }
    return least
  })
  fastest.sort((one, other) => one - other)
  return { middle: middleOf(fastest), p99: fastest[Math.floor(fastest.length * 0.99)] ?? 0 }
}

function middleOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0
}

function messageOf(text: string): Parameters<Engine['judge']>[0] {
  const person = { role: 'default', tags: [], createdAt: 1_700_000_000 }
  return {
    kind: 'user',
    category: 'message',
    type: 'text',
    text,
    custom: '',
    files: [],
    sender: { ...person, uid: 'alice', name: 'Alice' },
    receiver: { ...person, uid: 'bob', name: 'Bob' },
  }
}
