import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startChild } from './child.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import type { Goal } from './goals.ts'
import { median } from './measure.ts'
import { cpuSeconds } from './processes.ts'
import { progress } from './progress.ts'
import { fetchBody } from './requests.ts'
import { type Service, startService } from './service.ts'
import { describeMachine, renderGoals } from './table.ts'
import type { Collected } from './tracing/collector.ts'
import { type Load, startLoad, users } from './tracing/load.ts'

const usage = `npm run bench:tracing -- [options]
Measures what traces cost the service for each send. Two processes of the same program differ by more than what is looked for, and so do
two minutes of a virtual machine. So one service takes turns with itself, many times a minute and under load all the time: whoever sends
says by \`traceparent\` what is traced. And what is compared is CPU beside that of what makes the load in the same turn, which does
the same for each send. A service without a collector takes a few turns, too.
  --starts <n>   2 without it
  --rounds <n>   turns of each kind in a start; 20 without it
  --seconds <n>  of a turn; 1.5 without it
  --quick        one start and three short rounds, to see that everything works
  --raw          also prints each turn
  --profile <f>  leaves a CPU profile of each service in this folder, which costs, too`

const { values: options } = parseArgs({
  options: {
    starts: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1.5' },
    quick: { type: 'boolean', default: false },
    raw: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

/** For how long spans gather before they are sent; and for how long a turn has begun before it counts, so that what it sends is its own. */
const gatherMs = 500

/** What is sent in a turn: to the service without a collector, or to that with one, and of how many one is traced. */
const kinds = {
  off: { name: 'no collector', oneIn: 0 },
  before: { name: 'a collector, and no trace yet', oneIn: 0 },
  none: { name: 'a collector, and no trace', oneIn: 0 },
  hundredth: { name: 'one trace in a hundred', oneIn: 100 },
  every: { name: 'every trace', oneIn: 1 },
} as const
type Kind = keyof typeof kinds

interface Turn {
  readonly sends: number
  /** Microseconds of the service's CPU for a send. */
  readonly cost: number
  /** The same of what makes the load. */
  readonly load: number
}

/** A round: one turn of each of its kinds. */
type Round = Partial<Record<Kind, Turn>>

interface Rounds {
  readonly first: readonly Round[]
  readonly between: readonly Round[]
  readonly last: readonly Round[]
}

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const collector = startChild('./tracing/collector.js')
  atEnd(() => collector.stop())
  const { address } = await collector.ask<Collected>({})
  const [starts, rounds] = options.quick ? [1, 3] : [Number(options.starts), Number(options.rounds)]
  let stop = async () => {}
  atEnd(() => stop())
  const all: Rounds[] = []
  let collected: Collected = { address, posts: 0, spans: {} }
  for (let start = 1; start <= starts; start++) {
    progress(`start ${start} of ${starts}`)
    const without = await begin(undefined, `without-${start}`)
    stop = () => without.stop()
    const traced = await begin(address, `traced-${start}`)
    stop = async () => void (await Promise.all([without.stop(), traced.stop()]))
    const first = await inTurns(without, ['off'], Math.ceil(rounds / 5))
    const load = await warmUp(traced)
    first.push(...(await inTurns(traced, ['before'], Math.ceil(rounds / 5), load)))
    // Until the engine has compiled anew what it thought would have no trace.
    load.oneIn = 100
    await delay(options.quick ? 500 : 4_000)
    await collector.ask({})
    const between = await inTurns(traced, ['none', 'hundredth'], rounds, load)
    collected = await collector.ask<Collected>({})
    const last = await inTurns(traced, ['every'], 2, load)
    await load.stop()
    all.push({ first, between, last })
    await stop()
    stop = async () => {}
  }
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderGoals(goals(all, collected)).join('\n'))
}

async function begin(collector: string | undefined, name: string): Promise<Service> {
  const env =
    collector === undefined
      ? {}
      : {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector,
          OTEL_TRACES_SAMPLER: 'parentbased_always_off',
          OTEL_BSP_SCHEDULE_DELAY: String(gatherMs),
        }
  const service = await startService({ env, profileDir: options.profile && join(options.profile, name) })
  for (let n = 1; n <= 2 * users; n++) {
    await fetchBody(service.port, 'POST', '/v3/users', { apiKey: service.apiKey }, { uid: `u${n}`, name: `User ${n}` })
  }
  return service
}

/** Until the engine has compiled what is asked often. */
async function warmUp(service: Service): Promise<Load> {
  const load = startLoad(service)
  await delay(options.quick ? 1_000 : 5_000)
  return load
}

/** @param running a load that goes on; without it there is one for these turns */
async function inTurns(service: Service, order: readonly Kind[], rounds: number, running?: Load): Promise<Round[]> {
  const load = running ?? (await warmUp(service))
  const all: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const turns: Round = {}
    // There and back again: what gets slower or faster all the time does so for each of them.
    for (const kind of round % 2 === 0 ? order : order.toReversed()) {
      load.oneIn = kinds[kind].oneIn
      await delay(gatherMs)
      turns[kind] = await measure(service, load)
      if (options.raw) console.log(kind, JSON.stringify(turns[kind]))
    }
    all.push(turns)
  }
  if (running === undefined) await load.stop()
  return all
}

async function measure({ pid }: Service, load: Load): Promise<Turn> {
  const read = () => ({ sent: load.sent, service: cpuSeconds(pid) ?? Number.NaN, own: process.cpuUsage() })
  const before = read()
  await delay(Number(options.seconds) * 1000)
  const after = read()
  const sends = after.sent - before.sent
  const own = after.own.user + after.own.system - before.own.user - before.own.system
  return { sends, cost: ((after.service - before.service) * 1e6) / sends, load: own / sends }
}

function goals(all: readonly Rounds[], { posts, spans }: Collected): Goal[] {
  const row = (name: string, reached: string, goal = '', met = true): Goal => ({ name, goal, reached, met })
  const turnsOf = ({ first, between, last }: Rounds, kind: Kind) =>
    [...first, ...between, ...last].flatMap((round) => round[kind] ?? [])
  const plain = ({ cost }: Turn) => cost
  const relative = ({ cost, load }: Turn) => cost / load
  const cost = (kind: Kind) => median(all.flatMap((start) => turnsOf(start, kind)).map(plain)).toFixed(0)
  /** Of each start, since two starts differ. */
  const beside = (kind: Kind, other: Kind, read = relative) =>
    all
      .map((start) => median(turnsOf(start, kind).map(read)) / median(turnsOf(start, other).map(read)))
      .map((ratio) => ratio.toFixed(2))
      .join(', ')
  const pairs = all.flatMap(({ between }) =>
    between.map(({ none, hundredth }) => relative(hundredth as Turn) / relative(none as Turn)),
  )
  const told = Object.values(spans).reduce((sum, count) => sum + count, 0)
  return [
    ...Object.entries(kinds).map(([kind, { name }]) => row(`us of CPU for a send, ${name}`, cost(kind as Kind))),
    row(
      'one trace in a hundred, beside none in the turn before or after',
      spread(pairs),
      'at most 1.05',
      median(pairs) <= 1.05,
    ),
    row('a collector and no trace yet, beside no collector, in each start', beside('before', 'off')),
    row('no trace, once there were some, beside before, in each start', beside('none', 'before')),
    // What makes the load has more to do for each of these.
    row('every trace, beside none, in each start, without regard to the load', beside('every', 'none', plain)),
    row('spans for each traced send', (told / (spans['send-message'] ?? Number.NaN)).toFixed(1)),
    row('posts to the collector, in the last start', String(posts), 'some', posts > 0),
  ]
}

/** The median of what was drawn, and where that of all lies in 95 of 100 cases, whatever they are spread like. */
function spread(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other)
  const reach = 0.98 * Math.sqrt(sorted.length)
  const at = (place: number) => (sorted[Math.max(0, Math.min(sorted.length - 1, place))] as number).toFixed(3)
  const middle = sorted.length / 2
  return `${median(sorted).toFixed(3)} (${at(Math.floor(middle - reach))} to ${at(Math.ceil(middle + reach) - 1)}, of ${sorted.length} pairs)`
}
