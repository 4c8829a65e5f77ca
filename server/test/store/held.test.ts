import { expect, it } from 'vitest'
import type { Channel } from '../../src/store/channel.ts'
import { type Coalescer, createCoalescer } from '../../src/store/coalesce.ts'
import type { Database } from '../../src/store/database.ts'
import { createHeldApart } from '../../src/store/held.ts'
import { until } from '../support/until.ts'

interface Item {
  readonly appId: number
  readonly name: string
  readonly n: number
}

const item = (name: string, n: number, appId = 1): Item => ({ name, n, appId })
const lockTimeout = () => Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })

/** A writer of items, some of whose names somebody holds; a negative item spoils its batch. */
function openWriter() {
  const locked = new Set<string>()
  /** Others are just busy with these: whoever has little time does not get them. */
  const busy = new Set<string>()
  const written: string[] = []
  const apart: string[] = []
  const channel = {} as Channel
  const isDivisible = () => true
  const held = createHeldApart<Item, string>({
    ...{ database: { openChannel: () => channel } as unknown as Database, name: 'test', maxBatch: 4, isDivisible },
    appOf: ({ appId }) => appId,
    nameOf: ({ name }) => name,
    resume: (items) => coalescer.resume(items),
    async write(_channel, items, { isHurried, isApart }) {
      // As the database answers: not at once.
      await new Promise((resolve) => setTimeout(resolve, 1))
      if (items.some(({ name }) => locked.has(name) || (isHurried && busy.has(name)))) throw lockTimeout()
      if (items.some(({ n }) => n < 0)) throw new Error('spoilt')
      if (isApart) apart.push(...items.map(({ name }) => name))
      written.push(...items.map(({ name, n }) => `${name} ${n}`))
      return items.map(({ name, n }) => `${name} ${n}`)
    },
    findHeld: async (_channel, items) => items.flatMap(({ name }, place) => (locked.has(name) ? place : [])),
  })
  const coalescer: Coalescer<Item, string> = createCoalescer({
    ...{ maxBatch: 4, maxInFlight: 1, isDivisible },
    write: (items) => held.write(channel, items),
  })
  return { locked, busy, written, apart, submit: coalescer.submit, drain: () => coalescer.drain().then(held.drain) }
}

it('What is held waits apart, and is written once and in its order when it is free', async () => {
  const { locked, written, submit, drain } = openWriter()
  locked.add('a')
  const first = Array.from({ length: 6 }, (_, n) => submit(item('a', n)))
  expect(await Promise.all([submit(item('b', 1)), submit(item('c', 1, 2))])).toEqual(['b 1', 'c 1'])
  const later = Array.from({ length: 6 }, (_, n) => submit(item('a', n + 6)))
  expect(await submit(item('b', 2))).toBe('b 2')
  locked.clear()
  await Promise.all([...first, ...later])
  await drain()
  const all = Array.from({ length: 12 }, (_, n) => `a ${n}`)
  expect(written.filter((name) => name.startsWith('a'))).toEqual(all)
  expect(new Set(written).size).toBe(written.length)
})

it('What others are just busy with does not wait apart, also while something is held', async () => {
  const { locked, busy, apart, submit, drain } = openWriter()
  locked.add('a')
  busy.add('b')
  const held = submit(item('a', 1))
  await submit(item('c', 1))
  expect(await Promise.all([submit(item('b', 1)), submit(item('c', 2)), submit(item('d', 1, 2))])).toHaveLength(3)
  locked.clear()
  await held
  await drain()
  expect(apart).toEqual(['a'])
})

it('A bad one fails alone, beside what is held and among it, and the others are written once', async () => {
  const { locked, written, submit } = openWriter()
  locked.add('a')
  const asked = [submit(item('a', 1)), submit(item('b', -1)), submit(item('b', 2)), submit(item('c', 3))]
  const more = [submit(item('a', -2)), submit(item('a', 3))]
  const settled = Promise.allSettled([...asked, ...more])
  await until(() => written.length === 2)
  locked.clear()
  expect((await settled).map(({ status }) => status)).toEqual([
    ...['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    ...['rejected', 'fulfilled'],
  ])
  expect(written.toSorted()).toEqual(['a 1', 'a 3', 'b 2', 'c 3'])
})

it('Beyond their places those of one app are refused, and those of others are not', async () => {
  const { locked, submit } = openWriter()
  locked.add('a')
  locked.add('b')
  const asked = Array.from({ length: 2_004 }, (_, n) => submit(item('a', n)))
  const outcomes = asked.map((answer) => answer.then(() => 'written').catch((error: Error) => error.name))
  expect(await Promise.race(outcomes)).toBe('ReadsFullError')
  const other = submit(item('b', 1, 2))
  locked.clear()
  expect(await other).toBe('b 1')
  const all = await Promise.all(outcomes)
  expect(all.filter((outcome) => outcome === 'ReadsFullError')).toHaveLength(4)
})
