import { describe, expect, it } from 'vitest'
import { atFirst, type GivingWay, giveWay, keepGivingWay } from '../../src/delivery/notifications/thread/giving-way.ts'

/** What comes of one answer a second. @param late which of them were */
function after(seconds: number, late: (second: number) => boolean, from: GivingWay = atFirst(0)): GivingWay {
  let giving = from
  for (let second = 1; second <= seconds; second++) giving = giveWay(giving, late(second), second * 1000)
  return giving
}

describe('a thread that gives way', () => {
  it('does so as long as it is on time', () => {
    expect(after(1000, () => false)).toMatchObject({ isIdle: true })
  })

  it('has a share once it is late, and gives way again after a while on time', () => {
    expect(after(5, (second) => second === 5)).toMatchObject({ isIdle: false, shareMs: 5_000 })
    expect(after(9, (second) => second === 5).isIdle).toBe(false)
    expect(after(10, (second) => second === 5).isIdle).toBe(true)
  })

  it('keeps its share while it is late in spite of it', () => {
    expect(after(100, (second) => second >= 5).isIdle).toBe(false)
  })

  it('has its share for longer each time it is late again soon, up to five minutes', () => {
    const isFull = (giving: GivingWay) => giving.isIdle
    const shares = new Set<number>()
    let giving = atFirst(0)
    for (let second = 1; second < 3000; second++) {
      giving = giveWay(giving, isFull(giving), second * 1000)
      if (!giving.isIdle) shares.add(giving.shareMs / 1000)
    }
    expect([...shares]).toEqual([5, 10, 20, 40, 80, 160, 300])
    expect(after(4000, (second) => second === 4000, { ...giving, isIdle: true, since: 3_000_000 }).shareMs).toBe(5_000)
  })

  it('is given a share when it does not answer, and is asked no more once it has ended', async () => {
    const ended = new AbortController()
    const told: boolean[] = []
    let asked = 0
    const setIdle = async (isIdle: boolean) => {
      told.push(isIdle)
      if (!isIdle) ended.abort()
      return true
    }
    const echo = () => {
      asked++
      return new Promise<void>(() => {})
    }
    await keepGivingWay({ setIdle, echo }, ended.signal)
    expect([told, asked]).toEqual([[true, false], 1])
  })

  it('is given its share at the next try where the first one fails', async () => {
    const ended = new AbortController()
    const told: boolean[] = []
    const setIdle = async (isIdle: boolean) => {
      told.push(isIdle)
      if (told.length === 3) ended.abort()
      return told.length !== 2
    }
    await keepGivingWay({ setIdle, echo: () => new Promise<void>(() => {}) }, ended.signal)
    expect(told).toEqual([true, false, false])
  })

  it('is left alone where the system refuses', async () => {
    const echo = () => Promise.reject(new Error('nobody asks'))
    await keepGivingWay({ setIdle: async () => false, echo }, new AbortController().signal)
  })
})
