import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startChild } from './child.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { type Answer, ask, sumUp, type Waits } from './fair/waits.ts'
import { type LiveFigure, milliseconds, renderFigures } from './live/figures.ts'
import { createAsk, inParallel, type Login, makeLogins } from './live/people.ts'
import { progress } from './progress.ts'
import type { Order } from './reconnect/crowd.ts'
import { textTo } from './requests.ts'
import { createDeployment } from './service.ts'
import { describeMachine } from './table.ts'

const usage = `npm run bench:reconnect -- [options]
Measures how long others wait for their conversations while many live clients reconnect after a restart of the service.
  --clients <n>      2,000 without it
  --presence <who>   whose presence each client hears: ALL_USERS, as by default, FRIENDS or NONE
  --sharing          the clients' process competes for the processor; without it, it gets what the others leave, since
                     in real life it runs elsewhere
  --timeline         also how long others waited in each second after the restart
  --profile <folder> leaves CPU profiles of the service there`

const { values: options } = parseArgs({
  options: {
    clients: { type: 'string', default: '2000' },
    presence: { type: 'string', default: 'ALL_USERS' },
    sharing: { type: 'boolean', default: false },
    timeline: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
/** Others, who ask so often, quiet for so long. */
const others = 20
const everyMs = 20
const quietMs = 8000
/** The seconds after a restart that are compared, with clients and without. */
const restartMs = 15_000
const restMs = 3000
const patienceMs = 90_000

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const count = Number(options.clients)
  const deployment = createDeployment({ profileDir: options.profile })
  atEnd(deployment.remove)
  let service = await deployment.start()
  const { port } = service
  atEnd(() => service.stop())
  /** Where clients expect it. */
  const restart = async () => {
    await service.stop()
    service = await deployment.start({ PORT: String(port) })
  }

  progress(`${count} users`)
  const own = createAsk(service)
  const logins = await makeLogins(own, 'back', count + others)
  await inParallel(logins, async ({ uid }) => {
    const next = logins[(logins.findIndex((login) => login.uid === uid) + 1) % logins.length] as Login
    await own('POST', '/messages', textTo(next.uid), uid)
  })
  const asking = logins.slice(count)
  const steadily = (isOver: () => boolean, isTold = false) => askSteadily(port, asking, isOver, isTold)

  progress('a restart that nobody waits for')
  await restart()
  const alone = await steadily(after(restartMs))

  progress('clients connect')
  const crowd = startChild('./reconnect/crowd.js')
  atEnd(crowd.stop)
  if (!options.sharing) setPriority(crowd.pid, constants.priority.PRIORITY_LOW)
  const tell = (order: Order) => crowd.ask<{ live: number }>(order)
  await tell({ connect: logins.slice(0, count), port, presence: options.presence as 'ALL_USERS' })
  const { live } = await tell({ live: count, withinMs: patienceMs })
  if (live < count) throw new Error(`${live} of ${count} clients could connect`)
  await delay(restMs)
  progress('quiet')
  const quiet = await steadily(after(quietMs))

  progress('a restart that all wait for')
  await restart()
  const from = performance.now()
  let back: { live: number; ms: number } | undefined
  const coming = tell({ live: count, withinMs: patienceMs }).then(({ live }) => {
    back = { live, ms: performance.now() - from }
  })
  const isOver = after(restartMs)
  const asked = await steadily(() => back !== undefined && isOver(), options.timeline)
  await coming
  progress('')
  if (back === undefined) throw new Error('nobody said when all were back')
  const first = asked.slice(0, restartMs / everyMs)
  const waits = { alone: sumUp(alone), quiet: sumUp(quiet), first: sumUp(first), meanwhile: sumUp(asked) }
  console.log(`${describeMachine()}\n\n${renderFigures(figuresOf(count, waits, back))}`)
}

function after(ms: number): () => boolean {
  const end = performance.now() + ms
  return () => performance.now() > end
}

/** Asks as often as ever, whether or not the answers before are there. @param isTold prints how long it took, by the second */
async function askSteadily(
  port: number,
  people: readonly Login[],
  isOver: () => boolean,
  isTold: boolean,
): Promise<readonly Answer[]> {
  const asked: Array<Promise<Answer>> = []
  const from = performance.now()
  for (let i = 0; !isOver(); i++) {
    await delay(Math.max(0, from + i * everyMs - performance.now()))
    asked.push(ask(port, { path: '/v3/conversations' }, { token: people[i % people.length]?.token as string }))
  }
  const answers = await Promise.all(asked)
  if (isTold) {
    const perSecond = Math.round(1000 / everyMs)
    for (let i = 0; i < answers.length; i += perSecond) {
      const { p50, max } = sumUp(answers.slice(i, i + perSecond))
      console.log(`second ${i / perSecond + 1}: p50 ${milliseconds(p50)}, at most ${milliseconds(max)}`)
    }
  }
  return answers
}

function figuresOf(
  count: number,
  { alone, quiet, first, meanwhile }: Record<'alone' | 'quiet' | 'first' | 'meanwhile', Waits>,
  back: { live: number; ms: number },
): LiveFigure[] {
  const show = ({ p50, p99, max, count: asked }: Waits) =>
    `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}, at most ${milliseconds(max)} of ${asked}`
  const times = (one: Waits, other: Waits) => (one.p99 / other.p99).toFixed(1)
  const clients = `${count.toLocaleString('en')} clients`
  return [
    { what: `others, while ${clients} are connected and quiet`, value: show(quiet) },
    {
      what: `others, in the ${restartMs / 1000} s after a restart with no clients`,
      value: show(alone),
      beside: `p99 ${times(alone, quiet)} times the quiet one`,
    },
    {
      what: `others, in the ${restartMs / 1000} s after a restart while ${clients} come back`,
      value: show(first),
      beside: `p99 ${times(first, alone)} times that with no clients`,
      goal: 'at most 3 times that with no clients',
      met: first.p99 <= 3 * alone.p99,
    },
    {
      what: `others, after a restart until ${clients} are live again`,
      value: show(meanwhile),
      beside: `p99 ${times(meanwhile, quiet)} times the quiet one`,
      goal: 'at most 3 times the quiet one',
      met: meanwhile.p99 <= 3 * quiet.p99,
    },
    {
      what: 'live again',
      value: `${back.live} in ${(back.ms / 1000).toFixed(1)} s`,
      goal: String(count),
      met: back.live === count,
    },
    {
      what: 'others refused',
      value: String(meanwhile.refused),
      beside: meanwhile.firstRefusal ?? '',
      goal: '0',
      met: meanwhile.refused === 0,
    },
  ]
}
