import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

const usage = `npm run bench:tracing -- [options]
Measures what traces cost the service for each send: without a collector, with one trace in a hundred, and with all of them. The
three services take turns, so that a machine that is busy for a while is so for all.
  --rounds <n>   turns of each; 15 without it
  --sends <n>    in a turn; 3000 without it`

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    sends: { type: 'string', default: '3000' },
    help: { type: 'boolean', default: false },
  },
})

const connections = 64
const users = 40

if (options.help) console.log(usage)
else await withCleanup(run)

interface Contender {
  readonly name: string
  readonly service: Service
  /** Microseconds of the service's CPU for a send, of each turn. */
  readonly costs: number[]
}

async function run(atEnd: AtEnd): Promise<void> {
  const collector = await startCollector(atEnd)
  const begin = async (name: string, env: Record<string, string>): Promise<Contender> => {
    const service = await startService({ env })
    atEnd(() => service.stop())
    for (let n = 1; n <= 2 * users; n++) {
      await fetchBody(
        service.port,
        'POST',
        '/v3/users',
        { apiKey: service.apiKey },
        { uid: `u${n}`, name: `User ${n}` },
      )
    }
    return { name, service, costs: [] }
  }
  const sampled = (ratio: string) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: ratio,
  })
  const contenders = [
    await begin('no collector', {}),
    await begin('no collector, once more', {}),
    await begin('a collector, and no trace', sampled('0')),
    await begin('one trace in a hundred', sampled('0.01')),
    await begin('every trace', sampled('1')),
  ] as const
  const sends = Number(options.sends)
  for (const { service } of contenders) await sendMany(service, sends)
  for (let round = 0; round < Number(options.rounds); round++) {
    progress(`round ${round + 1} of ${options.rounds}`)
    // None of them always comes after the same other.
    for (const contender of round % 2 === 0 ? contenders : [...contenders].reverse()) {
      contender.costs.push(await costOf(contender.service, sends))
    }
  }
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderGoals(goals(contenders, collector.posts())).join('\n'))
}

function goals(contenders: readonly Contender[], posts: number): Goal[] {
  const [plain] = contenders as [Contender]
  const row = (name: string, reached: string, goal = '', met = true): Goal => ({ name, goal, reached, met })
  return [
    ...contenders.map(({ name, costs }) => row(`us of CPU for a send, ${name}`, median(costs).toFixed(0))),
    ...contenders.slice(1).map(({ name, costs }) => {
      const ratios = costs.map((cost, round) => cost / (plain.costs[round] as number))
      const middle = median(ratios)
      const isJudged = name === 'one trace in a hundred'
      const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
      return isJudged
        ? row(`${name}, beside none`, `${middle.toFixed(3)} (${spread})`, 'at most 1.05', middle <= 1.05)
        : row(`${name}, beside none`, `${middle.toFixed(3)} (${spread})`)
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
