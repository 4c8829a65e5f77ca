import { parseArgs } from 'node:util'
import { fanout } from './live/fanout.ts'
import { type LiveFigure, renderFigures } from './live/figures.ts'
import { idleSockets } from './live/idle.ts'
import { webhooks } from './live/webhooks.ts'
import { startLoadGenerator } from './load/start.ts'
import { progress } from './progress.ts'
import { type Service, startService } from './service.ts'
import { describeMachine } from './table.ts'

const usage = `npm run bench:live -- [options]
Measures what is told live: memory of idle sockets, the way of a message to those who are connected, webhooks.
  --only <parts>     of idle, fanout, webhooks, with commas between
  --sockets <n>      idle sockets; 10,000 without it`

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'idle,fanout,webhooks' },
    sockets: { type: 'string', default: '10000' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await run(options.only.split(','))

async function run(parts: readonly string[]): Promise<void> {
  const figures: LiveFigure[] = []
  if (parts.includes('fanout')) figures.push(...(await withService((service) => fanout(service, progress))))
  if (parts.includes('webhooks')) {
    const load = startLoadGenerator()
    figures.push(...(await withService((service) => webhooks(service, load, progress)).finally(load.stop)))
  }
  if (parts.includes('idle')) figures.push(...(await idleSockets(Number(options.sockets), progress)))
  progress('')
  console.log(`${describeMachine()}\n\n${renderFigures(figures)}`)
}

async function withService<Result>(work: (service: Service) => Promise<Result>): Promise<Result> {
  const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } })
  try {
    return await work(service)
  } finally {
    await service.stop()
  }
}
