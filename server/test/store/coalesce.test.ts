import { describe, expect, it } from 'vitest'
import { createCoalescer } from '../../src/store/coalesce.ts'

/** Batches end when they are told to. */
function createHeld(options: { readonly patience?: number; readonly enough?: number }) {
  const batches: Array<{ readonly items: readonly number[]; end(): void }> = []
  const coalescer = createCoalescer<number, number>({
    maxBatch: 8,
    maxInFlight: 2,
    ...options,
    write: (items) => new Promise((resolve) => batches.push({ items, end: () => resolve(items) })),
    isDivisible: () => false,
  })
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  return { batches, turn, submit: coalescer.submit }
}

const patient = 60_000

describe('A coalescer', () => {
  it('lets a few wait for the batch at hand, and enough of them go beside it', async () => {
    const { batches, turn, submit } = createHeld({ patience: patient, enough: 3 })
    const results = [submit(1)]
    await turn()
    results.push(submit(2), submit(3))
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([[1]])

    results.push(submit(4))
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]])

    results.push(submit(5), submit(6), submit(7))
    await turn()
    expect(batches, 'no more than two at once').toHaveLength(2)

    for (let place = 0; place < 3; place++) {
      batches[place]?.end()
      await turn()
    }
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4], [5, 6, 7]])
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('lets a batch that is full go where nothing says how many are enough', async () => {
    const { batches, turn, submit } = createHeld({ patience: patient })
    void submit(1)
    await turn()
    for (let item = 2; item <= 8; item++) void submit(item)
    await turn()
    expect(batches).toHaveLength(1)
    void submit(9)
    await turn()
    expect(batches.map(({ items }) => items.length)).toEqual([1, 8])
    for (const { end } of batches) end()
  })
})
