import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createPace } from '../../src/delivery/outbound/pace.ts'
import type { Demand } from '../../src/metrics.ts'
import { soon } from '../support/until.ts'

/**
 * Works without a pause, a turn of the event loop after the other, as if clients asked for it. Turns are short, since only
 * a few attempts begin in each: where they are long, as on a busy machine, that is what holds them back.
 *
 * @returns stops it
 */
function keepBusy(demand: Demand, asks = 100): () => void {
  let isOver = false
  const work = () => {
    demand.count += asks
    const until = performance.now() + 2
    while (performance.now() < until);
    if (!isOver) setImmediate(work)
  }
  work()
  return () => {
    isOver = true
  }
}

/** Asks for so many turns at once, and counts those that were given. */
function ask(pace: ReturnType<typeof createPace>, turns: number) {
  const given = { count: 0, all: Promise.resolve() }
  const take = async () => {
    await pace.turn()
    given.count++
  }
  given.all = Promise.all(Array.from({ length: turns }, take)).then(() => {})
  return given
}

it('a process that has its hands full lets a few attempts through, and in time all of them', async () => {
  const demand = { count: 0 }
  const pace = createPace(demand)
  const stop = keepBusy(demand)
  try {
    const asked = ask(pace, 600)
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked.count).toBeGreaterThan(0)
    expect(asked.count).toBeLessThan(600)
    await asked.all
    expect(asked.count).toBe(600)
  } finally {
    stop()
  }
})

it('a process that has its hands full lets more through of what somebody waits for', async () => {
  const demand = { count: 0 }
  const [usual, urgent] = [createPace(demand), createPace(demand, 1_000)]
  const stop = keepBusy(demand)
  try {
    // A machine that gives this process no time makes its turns so long that they hold both back alike: then it is looked at again.
    await soon(async () => {
      const [some, more] = [ask(usual, 300), ask(urgent, 2_000)]
      await some.all
      const given = more.count
      await more.all
      expect(given).toBeGreaterThan(2 * some.count)
    })
  } finally {
    stop()
  }
})

it('a process that was blocked as a whole goes on with attempts, and once it has room holds none back', async () => {
  const demand = { count: 0 }
  const pace = createPace(demand)
  demand.count = 1_000
  const until = performance.now() + 300
  while (performance.now() < until);
  const blocked = ask(pace, 300)
  await new Promise((resolve) => setImmediate(resolve))
  expect(blocked.count).toBeGreaterThan(0)
  expect(blocked.count).toBeLessThan(300)
  // Nothing to do for a while.
  await delay(500)
  await blocked.all

  const before = performance.now()
  await ask(pace, 20_000).all
  // Held back, they would take more than a minute.
  expect(performance.now() - before).toBeLessThan(20_000)
})

it('a process that has its hands full with attempts alone holds none back, and gives way as soon as clients ask', async () => {
  const demand = { count: 0 }
  const pace = createPace(demand)
  const stop = keepBusy(demand, 0)
  try {
    await new Promise((resolve) => setImmediate(resolve))
    const unasked = ask(pace, 20_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(unasked.count).toBe(20_000)
    demand.count = 1_000
    const until = performance.now() + 100
    while (performance.now() < until);
    const asked = ask(pace, 600)
    await soon(() => expect(asked.count).toBeGreaterThan(0))
    expect(asked.count).toBeLessThan(600)
    await asked.all
  } finally {
    stop()
  }
})

it('a process that has room lets clients have their turn after every few attempts', async () => {
  const demand = { count: 0 }
  const pace = createPace(demand)
  demand.count = 1_000
  const asked = ask(pace, 100)
  const perTurn: number[] = []
  while (asked.count < 100) {
    const before = asked.count
    await new Promise((resolve) => setImmediate(resolve))
    perTurn.push(asked.count - before)
  }
  expect(Math.max(...perTurn)).toBeLessThan(30)
  await asked.all
})
