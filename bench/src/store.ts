import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startChild } from './child.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { type LiveFigure, milliseconds, renderFigures } from './live/figures.ts'
import { createAsk, type Login, makeLogins } from './live/people.ts'
import { progress } from './progress.ts'
import { textTo } from './requests.ts'
import { startService } from './service.ts'
import type { Held, Order } from './store/holder.ts'
import { describeMachine } from './table.ts'

const usage = `npm run bench:store -- [options]
Measures what it takes a live client to hold a conversation on screen into which messages come, beside a plain socket of the
same user whose frames are only parsed.
  --messages <n>   10,000 without it
  --seconds <s>    over which they are sent; 60 without it`

const { values: options } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const [count, seconds] = [Number(options.messages), Number(options.seconds)]
  const service = await startService()
  atEnd(service.stop)
  const ask = createAsk(service)
  const [reader, sender] = (await makeLogins(ask, 'store', 2)) as [Login, Login]
  const holders = (['store', 'socket'] as const).map((open) => {
    const child = startChild('./store/holder.js')
    atEnd(child.stop)
    return { open, tell: <Answer>(order: Order) => child.ask<Answer>(order) }
  })
  const each = async <Answer>(order: (open: 'store' | 'socket') => Order) =>
    await Promise.all(holders.map(({ open, tell }) => tell<Answer>(order(open))))
  await each((open) => ({ open, port: service.port, login: reader, peer: sender.uid }))

  progress(`${count} messages in ${seconds} s`)
  await each(() => ({ measure: 'begin' }))
  const from = performance.now()
  const sent: Array<Promise<unknown>> = []
  for (let i = 0; i < count; i++) {
    const early = from + (i / count) * seconds * 1000 - performance.now()
    if (early > 1) await delay(early)
    sent.push(ask('POST', '/messages', textTo(reader.uid), sender.uid))
  }
  await Promise.all(sent)
  await delay(2000)
  const [store, socket] = (await each<Held>(() => ({ measure: 'end' }))) as [Held, Held]
  progress('')
  console.log(`${describeMachine()}\n\n${renderFigures(figuresOf(count, store, socket))}`)
}

function figuresOf(count: number, store: Held, socket: Held): LiveFigure[] {
  const share = ({ cpuSeconds, seconds }: Held) => `${((cpuSeconds / seconds) * 100).toFixed(1)} %`
  const each = ({ cpuSeconds }: Held) => `${((cpuSeconds / count) * 1e6).toFixed(0)} us`
  return [
    {
      what: 'messages shown, each once',
      value: String(store.messages),
      beside: `${socket.messages} frames`,
      goal: String(count),
      met: store.messages === count,
    },
    { what: 'CPU, share of a core', value: share(store), beside: `${share(socket)} parsing alone` },
    { what: 'CPU of each message', value: each(store), beside: each(socket) },
    {
      what: 'longest task',
      value: milliseconds(store.longestTask),
      beside: milliseconds(socket.longestTask),
      goal: 'at most 50 ms',
      met: store.longestTask <= 50,
    },
  ]
}
