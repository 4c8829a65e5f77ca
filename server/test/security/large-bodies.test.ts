import { describe, expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { refusal } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** A body that takes long to parse and to check keeps everybody waiting, whatever becomes of it. */
describe('A body of a user', () => {
  const to = { receiver: 'mallory', receiverType: 'user' }
  const numbered = <Value>(count: number, value: Value) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [i.toString(36), value]))

  it.each([
    ['90,000 small members', { ...to, data: { text: 'x', ...numbered(90_000, 1) } }],
    ['500,000 numbers', { ...to, data: { text: 'x', numbers: Array(500_000).fill(1) } }],
    ['a long text', { ...to, data: { text: 'x'.repeat(1_000_000) } }],
  ])('is not read at all beyond a size that no message has: %s', async (_, body) => {
    const world = await createWorld()
    await createUsers(world, 'mallory')
    const mallory = await attackerAs(world, 'mallory')
    expect(refusal(await mallory.post('/messages', body))).toBe('413 ERR_BAD_REQUEST')
    expect(refusal(await mallory.put('/me', body))).toBe('413 ERR_BAD_REQUEST')
  })

  it('is refused by the number of its members, where it is small enough', async () => {
    const world = await createWorld()
    await createUsers(world, 'mallory')
    const mallory = await attackerAs(world, 'mallory')
    for (const extra of [numbered(10_100, 1), Array(20_000).fill(1)]) {
      const answer = await mallory.post('/messages', { ...to, data: { text: 'x' }, extra })
      expect(refusal(answer)).toBe('413 ERR_BAD_REQUEST')
      expect(JSON.stringify(answer.body.error)).toContain('10000')
    }
  })
})
