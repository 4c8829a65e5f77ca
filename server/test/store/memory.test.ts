import { describe, expect, it } from 'vitest'
import { createMemory } from '../../src/store/memory.ts'

/** A memory whose readings end when they are told to, each with what it is given. */
function createWatched(options: { keeps?: (value: string) => boolean } = {}) {
  const readings: Array<{ resolve(value: string): void; reject(error: Error): void }> = []
  const memory = createMemory<string, string>({
    ...options,
    max: 10,
    read: () => new Promise((resolve, reject) => void readings.push({ resolve, reject })),
  })
  return { memory, readings }
}

describe('what is kept in memory', () => {
  it('is read once for all who ask', async () => {
    const { memory, readings } = createWatched()
    const asked = [memory.recall('a'), memory.recall('a')]
    expect(memory.known('a')).toBeUndefined()
    readings[0]?.resolve('one')
    expect(await Promise.all(asked)).toEqual(['one', 'one'])
    expect(await memory.recall('a')).toBe('one')
    expect(memory.known('a')).toBe('one')
    expect(readings).toHaveLength(1)
  })

  it('is never what was read before it was forgotten, for those who waited either', async () => {
    const { memory, readings } = createWatched()
    const asked = memory.recall('a')
    memory.forget('a')
    readings[0]?.resolve('old')
    const later = memory.recall('a')
    readings[1]?.resolve('new')
    expect(await Promise.all([asked, later])).toEqual(['new', 'new'])
    expect(memory.known('a')).toBe('new')
    expect(readings).toHaveLength(2)
  })

  it('is read again after a reading that failed', async () => {
    const { memory, readings } = createWatched()
    const asked = memory.recall('a')
    readings[0]?.reject(new Error('away'))
    await expect(asked).rejects.toThrow('away')
    const later = memory.recall('a')
    readings[1]?.resolve('there')
    expect(await later).toBe('there')
  })

  it('is only what is worth it', async () => {
    const { memory, readings } = createWatched({ keeps: (value) => value !== 'none' })
    const asked = memory.recall('a')
    readings[0]?.resolve('none')
    expect(await asked).toBe('none')
    const later = memory.recall('a')
    readings[1]?.resolve('some')
    expect(await later).toBe('some')
  })

  it('is forgotten by what its keys have in common', async () => {
    const { memory, readings } = createWatched()
    const asked = [memory.recall('1:a'), memory.recall('2:a')]
    for (const reading of readings) reading.resolve('known')
    await Promise.all(asked)
    memory.forgetWhere((key) => key.startsWith('1:'))
    expect([memory.known('1:a'), memory.known('2:a')]).toEqual([undefined, 'known'])
    memory.forgetAll()
    expect(memory.known('2:a')).toBeUndefined()
  })
})
