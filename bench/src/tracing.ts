import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { createCpuClock, whenAtRest } from './cpu.ts'
import type { Goal } from './goals.ts'
import { openConnection } from './load/connection.ts'
import { median } from './measure.ts'
import { cpuSeconds } from './processes.ts'
import { progress } from './progress.ts'
import { fetchBody, postRequest, textTo } from './requests.ts'
import { type Service, startService } from './service.ts'
import { describeMachine, renderGoals } from './table.ts'

const kinds = [
  { kind: 'none', name: 'no collector', ratio: undefined },
  { kind: 'again', name: 'no collector, once more', ratio: undefined },
  { kind: 'zero', name: 'a collector, and no trace', ratio: '0' },
  { kind: 'hundredth', name: 'one trace in a hundred', ratio: '0.01' },
  { kind: 'every', name: 'every trace', ratio: '1' },
] as const

const usage = `npm run bench:tracing -- [options]
Measures what traces cost the service for each send: without a collector, with one trace in a hundred, with all of them. Two processes of
the same program, started one after the other, differ by more than what is looked for. So each kind of service is started several
times, and of each start they take turns in an order that is drawn anew, so that a machine that is busy for a while is so for all.
  --starts <n>   of each kind; 6 without it
  --rounds <n>   turns of each start; 4 without it
  --sends <n>    in a turn; 3000 without it
  --only <kinds> such as none,hundredth; of ${kinds.map(({ kind }) => kind).join(', ')}
  --quick        one start and one short turn, to see that everything works
  --profile <f>  leaves a CPU profile of each service in this folder, which costs, too`

const { values: options } = parseArgs({
  options: {
    starts: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '4' },
    sends: { type: 'string', default: '3000' },
    only: { type: 'string', default: kinds.map(({ kind }) => kind).join(',') },
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const connections = 64
const users = 40

if (options.help) console.log(usage)
else await withCleanup(run)

/** A sort of service, with what was measured of it. */
interface Contender {
  readonly kind: string
  readonly name: string
  readonly ratio: string | undefined
  /** Microseconds of the service's CPU for a send, of each start: the median of its turns. */
  readonly costs: number[]
}

interface Running {
  readonly contender: Contender
  readonly service: Service
  /** Microseconds of its CPU for a send, of each turn. */
  readonly turns: number[]
}

async function run(atEnd: AtEnd): Promise<void> {
  const collector = await startCollector(atEnd)
  const wanted = options.only.split(',')
  const contenders: Contender[] = kinds.flatMap((about) => (wanted.includes(about.kind) ? { ...about, costs: [] } : []))
  const sends = options.quick ? 300 : Number(options.sends)
  const [starts, rounds] = options.quick ? [1, 1] : [Number(options.starts), Number(options.rounds)]
  let running: Running[] = []
  const stop = async () => {
    const stopped = running
    running = []
    for (const { service } of stopped) await service.stop()
  }
  atEnd(stop)
  for (let start = 1; start <= starts; start++) {
    progress(`start ${start} of ${starts}`)
    for (const contender of shuffled(contenders)) {
      const service = await begin(contender, collector.address, `${contender.kind}-${start}`)
      running.push({ contender, service, turns: [] })
    }
    // Until the engine has compiled what is asked often.
    for (const { service } of running) await sendMany(service, 2 * sends)
    for (let round = 0; round < rounds; round++) {
      // None of them always comes after the same other.
      for (const { service, turns } of shuffled(running)) {
        turns.push(await costOf(service, sends))
      }
    }
    for (const { contender, turns } of running) contender.costs.push(median(turns))
    await stop()
  }
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderGoals(goals(contenders, collector.posts())).join('\n'))
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)
}

async function begin({ ratio }: Contender, collector: string, name: string): Promise<Service> {
  const env =
    ratio === undefined
      ? {}
      : {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector,
          OTEL_TRACES_SAMPLER: 'traceidratio',
          OTEL_TRACES_SAMPLER_ARG: ratio,
        }
  const service = await startService({ env, profileDir: options.profile && join(options.profile, name) })
  for (let n = 1; n <= 2 * users; n++) {
    await fetchBody(service.port, 'POST', '/v3/users', { apiKey: service.apiKey }, { uid: `u${n}`, name: `User ${n}` })
  }
  return service
}

function goals(contenders: readonly Contender[], posts: number): Goal[] {
  const row = (name: string, reached: string, goal = '', met = true): Goal => ({ name, goal, reached, met })
  const spread = (values: readonly number[], digits: number) =>
    `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`
  const without = contenders.filter(({ ratio }) => ratio === undefined)
  const beside = ({ costs }: Contender) =>
    costs.map(
      (cost, start) => cost / (without.reduce((sum, of) => sum + (of.costs[start] as number), 0) / without.length),
    )
  return [
    ...contenders.map((contender) => row(`us of CPU for a send, ${contender.name}`, spread(contender.costs, 0))),
    ...contenders.slice(1).map((contender) => {
      const ratios = beside(contender)
      const name = `${contender.name}, beside those without`
      return contender.kind === 'hundredth'
        ? row(name, spread(ratios, 3), 'at most 1.05', median(ratios) <= 1.05)
        : row(name, spread(ratios, 3))
    }),
    row('posts to the collector', String(posts), 'some', posts > 0),
  ]
}

/** Microseconds of the service's CPU for a send, with what it does afterwards, such as the search index. */
async function costOf(service: Service, sends: number): Promise<number> {
  const before = cpuSeconds(service.pid) ?? Number.NaN
  await sendMany(service, sends)
  await whenAtRest(createCpuClock({ service: service.pid, postgres: service.postgresPid, load: process.pid }))
  return (((cpuSeconds(service.pid) ?? Number.NaN) - before) * 1e6) / sends
}

/** Sends over all connections at once, each one message after the other. */
async function sendMany({ port, apiKey }: Service, sends: number): Promise<void> {
  let begun = 0
  await Promise.all(
    Array.from({ length: connections }, (_, place) => {
      const requests = Array.from({ length: 8 }, (_, n) =>
        Buffer.from(
          postRequest('/v3/messages', textTo(`u${users + 1 + ((place + n) % users)}`), {
            ...{ apiKey, as: `u${1 + (place % users)}` },
          }),
        ),
      )
      return new Promise<void>((resolve, reject) => {
        const next = () => {
          if (begun++ < sends) connection.send(requests[begun % requests.length] as Buffer)
          else {
            connection.close()
            resolve()
          }
        }
        const connection = openConnection(port, {
          open: next,
          answer: (status, body) => (status === 200 ? next() : reject(new Error(`${status}: ${body}`))),
          broken: (reason) => reject(new Error(reason)),
        })
      })
    }),
  )
}

/** Takes whatever is posted. */
async function startCollector(atEnd: AtEnd): Promise<{ readonly address: string; posts(): number }> {
  let posts = 0
  const server = createServer((request, response) => {
    posts++
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posts: () => posts }
}
