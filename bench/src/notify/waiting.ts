import { setTimeout as delay } from 'node:timers/promises'
import type { LiveFigure } from '../live/figures.ts'
import { residentMemory } from '../processes.ts'
import { progress } from '../progress.ts'
import { fillGroup } from './backlog.ts'
import { type NotifyWorld, pauseSending, resumeSending, untilWaiting } from './world.ts'

const quietMs = 10_000
const goalMegabytes = 64

/** How much more memory the service has while many notifications wait, and while they are sent. */
export async function measureWaiting(world: NotifyWorld): Promise<LiveFigure[]> {
  const { extent, service, providers } = world
  const members = extent.groups[0] as number
  const messages = Math.ceil(extent.waiting / (members - 1))
  const expected = messages * (members - 1)
  const memory = () => (residentMemory(service.pid)?.now ?? Number.NaN) / 1024 ** 2
  await pauseSending(world)
  await delay(quietMs)
  const before = memory()
  await fillGroup(world, members, messages)
  await untilWaiting(world, expected, 'planning')
  await delay(quietMs)
  const waiting = memory()
  await providers.forget()
  await resumeSending(world)
  progress(`sending ${expected} pushes`)
  let highest = waiting
  const watch = setInterval(() => {
    highest = Math.max(highest, memory())
  }, 100)
  await providers.until(expected)
  clearInterval(watch)
  await untilWaiting(world, 0)
  const more = (megabytes: number) => `${(megabytes - before).toFixed(0)} MB more`
  const what = `memory with ${expected.toLocaleString('en')} waiting`
  return [
    {
      what,
      value: more(waiting),
      beside: `${before.toFixed(0)} MB before`,
      goal: `at most ${goalMegabytes} MB more`,
      met: waiting - before <= goalMegabytes,
    },
    {
      what: `${what}, while they are sent, at most`,
      value: more(highest),
      goal: `at most ${goalMegabytes} MB more`,
      met: highest - before <= goalMegabytes,
    },
  ]
}
