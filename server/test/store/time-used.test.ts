import { expect, it } from 'vitest'
import { createTimeUsed } from '../../src/store/time-used.ts'

it('Time that a reader used fades, a second within four, and never takes longer than some', () => {
  let now = 5_000.5
  const used = createTimeUsed(() => now)
  const anna = { appId: 1, uid: 'anna' }
  used.add(anna, 600)
  used.add(anna, 400)
  expect(used.of(anna)).toBeCloseTo(1_000)
  for (const other of [
    { appId: 1, uid: 'bert' },
    { appId: 2, uid: 'anna' },
    { appId: 1, uid: undefined },
  ]) {
    expect(used.of(other)).toBe(0)
  }
  now += 2_000
  expect(used.of(anna)).toBeCloseTo(500)
  now += 60_000
  expect(used.of(anna)).toBe(0)
  for (let n = 0; n < 100; n++) used.add(anna, 5_000)
  now += 24_000
  expect(used.of(anna)).toBe(0)
})
