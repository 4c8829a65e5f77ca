import { expect, it } from 'vitest'
import { MemoryLimiter } from '../../src/limits/memory-limiter.ts'

it('A limiter in memory knows so many keys and no more; those that are counted stay', async () => {
  const limiter = new MemoryLimiter({ points: 5, duration: 600 }, 100)
  for (let n = 0; n < 1_000; n++) {
    await limiter.penalty(`address-${n}`)
    if (n % 50 === 0) await limiter.penalty('busy')
  }
  const known = async (key: string) => (await limiter.get(key))?.consumedPoints
  expect(await known('busy')).toBe(20)
  expect(await known('address-999')).toBe(1)
  expect(await known('address-800')).toBeUndefined()
  const all = await Promise.all(Array.from({ length: 1_000 }, (_, n) => known(`address-${n}`)))
  expect(all.filter((points) => points !== undefined)).toHaveLength(99)
})
