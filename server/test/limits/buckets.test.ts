import { expect, it } from 'vitest'
import { MemoryBuckets } from '../../src/limits/buckets.ts'

/** Ten a second, thirty of them at once. */
const size = { perMinute: 600, burst: 30 }

/** Buckets by a clock that goes on when it is told to. */
function createBuckets(of = size) {
  let now = 1_000_000.25
  const buckets = new MemoryBuckets(of, () => now)
  const isTaken = async (points?: number, needed?: number) => (await buckets.take('key', points, needed)).isTaken
  const countTaken = async (tries: number) => {
    let taken = 0
    for (let n = 0; n < tries; n++) if (await isTaken()) taken++
    return taken
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { buckets, isTaken, countTaken, pass }
}

it('A bucket lets its burst through at once, then as much as comes in, and after a pause the burst again', async () => {
  const { countTaken, pass } = createBuckets()
  expect(await countTaken(100)).toBe(30)
  pass(99)
  expect(await countTaken(5)).toBe(0)
  pass(1)
  expect(await countTaken(5)).toBe(1)
  pass(1_000)
  expect(await countTaken(100)).toBe(10)
  pass(3_600_000)
  expect(await countTaken(100)).toBe(30)
})

it('Whoever never stops asking gets no more at the beginning of a minute than in the middle of it', async () => {
  const { countTaken, pass } = createBuckets()
  const bySecond: number[] = []
  for (let second = 0; second < 180; second++) {
    let taken = 0
    for (let tenth = 0; tenth < 10; tenth++) {
      taken += await countTaken(7)
      pass(100)
    }
    bySecond.push(taken)
  }
  expect(bySecond[0]).toBeLessThanOrEqual(size.burst + 10)
  expect(new Set(bySecond.slice(4))).toEqual(new Set([10]))
})

it('A refusal says how long to wait, counts nothing, and what is left is told each time', async () => {
  const { buckets, pass } = createBuckets({ perMinute: 3, burst: 3 })
  const answers = []
  for (let n = 0; n < 5; n++) answers.push(await buckets.take('key'))
  expect(answers.map(({ isTaken }) => isTaken)).toEqual([true, true, true, false, false])
  expect(answers.map(({ left }) => Math.round(left))).toEqual([2, 1, 0, 0, 0])
  expect(answers.map(({ msLeft }) => Math.round(msLeft))).toEqual([0, 0, 0, 20_000, 20_000])
  expect((await buckets.take('other')).isTaken).toBe(true)
  expect(buckets.peek('key')).toEqual(answers[4])
  pass(20_000)
  expect(buckets.peek('key')).toMatchObject({ isTaken: true, msLeft: 0 })
  expect((await buckets.take('key')).isTaken).toBe(true)
})

it('What needs less than it takes leaves a debt, which is made up for before anything else is let through', async () => {
  const { buckets, isTaken, pass } = createBuckets()
  expect(await isTaken(130, 0)).toBe(true)
  expect(await isTaken(130, 0)).toBe(false)
  expect((await buckets.take('key')).msLeft).toBeCloseTo(10_100)
  pass(10_000)
  expect(await isTaken()).toBe(false)
  expect(await isTaken(5, 0)).toBe(true)
})

it('So many keys are known and no more; those that are used stay', async () => {
  const buckets = new MemoryBuckets({ perMinute: 5, burst: 5 }, () => 0, 100)
  for (let n = 0; n < 1_000; n++) {
    await buckets.take(`address-${n}`)
    if (n % 250 === 0) await buckets.take('busy')
    else if (n % 50 === 0) await buckets.take('busy', 0)
  }
  const leftOf = async (key: string) => (await buckets.take(key, 0)).left
  expect(await leftOf('busy')).toBe(1)
  expect(await leftOf('address-999')).toBe(4)
  expect(await leftOf('address-800')).toBe(5)
})
