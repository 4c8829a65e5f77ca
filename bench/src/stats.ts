import { parseArgs } from 'node:util'
import { fullExtent } from './bench.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { progress } from './progress.ts'
import { credentials } from './requests.ts'
import { startBench } from './start.ts'
import { describeMachine, renderTable } from './table.ts'

const usage = `npm run bench:stats -- [options]
Measures the usage figures of an app with many users, each active on ten of 31 days, and compares them with a recount.
  --users <n>  users; 1,000,000 without it
  --asks <n>   requests of each kind, one after the other; 50 without it`

const { values: options } = parseArgs({
  options: {
    users: { type: 'string', default: '1000000' },
    asks: { type: 'string', default: '50' },
    help: { type: 'boolean', default: false },
  },
})
const days = 31
const daysOfEach = 10
const dayMs = 86_400_000

/** User number n is active on ten days in a row, round the month, from a day of their own. */
const fill = (users: number, firstDay: number) => [
  `insert into active_users (app_id, day, number)
  select 1, ${firstDay} + (n * 7 + d) % ${days}, n
  from generate_series(0, ${users - 1}) as u(n)
  cross join generate_series(0, ${daysOfEach - 1}) as d`,
  `insert into active_user_bits (app_id, day, chunk, bits)
  select app_id, day, number / 8192, bit_or(set_bit(0::bit(8192), number % 8192, 1))
  from active_users
  group by app_id, day, number / 8192`,
  // Six processes, each of which counted in each of the last twelve stretches of five minutes, and every one of the month.
  `insert into usage_messages (app_id, bucket, process, sent, delivered, read)
  select 1, b, md5(p::text)::uuid, 10, 20, 5
  from generate_series(1, 6) as p
  cross join generate_series((extract(epoch from now()) / 300)::bigint - 288 * ${days}, (extract(epoch from now()) / 300)::bigint) as b`,
  `insert into usage_peaks (app_id, bucket, peak, second)
  select 1, b, 1000 + b % 97, b * 300
  from generate_series(${firstDay * 288}, ${(firstDay + days) * 288}) as b`,
  'vacuum analyze active_users',
  'vacuum analyze active_user_bits',
  'vacuum analyze usage_messages',
  'vacuum analyze usage_peaks',
]

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const { service, database } = await startBench(atEnd, fullExtent)
  const users = Number(options.users)
  const firstDay = Math.floor(Date.now() / dayMs) - days + 1
  progress('filling')
  for (const statement of fill(users, firstDay)) await database.query(statement)

  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${service.port}/v3${path}`, { headers: credentials(service) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { data: { metrics?: { active_users: number } } }
  }
  const range = (from: number, to: number) => `fromDate=${from * dayMs}&toDate=${to * dayMs}`
  const kinds = [
    ['31 days', `/stats?${range(firstDay, firstDay + days - 1)}`],
    ['one day', `/stats?${range(firstDay, firstDay)}`],
    ['31 days, day by day', `/stats/daily?${range(firstDay, firstDay + days - 1)}`],
    ['the last hour', '/stats/messages'],
  ] as const
  const rows: string[][] = []
  for (const [name, path] of kinds) {
    progress(name)
    await ask(path)
    const took: number[] = []
    for (let i = 0; i < Number(options.asks); i++) {
      const startedAt = performance.now()
      await ask(path)
      took.push(performance.now() - startedAt)
    }
    took.sort((a, b) => a - b)
    const at = (share: number) => (took[Math.floor((took.length - 1) * share)] as number).toFixed(1)
    rows.push([name, at(0.5), at(0.9)])
  }
  progress('recounting')
  const { rows: recounted } = await database.query<{ active: string }>(
    'select count(distinct number) as active from active_users where app_id = 1',
  )
  const { data } = await ask(kinds[0][1])
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderTable(['usage figures', 'p50 ms', 'p90 ms'], rows).join('\n'))
  const counted = data.metrics?.active_users
  console.log(`\n${counted} active users; recounted ${recounted[0]?.active}`)
  if (String(counted) !== recounted[0]?.active) throw new Error('the figures differ')
}
