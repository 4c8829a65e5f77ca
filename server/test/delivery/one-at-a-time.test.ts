import { describe, expect, it } from 'vitest'
import { oneAtATime } from '../../src/delivery/notifications/one-at-a-time.ts'

/** Work that ends when it is told to. */
function createWork() {
  const begun: number[] = []
  const ends: Array<(error?: Error) => void> = []
  const work = (key: number) => {
    begun.push(key)
    return new Promise<void>((resolve, reject) => {
      ends.push((error) => (error === undefined ? resolve() : reject(error)))
    })
  }
  return { begun, work, end: (error?: Error) => ends.shift()?.(error) }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('work that is done one at a time', () => {
  it('is done once more for all who asked meanwhile, and they do not wait', async () => {
    const { begun, work, end } = createWork()
    const ask = oneAtATime(work)
    const first = ask(1)
    await Promise.all([ask(1), ask(1), ask(1)])
    const other = ask(2)
    expect(begun).toEqual([1, 2])
    end()
    await settled()
    expect(begun).toEqual([1, 2, 1])
    end()
    await other
    end()
    await first
    expect(begun).toEqual([1, 2, 1])
  })

  it('can be asked for again after a failure', async () => {
    const { begun, work, end } = createWork()
    const ask = oneAtATime(work)
    const failing = ask(1)
    end(new Error('the database is away'))
    await expect(failing).rejects.toThrow('the database is away')
    const next = ask(1)
    end()
    await next
    expect(begun).toEqual([1, 1])
  })
})
