import { parseArgs } from 'node:util'
import { createServerClient } from '@parley/client'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { progress } from './progress.ts'
import { credentials } from './requests.ts'
import { startService } from './service.ts'
import { describeMachine, renderTable } from './table.ts'

const usage = `npm run bench:client -- [options]
Measures what the client for Node.js costs beside plain fetch: both make the same calls in turns, one after the other.
  --calls <n>   calls of each in a round; 500 without it
  --rounds <n>  rounds that are measured; 20 without it`

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
})

interface Cost {
  readonly ms: number
  readonly cpuUs: number
}

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const service = await startService()
  atEnd(service.stop)
  const url = `http://127.0.0.1:${service.port}`
  const parley = createServerClient({ url, apiKey: service.apiKey })
  await parley.users.create({ uid: 'ann', name: 'Ann' })
  await parley.users.create({ uid: 'ben', name: 'Ben' })
  const ann = parley.as('ann')
  const headers = { ...credentials({ ...service, as: 'ann' }), 'content-type': 'application/json' }
  const fetched = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${url}/v3${path}`, { ...init, headers })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return (await answer.json()) as { data: { uid: string } }
  }
  const data = { text: 'Shall we meet at six?' }
  const to = { receiver: 'ben', receiverType: 'user', data } as const
  const kinds = [
    ['a user is read', () => fetched('/users/ben'), () => ann.users.get({ uid: 'ben' })],
    [
      'a message is sent',
      () => fetched('/messages', { method: 'POST', body: JSON.stringify(to) }),
      () => ann.messages.send(to),
    ],
  ] as const

  const rows: string[][] = []
  for (const [name, plain, typed] of kinds) {
    const costs: Array<readonly [Cost, Cost]> = []
    const [calls, rounds] = [Number(options.calls), Number(options.rounds)]
    // The first rounds warm up.
    for (let round = -2; round < rounds; round++) {
      progress(`${name}, round ${round + 1}`)
      // In turns, and who is first takes turns as well.
      const inTurns = round % 2 === 0
      const first = await costOf(inTurns ? plain : typed, calls)
      const second = await costOf(inTurns ? typed : plain, calls)
      if (round >= 0) costs.push(inTurns ? [first, second] : [second, first])
    }
    const median = (of: (pair: readonly [Cost, Cost]) => number) =>
      costs.map(of).sort((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Number.NaN
    rows.push([
      name,
      `${median(([a]) => a.cpuUs).toFixed(0)}, ${median(([, b]) => b.cpuUs).toFixed(0)}`,
      `${median(([a]) => a.ms * 1000).toFixed(0)}, ${median(([, b]) => b.ms * 1000).toFixed(0)}`,
      median(([a, b]) => b.ms / a.ms).toFixed(2),
    ])
  }
  progress('')
  console.log(`${describeMachine()}\n`)
  const head = ['call', 'CPU us: fetch, client', 'us: fetch, client', 'the client takes times']
  console.log(renderTable(head, rows).join('\n'))
}

/** Of each call, one after the other. */
async function costOf(call: () => Promise<unknown>, calls: number): Promise<Cost> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  for (let n = 0; n < calls; n++) await call()
  const { user, system } = process.cpuUsage(cpu)
  return { ms: (performance.now() - startedAt) / calls, cpuUs: (user + system) / calls }
}
