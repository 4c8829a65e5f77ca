import { describe, expect, it } from 'vitest'
import { backoffOf, nextMinute, reactTo } from '../../src/live/closes.ts'

describe('after a close', () => {
  it('connects again, but for what that would not help', () => {
    const codes = [1000, 1001, 1006, 1009, 1012, 1013, 4408, 4410, 4413]
    expect(codes.map(reactTo)).toEqual(codes.map(() => 'again'))
    expect([4401, 4403, 4409, 4429].map(reactTo)).toEqual(['renew', 'renew', 'stop', 'nextMinute'])
    expect(reactTo(4503)).toBe('later')
  })

  it('waits for a random time below a bound that doubles', () => {
    const bounds = { first: 500, most: 20_000 }
    const most = [0, 1, 2, 5, 6, 1000].map((attempt) => backoffOf(attempt, bounds, () => 1))
    expect(most).toEqual([500, 1000, 2000, 16_000, 20_000, 20_000])
    expect(backoffOf(3, bounds, () => 0)).toBe(0)
    expect(nextMinute(() => 0)).toBe(60_000)
  })
})
