import { setTimeout as delay } from 'node:timers/promises'
import { times } from '../bench.ts'
import { type LiveFigure, rate } from '../live/figures.ts'
import { startLoadGenerator } from '../load/start.ts'
import { progress } from '../progress.ts'
import { postRequest, textTo } from '../requests.ts'
import { sendBare } from './bare.ts'
import {
  type Cpu,
  eachOf,
  groupOf,
  type NotifyWorld,
  pauseSending,
  resumeSending,
  uidOf,
  untilWaiting,
} from './world.ts'

const goal = 2_000
const connections = 32

/** How fast what waits is sent and logged, and what it costs; each of another message, and all of a few messages. */
export async function measureBacklog(world: NotifyWorld): Promise<LiveFigure[]> {
  const { backlog, groups } = world.extent
  const bare = await sendBare(world, backlog)
  const members = groups[0] as number
  const single = await drain(world, backlog, () => fillSingle(world, backlog))
  const grouped = await drain(world, Math.ceil(backlog / (members - 1)) * (members - 1), () =>
    fillGroup(world, members, Math.ceil(backlog / (members - 1))),
  )
  return [
    {
      what: `${backlog} pushes that wait, half FCM, half APNs, each of another message: sent`,
      value: rate(single.sent),
      beside: `${rate(bare)} by bare clients`,
      goal: `at least ${rate(goal)}`,
      met: single.sent >= goal,
    },
    {
      what: 'the same, sent and logged',
      value: rate(single.logged),
      goal: `at least ${rate(goal)}`,
      met: single.logged >= goal,
    },
    ...cpuFigures('the same', 'push', single.cpu),
    {
      what: `as many of messages to a group of ${members}, sent and logged`,
      value: rate(grouped.logged),
      beside: `${rate(bare)} by bare clients`,
    },
    ...cpuFigures(`messages to a group of ${members}`, 'push', grouped.cpu),
  ]
}

interface Drained {
  readonly sent: number
  readonly logged: number
  /** Microseconds for each push. */
  readonly cpu: Cpu | undefined
}

export async function drain(world: NotifyWorld, expected: number, fill: () => Promise<void>): Promise<Drained> {
  const { providers, readCpu } = world
  await pauseSending(world)
  await fill()
  await untilWaiting(world, expected, 'planning')
  // Planning is over, and what it left to the database, too.
  await delay(2_000)
  await providers.forget()
  progress(`sending ${expected} pushes`)
  const before = readCpu()
  await resumeSending(world)
  const { firstAt, lastAt } = await providers.until(expected)
  await untilWaiting(world, 0)
  const loggedAt = performance.timeOrigin + performance.now()
  const after = readCpu()
  return {
    sent: (expected / (lastAt - firstAt)) * 1000,
    logged: (expected / (loggedAt - firstAt)) * 1000,
    cpu: eachOf(expected, before, after),
  }
}

/** @param one that was done, as the table calls it */
export function cpuFigures(what: string, one: string, cpu: Cpu | undefined): LiveFigure[] {
  if (cpu === undefined) return []
  const micro = (value: number) => `${Math.round(value)} us`
  return [
    {
      what: `${what}: CPU for each ${one}, service`,
      value: micro(cpu.service),
      beside: `PostgreSQL ${micro(cpu.postgres)}, emulators ${micro(cpu.providers)}`,
    },
  ]
}

/**
 * Every message is of another pair, as far as there are pairs.
 * @param people so many, and what they are called
 */
export async function fillSingle(
  world: NotifyWorld,
  count: number,
  people = world.extent.people,
  nameOf = uidOf,
): Promise<void> {
  const requests = times(count, (i) => {
    const from = i % people
    const to = (from + 1 + Math.floor(i / people)) % people
    return postRequest('/v3/messages', textTo(nameOf(to)), { apiKey: world.service.apiKey, as: nameOf(from) })
  })
  await sendAll(world, requests)
}

/** All by one, since whoever sends has read what came before. */
export async function fillGroup(world: NotifyWorld, members: number, messages: number): Promise<void> {
  const { apiKey } = world.service
  const request = postRequest('/v3/messages', textTo(groupOf(members), 'group'), { apiKey, as: uidOf(0) })
  await sendAll(
    world,
    times(messages, () => request),
  )
}

/** Sends each once. */
async function sendAll({ service }: NotifyWorld, requests: readonly string[]): Promise<void> {
  const load = startLoadGenerator()
  try {
    const lists = times(Math.min(connections, requests.length), (c) => requests.filter((_, i) => i % connections === c))
    const result = await load.run({ port: service.port, connections: lists, repeat: false, warmup: 0, seconds: 600 })
    if (result.failures > 0) throw new Error(`${result.failures} sends failed, the first with ${result.firstFailure}`)
  } finally {
    load.stop()
  }
}
